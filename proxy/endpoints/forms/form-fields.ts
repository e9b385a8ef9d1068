/**
 * Reads the fields of a form as one JSON object, so that rules of routes and channels hold for calls in forms as they do
 * for those in JSON.
 *
 * Members are the fields that stand there once under a plain name; a list (`image[]`, `include[]`) and a name that comes
 * several times have no one value, pass as they are and are no members. Forms know texts only: `true`, `false` and numbers
 * are read as such, unless the endpoint says that a field is a text.
 */
import { type ScannedObject, scanJsonObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import type { Form } from "#proxy/multipart/form";

/**
 * @param texts names of fields that are texts, whatever they look like
 * @throws GatewayError `invalid_json` for a field that is a case variant of `model` and the like
 */
export function readFormFields(
  form: Pick<Form, "parts">,
  texts: ReadonlySet<string>,
  limits: Pick<ProxyLimits, "jsonDepthMax" | "jsonKeysMax">,
): ScannedObject {
  const members: string[] = [];
  for (const [name, value] of singleFields(form)) {
    members.push(`${JSON.stringify(name)}:${isLiteral(name, value, texts) ? value : JSON.stringify(value)}`);
  }
  const bytes = Buffer.from(`{${members.join(",")}}`);
  return scanJsonObject(bytes, { depthMax: limits.jsonDepthMax, keysMax: limits.jsonKeysMax });
}

/** The fields that are members, in their order. */
export function singleFields({ parts }: Pick<Form, "parts">): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  const repeated = new Set<string>();
  for (const part of parts) {
    if (part.kind !== "field" || part.name.endsWith("]")) continue;
    if (fields.has(part.name)) repeated.add(part.name);
    fields.set(part.name, part.value);
  }
  for (const name of repeated) fields.delete(name);
  return fields;
}

/** As JSON spells numbers: what has leading zeros or a plus is a text to every reader. */
const literal = /^(?:true|false|-?(?:0|[1-9]\d{0,18})(?:\.\d{1,18})?(?:[eE][+-]?\d{1,3})?)$/;

function isLiteral(name: string, value: string, texts: ReadonlySet<string>): boolean {
  return !texts.has(name) && literal.test(value);
}
