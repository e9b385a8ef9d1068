/** Checks `metadata` as the API server does: names, labels, annotations and unknown members. */
import { checkStructure, isJsonObject, type JsonObject } from "./check-structure.ts";
import { type FieldPath, makeProblem, type Problem } from "./problem.ts";
import type { StructuralSchema } from "./structural-schema.ts";

const text: StructuralSchema = { type: "string" };
const texts: StructuralSchema = { type: "object", additionalProperties: text };
const anything: StructuralSchema = { "x-kubernetes-preserve-unknown-fields": true };

const metadataSchema: StructuralSchema = {
  type: "object",
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    labels: texts,
    annotations: texts,
    uid: text,
    resourceVersion: text,
    generation: { type: "integer" },
    creationTimestamp: { ...text, nullable: true },
    deletionTimestamp: { ...text, nullable: true },
    deletionGracePeriodSeconds: { type: "integer" },
    selfLink: text,
    finalizers: { type: "array", items: text },
    ownerReferences: anything,
    managedFields: anything,
  },
};

const subdomain = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const label = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$/;
const qualifiedName = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const annotationBytesMax = 256 * 1024;

/** A namespaced object without a namespace goes where kubectl would put it. */
export const defaultNamespace = "default";

/**
 * @param kind decides which names are allowed
 * @returns the metadata with `namespace` filled in for a namespaced kind
 */
export function checkMetadata(
  value: unknown,
  kind: { readonly kind: string; readonly scope: "Namespaced" | "Cluster" },
  problems: Problem[],
): JsonObject {
  const path: FieldPath = ["metadata"];
  const checked = checkStructure(metadataSchema, value ?? {}, path, problems);
  if (!isJsonObject(checked)) return {};
  const { name, namespace, labels, annotations } = checked;
  const report = (at: FieldPath, message: string): void => {
    problems.push(makeProblem([...path, ...at], "metadata", message));
  };
  if (name === undefined || name === "") report(["name"], "Required value: give the object a name");
  else if (typeof name === "string")
    checkName(name, kind.kind === "Namespace" ? "label" : "subdomain", ["name"], report);
  if (kind.scope === "Cluster" && namespace !== undefined && namespace !== "") {
    report(["namespace"], `Forbidden: remove it, a ${kind.kind} has no namespace`);
  } else if (typeof namespace === "string" && namespace !== "") {
    checkName(namespace, "label", ["namespace"], report);
  }
  if (isJsonObject(labels)) checkLabels(labels, report);
  if (isJsonObject(annotations)) checkAnnotations(annotations, report);
  if (kind.scope === "Cluster") return { ...checked, namespace: "" };
  return namespace === undefined || namespace === "" ? { ...checked, namespace: defaultNamespace } : checked;
}

type Report = (at: FieldPath, message: string) => void;

function checkName(name: string, form: "label" | "subdomain", at: FieldPath, report: Report): void {
  const lengthMax = form === "label" ? 63 : 253;
  if (name.length > lengthMax) report(at, `Invalid value: must be no more than ${lengthMax} characters`);
  else if (form === "label" && !label.test(name)) {
    report(at, "Invalid value: use lower-case letters, digits and '-', with a letter or digit at both ends");
  } else if (form === "subdomain" && !subdomain.test(name)) {
    report(at, "Invalid value: use lower-case letters, digits, '-' and '.', with a letter or digit at both ends");
  }
}

function checkLabels(labels: JsonObject, report: Report): void {
  for (const [key, value] of Object.entries(labels)) {
    checkQualifiedName(key, ["labels", key], report);
    if (typeof value !== "string") continue;
    if (value.length > 63 || !labelValue.test(value)) {
      report(["labels", key], "Invalid value: use at most 63 letters, digits, '-', '_' and '.', or nothing");
    }
  }
}

function checkAnnotations(annotations: JsonObject, report: Report): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    // The API server compares the keys of annotations without regard to case.
    checkQualifiedName(key.toLowerCase(), ["annotations", key], report);
    bytes += Buffer.byteLength(key) + (typeof value === "string" ? Buffer.byteLength(value) : 0);
  }
  if (bytes > annotationBytesMax) report(["annotations"], `Too long: may not be more than ${annotationBytesMax} bytes`);
}

/** `name` or `prefix/name`, the form of label and annotation keys. */
function checkQualifiedName(key: string, at: FieldPath, report: Report): void {
  const parts = key.split("/");
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const isPrefixGood = prefix === undefined || (prefix.length <= 253 && subdomain.test(prefix));
  if (parts.length > 2 || !isPrefixGood || name.length > 63 || !qualifiedName.test(name)) {
    report(
      at,
      "Invalid value: write the key as name or dns.prefix/name, with at most 63 letters, digits, '-', '_' and '.'",
    );
  }
}
