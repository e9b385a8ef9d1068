/** Checks the content of Secrets and ConfigMaps as the API server does, beyond their structure. */
import { isJsonObject, type JsonObject } from "./check-structure.ts";
import { makeProblem, type Problem } from "./problem.ts";

const bytesMax = 1024 * 1024;

/** Entries that a Secret of a type must have (Kubernetes, "Types of Secret"). */
const requiredEntries: { readonly [type: string]: readonly string[] } = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

/**
 * Checks keys and size of a Secret or ConfigMap; other kinds pass through.
 *
 * @returns the object, a Secret's `stringData` merged into `data` as base64
 */
export function checkContent(object: JsonObject, problems: Problem[]): JsonObject {
  if (object["kind"] !== "Secret" && object["kind"] !== "ConfigMap") return object;
  let bytes = 0;
  for (const member of ["data", "stringData", "binaryData"]) {
    const entries = object[member];
    if (!isJsonObject(entries)) continue;
    for (const [key, value] of Object.entries(entries)) {
      checkKey(member, key, problems);
      if (typeof value === "string") bytes += sizeOf(object["kind"], member, value);
    }
  }
  if (bytes > bytesMax)
    problems.push(makeProblem(["data"], "maxLength", `Too long: may not be more than ${bytesMax} bytes`));
  if (object["kind"] === "ConfigMap") {
    checkOverlap(object, problems);
    return object;
  }
  const merged = mergeStringData(object);
  for (const entry of requiredEntries[String(object["type"])] ?? []) {
    if (!isJsonObject(merged["data"]) || !Object.hasOwn(merged["data"], entry)) {
      problems.push(makeProblem(["data", entry], "required", `Required value: a Secret of this type has ${entry}`));
    }
  }
  return merged;
}

function checkKey(member: string, key: string, problems: Problem[]): void {
  const isGood = key.length <= 253 && /^[-._a-zA-Z0-9]+$/.test(key) && key !== "." && !key.startsWith("..");
  if (isGood) return;
  const message = "Invalid value: use at most 253 letters, digits, '-', '_' and '.', not beginning with '..'";
  problems.push(makeProblem([member, key], "pattern", message));
}

function checkOverlap(object: JsonObject, problems: Problem[]): void {
  const { data, binaryData } = object;
  if (!isJsonObject(data) || !isJsonObject(binaryData)) return;
  for (const key of Object.keys(binaryData)) {
    if (!Object.hasOwn(data, key)) continue;
    problems.push(
      makeProblem(["binaryData", key], "duplicate", "Invalid value: give the entry in data or binaryData, not both"),
    );
  }
}

function mergeStringData(object: JsonObject): JsonObject {
  const { stringData, ...secret } = object;
  if (!isJsonObject(stringData)) return secret;
  const written = Object.entries(stringData).map(([key, value]) => [
    key,
    Buffer.from(String(value)).toString("base64"),
  ]);
  const data = isJsonObject(secret["data"]) ? secret["data"] : {};
  return { ...secret, data: Object.fromEntries([...Object.entries(data), ...written]) };
}

function sizeOf(kind: unknown, member: string, value: string): number {
  const isBase64 = member === "binaryData" || (kind === "Secret" && member === "data");
  return Buffer.byteLength(value, isBase64 ? "base64" : "utf8");
}
