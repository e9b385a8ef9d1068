/**
 * Reads the parts of a form as one JSON object, so that rules of routes and channels hold for calls in forms as they do
 * for those in JSON.
 *
 * Servers make lists and objects of brackets in names, so a member is named by what stands in front of them:
 * `include[]` is a list `include`, `chunking_strategy[type]` an object `chunking_strategy`. A file is an object without
 * members. Forms know texts only: `true`, `false` and numbers are read as such, unless the endpoint says that a field is
 * a text.
 */
import { type ScannedObject, scanJsonObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import type { Form, FormPart } from "#proxy/multipart/form";
import { invalidForm } from "#proxy/multipart/invalid-form";

/** The parts of one member, each with what stands behind the base of its name. */
interface Member {
  readonly kind: MemberKind;
  readonly values: { readonly brackets: string; readonly jsonText: string }[];
}

type MemberKind = "plain or list" | "object";

/**
 * @param texts names of fields that are texts, whatever they look like
 * @throws GatewayError `invalid_form` for a name in several ways (`user` and `user[id]`), of which two programs would
 *   read different values; `invalid_json` for a field that is a case variant of `model` and the like
 */
export function readFormFields(
  { parts }: Pick<Form, "parts">,
  texts: ReadonlySet<string>,
  limits: Pick<ProxyLimits, "jsonDepthMax" | "jsonKeysMax">,
): ScannedObject {
  const members = new Map<string, Member>();
  for (const part of parts) {
    const base = baseName(part.name);
    const brackets = part.name.slice(base.length);
    const kind: MemberKind = /^(?:\[\d*\])?$/.test(brackets) ? "plain or list" : "object";
    const member = members.get(base) ?? { kind, values: [] };
    if (member.kind !== kind) throw invalidForm(`'${base}' is given in more than one way`, base);
    member.values.push({ brackets, jsonText: jsonTextOf(part, texts.has(base)) });
    members.set(base, member);
  }
  const written = [...members].map(([name, member]) => `${JSON.stringify(name)}:${writeMember(member)}`);
  const bytes = Buffer.from(`{${written.join(",")}}`);
  return scanJsonObject(bytes, { depthMax: limits.jsonDepthMax, keysMax: limits.jsonKeysMax });
}

/** The name of the member that a part is, or is a part of: `image` of `image[]` and of `image[0]`. */
export function baseName(name: string): string {
  const bracket = name.indexOf("[");
  return bracket > 0 ? name.slice(0, bracket) : name;
}

function writeMember({ kind, values }: Member): string {
  if (kind === "object") {
    const members = values.map(({ brackets, jsonText }) => `${JSON.stringify(brackets.slice(1, -1))}:${jsonText}`);
    return `{${members.join(",")}}`;
  }
  const [first, ...more] = values;
  if (first?.brackets === "" && more.length === 0) return first.jsonText;
  return `[${values.map(({ jsonText }) => jsonText).join(",")}]`;
}

/** As JSON spells numbers: what has leading zeros or a plus is a text to every reader. */
const literal = /^(?:true|false|-?(?:0|[1-9]\d{0,18})(?:\.\d{1,18})?(?:[eE][+-]?\d{1,3})?)$/;

function jsonTextOf(part: FormPart, isText: boolean): string {
  if (part.kind === "file") return "{}";
  return !isText && literal.test(part.value) ? part.value : JSON.stringify(part.value);
}
