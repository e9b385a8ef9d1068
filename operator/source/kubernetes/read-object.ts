/**
 * Reads the resource that is kept of an object of the API server.
 *
 * Only used parts are kept: managed fields, annotations and unused keys of Secrets are never stored. Our own kinds are
 * validated although the API server did so, because its CRDs may be newer or older than this operator, and a key that
 * the operator does not understand must be denied instead of half enforced.
 */
import { type ApiMetadata, type ApiObject, type ApiResource, isRecord } from "#operator/kubernetes/api/api-object";
import {
  type AnyResource,
  type ObjectMeta,
  type OwningKey,
  type OwnKind,
  ProtectedData,
  type ResourceKind,
} from "#operator/resources/resource";
import { manifestLimits } from "#operator/schema/parse-manifest";
import { validateResource } from "#operator/schema/validate-resource";
import { isNestedDeeper } from "#operator/schema/value-depth";
import { refusedResource, toResource } from "#operator/source/read-resource";

const ownGroup = "tollgate.dev/";
const noLabels: ObjectMeta["labels"] = {};

const tooDeep = { field: "spec", message: `nested deeper than ${manifestLimits.depthMax} levels` } as const;

/** The metadata kept of an object. */
export function metaOf(metadata: ApiMetadata): ObjectMeta {
  const { namespace = "", name, labels = noLabels, generation = 1, creationTimestamp, uid, resourceVersion } = metadata;
  return {
    namespace,
    name,
    labels,
    generation,
    ...(creationTimestamp !== undefined && { createdAtMs: Date.parse(creationTimestamp) }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(metadata.deletionTimestamp !== undefined && { isDeleting: true, finalizers: metadata.finalizers ?? [] }),
  };
}

/** @param before the resource that is held: its spec stays in force when the new one is not understood, except for keys */
export function readOwnObject(
  kind: OwnKind,
  { apiVersion }: ApiResource,
  object: ApiObject,
  before: AnyResource | undefined,
): AnyResource | undefined {
  const { namespace, name, labels } = object.metadata;
  const { spec } = object;
  const facts = metaOf(object.metadata);
  const metadata = { namespace, name, ...(labels && { labels }) };
  // Some values may be any JSON, and the API server stores it thousands of levels deep.
  const isTooDeep = isNestedDeeper(spec, manifestLimits.depthMax);
  const { object: known, problems } = isTooDeep
    ? { object: undefined, problems: [tooDeep] }
    : validateResource({ apiVersion, kind, metadata, ...(spec !== undefined && { spec }) });
  if (known !== undefined) return toResource(known, facts);
  const why = problems.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; ");
  const message = `This operator does not understand the object as it is stored: ${why}. Correct it, or bring the operator to the version of the CRDs.`;
  // Another object of the same name has no last good version here.
  return refusedResource(kind, facts, undefined, message, before?.metadata.uid === facts.uid ? before : undefined);
}

/** @param keys the keys that objects refer to */
export function readDataObject(
  kind: Extract<ResourceKind, "Secret" | "ConfigMap">,
  object: ApiObject,
  keys: Iterable<string>,
): AnyResource {
  const { data, binaryData } = object;
  const values = new Map<string, string>();
  for (const key of keys) {
    const value = kind === "Secret" ? decoded(data, key) : (textOf(data, key) ?? decoded(binaryData, key));
    if (value !== undefined) values.set(key, value);
  }
  const owner = kind === "Secret" ? owningKeyOf(object.metadata) : undefined;
  const metadata = { ...metaOf(object.metadata), labels: noLabels, ...(owner && { owner }) };
  return { kind, metadata, data: new ProtectedData(values) };
}

/** The ApiKey among an object's owners that controls it. */
function owningKeyOf({ ownerReferences }: ApiMetadata): OwningKey | undefined {
  for (const reference of Array.isArray(ownerReferences) ? ownerReferences : []) {
    if (!isRecord(reference) || reference["controller"] !== true || reference["kind"] !== "ApiKey") continue;
    const { apiVersion, name, uid } = reference;
    if (typeof apiVersion !== "string" || !apiVersion.startsWith(ownGroup)) continue;
    if (typeof name === "string" && typeof uid === "string") return { name, uid };
  }
  return undefined;
}

export function readNamespace(object: ApiObject): AnyResource {
  return { kind: "Namespace", metadata: { ...metaOf(object.metadata), namespace: "" } };
}

function textOf(data: unknown, key: string): string | undefined {
  const value = isRecord(data) && Object.hasOwn(data, key) ? data[key] : undefined;
  return typeof value === "string" ? value : undefined;
}

function decoded(data: unknown, key: string): string | undefined {
  const value = textOf(data, key);
  return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
}
