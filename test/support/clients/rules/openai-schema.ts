/** Schemas of functions as OpenAI takes them: the pages "Function calling" and "Structured outputs". */
import { isObject, list, member } from "#examples/demo-upstream/json-view";
import { firstOf } from "./rule.ts";

const refusedAtRoot = ["oneOf", "anyOf", "allOf", "enum", "not"];

/** @param isStrict whether the function is declared `strict` */
export function refuseSchema(name: string, schema: unknown, isStrict: boolean): string | undefined {
  const refusal =
    schema === undefined || schema === null ? undefined : (refuseRoot(schema) ?? refuseNode(schema, [], isStrict));
  return refusal === undefined ? undefined : `Invalid schema for function '${name}': ${refusal}`;
}

function refuseRoot(schema: unknown): string | undefined {
  const isPlain =
    member(schema, "type") === "object" && refusedAtRoot.every((word) => member(schema, word) === undefined);
  if (!isPlain) {
    return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
  }
  return member(schema, "properties") === undefined ? "In context=(), object schema missing properties." : undefined;
}

function refuseNode(schema: unknown, path: readonly string[], isStrict: boolean): string | undefined {
  if (!isObject(schema)) return undefined;
  const context = `In context=(${path.map((part) => `'${part}'`).join(", ")})`;
  const types = [schema["type"]].flat();
  if (types.includes("array") && schema["items"] === undefined) return `${context}, array schema missing items.`;
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  if (isStrict && types.includes("object")) {
    if (schema["additionalProperties"] !== false) {
      return `${context}, 'additionalProperties' is required to be supplied and to be false.`;
    }
    const missing = Object.keys(properties).find((key) => !list(schema["required"]).includes(key));
    if (missing !== undefined) {
      return `${context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
    }
  }
  return (
    firstOf(Object.entries(properties), ([key, child]) => refuseNode(child, [...path, "properties", key], isStrict)) ??
    refuseNode(schema["items"], [...path, "items"], isStrict) ??
    firstOf(list(schema["anyOf"]), (child, index) => refuseNode(child, [...path, "anyOf", String(index)], isStrict))
  );
}
