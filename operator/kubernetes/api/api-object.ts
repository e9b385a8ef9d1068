/** The form of objects of the Kubernetes API, and the parsers that give JSON values these types. */

/** The parts of `metadata` that the operator reads. */
export interface ApiMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: unknown;
  readonly managedFields?: unknown;
}

/** Any object; its caller reads all members but `metadata`. */
export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ApiMetadata;
  readonly [member: string]: unknown;
}

/** One page of a list. */
export interface ApiList {
  /** Version of the whole list, the same on each page. */
  readonly resourceVersion: string;
  /** Undefined on the last page. */
  readonly continueToken: string | undefined;
  readonly items: readonly ApiObject[];
}

/** A kind of object by its place in the API. */
export interface ApiResource {
  /** `v1`, `coordination.k8s.io/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** As in paths: `secrets`. */
  readonly plural: string;
}

export const secretResource: ApiResource = { apiVersion: "v1", kind: "Secret", plural: "secrets" };
export const configMapResource: ApiResource = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps" };
export const namespaceResource: ApiResource = { apiVersion: "v1", kind: "Namespace", plural: "namespaces" };
export const podResource: ApiResource = { apiVersion: "v1", kind: "Pod", plural: "pods" };
export const eventResource: ApiResource = { apiVersion: "events.k8s.io/v1", kind: "Event", plural: "events" };
export const leaseResource: ApiResource = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", plural: "leases" };
export const tokenReviewResource: ApiResource = {
  apiVersion: "authentication.k8s.io/v1",
  kind: "TokenReview",
  plural: "tokenreviews",
};

/**
 * The path of an object or of a collection, below the server's own.
 *
 * @param namespace undefined for all namespaces, and for kinds that lie in none
 */
export function pathOf(
  { apiVersion, plural }: ApiResource,
  namespace: string | undefined,
  name?: string,
  subresource?: string,
): string {
  const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = namespace === undefined ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  const rest = [name, subresource].filter((part) => part !== undefined).map((part) => `/${encodeURIComponent(part)}`);
  return `${group}${scope}/${plural}${rest.join("")}`;
}

/** Whether a parsed value is an object of the API; its reader checks the members. */
export function isApiObject(value: unknown): value is ApiObject {
  if (!isRecord(value) || !isRecord(value["metadata"])) return false;
  return typeof value["metadata"]["name"] === "string";
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A page of a list; undefined: it is none. Items without a name are left out and counted by the caller's check. */
export function readList(value: unknown): ApiList | undefined {
  if (!isRecord(value) || !isRecord(value["metadata"]) || !Array.isArray(value["items"] ?? [])) return undefined;
  const { resourceVersion, continue: continueToken } = value["metadata"];
  if (typeof resourceVersion !== "string") return undefined;
  const items = Array.isArray(value["items"]) ? value["items"] : [];
  if (!items.every(isApiObject)) return undefined;
  return {
    resourceVersion,
    continueToken: typeof continueToken === "string" && continueToken !== "" ? continueToken : undefined,
    items,
  };
}

/** The later of two versions. They are decimal numbers of any length: compared as such, never as doubles. */
export function compareVersions(left: string, right: string): number {
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}
