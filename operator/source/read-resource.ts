/**
 * A manifest object as the resource it describes.
 *
 * Own kinds pass the CRD's own schema and rules first; Secrets, ConfigMaps and Namespaces are read as the API server
 * would. Kinds of others are not our business and yield nothing.
 */
import { type AnyResource, type ObjectMeta, type Origin, type OwnKind, ProtectedData } from "../resources/resource.ts";
import { isRecord, type ManifestObject } from "./manifest-file.ts";
import { validateOwnKind } from "./validate-own-kind.ts";

export const ownApiVersion = "tollgate.dev/v1alpha1";

export interface ReadProblem {
  readonly path: readonly (string | number)[];
  readonly field: string;
  readonly message: string;
}

/** The resource, or why there is none. */
export type ReadResult = { readonly resource: AnyResource } | { readonly problems: readonly ReadProblem[] };

const ownKinds: ReadonlySet<string> = new Set(["ApiKey", "Channel", "ModelRoute", "Account"]);

function isOwnKind(kind: string): kind is OwnKind {
  return ownKinds.has(kind);
}

/** Which kinds of the source are resources; "unknown" is one of our group that does not exist. */
export function classify({ apiVersion, kind }: ManifestObject): AnyResource["kind"] | "foreign" | "unknown" {
  if (apiVersion === "v1" && (kind === "Secret" || kind === "ConfigMap" || kind === "Namespace")) return kind;
  if (apiVersion === ownApiVersion && isOwnKind(kind)) return kind;
  return apiVersion.startsWith("tollgate.dev/") ? "unknown" : "foreign";
}

/**
 * @param previous the spec before, for rules about changes
 * @param generation what the resource's generation will be
 */
export function readResource(
  object: ManifestObject,
  generation: number,
  origin: Origin,
  previous: AnyResource | undefined,
): ReadResult {
  const kind = classify(object);
  const labels = labelsOf(object);
  const metadata: ObjectMeta = { namespace: object.namespace, name: object.name, labels, generation };
  switch (kind) {
    case "Secret":
    case "ConfigMap": {
      const data = readData(object, kind);
      return "problems" in data ? data : { resource: { kind, metadata, data: data.data, origin } };
    }
    case "Namespace":
      return { resource: { kind, metadata, origin } };
    case "ApiKey":
    case "Channel":
    case "ModelRoute":
    case "Account":
      return validateOwnKind(kind, object, metadata, origin, previous);
    default:
      return {
        problems: [
          { path: ["kind"], field: "kind", message: `${object.apiVersion} ${object.kind} is not a kind of ours.` },
        ],
      };
  }
}

function labelsOf({ value }: ManifestObject): { [name: string]: string } {
  const metadata = value["metadata"];
  const labels = isRecord(metadata) ? metadata["labels"] : undefined;
  if (!isRecord(labels)) return {};
  return Object.fromEntries(
    Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** `stringData` goes over `data`, as the API server has it. Values never appear in a message. */
function readData(
  object: ManifestObject,
  kind: "Secret" | "ConfigMap",
): { data: ProtectedData } | { problems: ReadProblem[] } {
  const values = new Map<string, string>();
  const problems: ReadProblem[] = [];
  const plainMember = kind === "Secret" ? "stringData" : "data";
  if (kind === "Secret") {
    for (const [key, value] of entriesOf(object.value["data"], "data", problems)) {
      if (/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value.replace(/\s/g, ""))) {
        values.set(key, Buffer.from(value, "base64").toString("utf8"));
      } else problems.push(problemAt("data", key, "is not base64; encode it or use stringData."));
    }
  }
  for (const [key, value] of entriesOf(object.value[plainMember], plainMember, problems)) values.set(key, value);
  return problems.length > 0 ? { problems } : { data: new ProtectedData(values) };
}

function entriesOf(member: unknown, field: string, problems: ReadProblem[]): [string, string][] {
  if (member === undefined || member === null) return [];
  if (!isRecord(member)) {
    problems.push({ path: [field], field, message: `${field} must be a map of strings.` });
    return [];
  }
  const entries: [string, string][] = [];
  for (const [key, value] of Object.entries(member)) {
    if (typeof value === "string") entries.push([key, value]);
    else problems.push(problemAt(field, key, "must be a string; put it in quotes."));
  }
  return entries;
}

function problemAt(member: string, key: string, message: string): ReadProblem {
  return { path: [member, key], field: `${member}.${key}`, message: `${member}.${key} ${message}` };
}
