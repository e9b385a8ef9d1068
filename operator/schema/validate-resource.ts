/**
 * Validates one object as the API server would, without an API server.
 *
 * Structure, unknown fields, bounds, defaults and CEL rules come from the CRDs themselves (`custom-kinds.gen.ts`), so
 * there is one source, and an integration test compares every result with a real API server's. Pure: no I/O, no clock.
 * Invariants: an object is returned only without any problem, complete with its defaults; the input is not changed.
 * Called by the folder source of the operator and by `tollgate validate`.
 */
import type { Account, ApiKey, Channel, ModelRoute } from "#operator/resources/types.gen";
import { builtinKinds, type ConfigMap, type Namespace, type Secret } from "./builtin-kinds.ts";
import { checkRules } from "./cel/check-rules.ts";
import { checkContent } from "./check-content.ts";
import { checkMetadata } from "./check-metadata.ts";
import { checkStructure, isJsonObject, type JsonObject } from "./check-structure.ts";
import { customKinds } from "./custom-kinds.gen.ts";
import { type FieldPath, makeProblem, type Problem } from "./problem.ts";
import type { KindSchema } from "./structural-schema.ts";

/** Every object that a manifest may hold. */
export type KnownObject = ApiKey | Channel | ModelRoute | Account | Secret | ConfigMap | Namespace;

/** The object that a document defines, as far as it names it. */
export interface ObjectIdentity {
  readonly kind: string;
  /** Empty for a Namespace; `default` where a namespaced object names none. */
  readonly namespace: string;
  readonly name: string;
}

export interface Validation {
  /** The object with its defaults and without `status`; undefined when there is any problem. */
  readonly object: KnownObject | undefined;
  readonly problems: readonly Problem[];
}

const kinds: ReadonlyMap<string, KindSchema> = new Map(
  [...customKinds, ...builtinKinds].map((kind) => [`${kind.apiVersion} ${kind.kind}`, kind]),
);

const ownGroup = "tollgate.dev/";

/** Names of the kinds that manifests may hold. */
export const knownKinds: readonly string[] = [...kinds.values()].map(({ kind }) => kind);

/**
 * Validates one document.
 *
 * @param document plain JSON values, for example an `object` of `parseManifest`
 * @param options.previous the last good version of the same object: rules about changes compare with it
 */
export function validateResource(
  document: unknown,
  options: { readonly previous?: { readonly spec?: unknown } } = {},
): Validation {
  if (!isJsonObject(document)) {
    return {
      object: undefined,
      problems: [makeProblem([], "type", "write an object with apiVersion, kind and metadata")],
    };
  }
  const kind = findKind(document);
  if ("problem" in kind) return { object: undefined, problems: [kind.problem] };
  const problems: Problem[] = [];
  // As in a cluster, a manifest cannot set status: its fields are known, and its content is dropped.
  const { status, metadata: givenMetadata, ...content } = document;
  if (status !== undefined) reportUnknownStatus(kind.schema, status, problems);
  const checked = checkStructure(kind.schema.schema, content, [], problems);
  const metadata = checkMetadata(givenMetadata, kind.schema, problems);
  if (!isJsonObject(checked)) return { object: undefined, problems };
  const object = checkContent({ ...checked, metadata }, problems);
  const isBroken = (path: FieldPath): boolean =>
    problems.some((problem) => problem.rule !== "unknown" && touches(problem.path, path));
  problems.push(...checkRules(kind.schema.schema, object, options.previous, [], isBroken));
  return { object: problems.length === 0 ? toKnownObject(object) : undefined, problems };
}

/** The object that a document defines, even when it is broken; undefined when the document does not name it. */
export function identifyDocument(document: unknown): ObjectIdentity | undefined {
  if (!isJsonObject(document) || !isJsonObject(document["metadata"])) return undefined;
  const { kind } = document;
  const { name, namespace } = document["metadata"];
  if (typeof kind !== "string" || typeof name !== "string") return undefined;
  if (kind === "Namespace") return { kind, namespace: "", name };
  return { kind, namespace: typeof namespace === "string" && namespace !== "" ? namespace : "default", name };
}

/**
 * Checks the namespace and name of a document's object.
 *
 * Keys of maps and paths of files are built from them, so an object with bad names must not exist, not even as a refused
 * one.
 */
export function checkIdentity(document: unknown): readonly Problem[] {
  if (!isJsonObject(document) || !isJsonObject(document["metadata"])) return [];
  const { name, namespace } = document["metadata"];
  const isCluster = document["kind"] === "Namespace";
  const problems: Problem[] = [];
  checkMetadata(
    { name, ...(!isCluster && namespace !== undefined && { namespace }) },
    { kind: String(document["kind"]), scope: isCluster ? "Cluster" : "Namespaced" },
    problems,
  );
  return problems;
}

/** A kind that the gateway does not read. */
export interface ForeignKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * The kind of a document that `kubectl` accepts and the gateway ignores: one of another group, or a kind of Kubernetes that
 * is not read. Undefined for all other documents.
 */
export function foreignKind(document: unknown): ForeignKind | undefined {
  if (!isJsonObject(document)) return undefined;
  const { apiVersion, kind } = document;
  if (typeof apiVersion !== "string" || typeof kind !== "string") return undefined;
  // One of our kinds without its group is a mistake.
  const isOther = apiVersion.includes("/") ? !apiVersion.startsWith(ownGroup) : versionOf(kind) === undefined;
  // A text that is cut short proves nothing, but a few kinds of file have no name when they are complete.
  const isWhole = apiVersion.startsWith(namelessGroup) || hasName(document);
  return isOther && isWhole ? { apiVersion, kind } : undefined;
}

/** Of `kustomization.yaml`. */
const namelessGroup = "kustomize.config.k8s.io/";

function hasName(document: JsonObject): boolean {
  const { metadata } = document;
  return (
    identifyDocument(document) !== undefined || (isJsonObject(metadata) && typeof metadata["generateName"] === "string")
  );
}

/** The `apiVersion` that a kind has for us; undefined where there is none of that name. */
export function versionOf(kind: string): string | undefined {
  return [...kinds.values()].find((known) => known.kind === kind)?.apiVersion;
}

function findKind(document: JsonObject): { readonly schema: KindSchema } | { readonly problem: Problem } {
  const { apiVersion, kind } = document;
  if (typeof apiVersion !== "string") {
    return {
      problem: makeProblem(
        ["apiVersion"],
        "kind",
        "Required value: give apiVersion, for example tollgate.dev/v1alpha1",
      ),
    };
  }
  if (typeof kind !== "string") {
    return { problem: makeProblem(["kind"], "kind", `Required value: give kind, one of ${knownKinds.join(", ")}`) };
  }
  const schema = kinds.get(`${apiVersion} ${kind}`);
  if (schema !== undefined) return { schema };
  const version = versionOf(kind);
  if (version !== undefined) {
    const message = `no matches for kind ${kind} in version ${apiVersion}: use ${version}`;
    return { problem: makeProblem(["apiVersion"], "kind", message) };
  }
  return { problem: makeProblem(["kind"], "kind", `no matches for kind ${kind}: use one of ${knownKinds.join(", ")}`) };
}

/** Strict field validation checks status before it is dropped. */
function reportUnknownStatus(kind: KindSchema, status: unknown, problems: Problem[]): void {
  const schema = kind.schema.properties?.["status"];
  if (schema === undefined) {
    problems.push(makeProblem(["status"], "unknown", 'unknown field "status"'));
    return;
  }
  const found: Problem[] = [];
  checkStructure(schema, status, ["status"], found);
  problems.push(...found.filter((problem) => problem.rule === "unknown"));
}

/** True when a problem is at, above or below a path. */
function touches(problem: FieldPath, path: FieldPath): boolean {
  const shared = Math.min(problem.length, path.length);
  for (let index = 0; index < shared; index += 1) if (problem[index] !== path[index]) return false;
  return true;
}

/** The one place where a checked value gets its type: the schema it has passed is the source of that type. */
function toKnownObject(object: JsonObject): KnownObject {
  return object as unknown as KnownObject;
}
