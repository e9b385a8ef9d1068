/**
 * Reads what a call says beside its inputs, in no vendor's words, for upstreams of another form than the client's.
 *
 * A dialect takes the fields that it can say. What is left is lost, and declared or refused.
 */
import { GatewayError } from "#proxy/errors";
import { isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { Channel } from "#proxy/snapshot/types.gen";
import { type EmbeddingCall, inputsMax } from "./embedding-call.ts";
import { type FieldMeaning, meaningOf } from "./embedding-fields.ts";
import { partsOf } from "./read-embed-content.ts";

interface SaidField {
  /** As the client spelled it. */
  readonly name: string;
  readonly meaning: FieldMeaning;
  readonly value: unknown;
}

/** Which vector is meant is said by no field, and its encoding is brought about here. */
const said: ReadonlySet<string> = new Set(["model", "input", "encoding_format", "content", "requests"]);

export class SaidFields {
  readonly #fields: SaidField[] = [];

  /**
   * @param left names of fields that the upstream must not get, and that are declared elsewhere
   * @throws GatewayError `unsupported_parameter` where the requests of a batch do not agree, which one call of another
   *   format cannot say
   */
  constructor(call: EmbeddingCall, left: readonly string[] = []) {
    const bodies = call.requests.length > 0 ? call.requests : [bodyOf(call)];
    const prefix = call.endpoint.verb === "batchEmbedContents" ? "requests[]." : "";
    for (const [name, { value, agreeing }] of valuesIn(bodies)) {
      if (said.has(name) || left.includes(name)) continue;
      const meaning = meaningOf(name);
      if (meaning !== "other" && agreeing < bodies.length) {
        throw new GatewayError(
          "unsupported_parameter",
          `'${prefix}${name}' must be the same in all requests for this model.`,
          { param: `${prefix}${name}` },
        );
      }
      this.#fields.push({ name, meaning, value });
    }
  }

  /** The value of a field that the dialect says; a second field of the same meaning is lost. */
  take<Value>(meaning: FieldMeaning, say: (value: unknown) => Value | undefined): Value | undefined {
    const at = this.#fields.findIndex((field) => field.meaning === meaning);
    const value = say(this.#fields[at]?.value);
    if (at >= 0 && value !== undefined) this.#fields.splice(at, 1);
    return value;
  }

  /**
   * The fields that nobody took, to be declared.
   * @throws GatewayError `unsupported_parameter` under `unsupportedParameters: Reject`
   */
  lost(channel: Channel): readonly string[] {
    const isKept = ({ meaning }: SaidField): boolean =>
      meaning !== "user" || channel.privacy.clientMetadata === "Forward";
    const names = this.#fields.filter(isKept).map(({ name }) => name);
    refuseLost(names, channel);
    return names;
  }
}

/** @throws GatewayError `unsupported_parameter` under `unsupportedParameters: Reject` */
export function refuseLost(names: readonly string[], channel: Channel): void {
  const [param] = names;
  if (param === undefined || channel.unsupportedParameters !== "Reject") return;
  throw new GatewayError("unsupported_parameter", `'${param}' is not supported by this model's provider.`, { param });
}

/**
 * The inputs as texts.
 * @throws GatewayError `unsupported_parameter` for tokens, images and the like, which only an upstream of the client's
 *   own format takes
 */
export function textsOf(call: EmbeddingCall): readonly string[] {
  if (!call.isText) {
    const param = call.endpoint.format === "EmbedContent" ? "content" : "input";
    throw new GatewayError("unsupported_parameter", `'${param}' must be text for this model.`, { param });
  }
  if (call.requests.length > 0) return call.requests.map(textOf);
  const input = member(bodyOf(call), "input");
  return (Array.isArray(input) ? input.slice(0, inputsMax) : [input]).map(String);
}

function textOf(request: JsonObject): string {
  return partsOf(request)
    .map((part) => String(member(part, "text") ?? ""))
    .join("\n");
}

/** A whole number of dimensions, as every vendor takes it. */
export function asCount(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Whether too long an input is cut: vendors say `true`, or at which end. */
export function asTruncation(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (value === "END") return true;
  return value === "NONE" ? false : undefined;
}

/** A member of one or more bodies: the value that the first of them has, and how many have the same. */
interface SharedValue {
  readonly value: unknown;
  agreeing: number;
}

/** Members that some body has and that are not null. In one pass: a call may hold thousands of requests. */
function valuesIn(bodies: readonly JsonObject[]): ReadonlyMap<string, SharedValue> {
  const values = new Map<string, SharedValue>();
  for (const body of bodies) {
    for (const [name, value] of Object.entries(body)) {
      if (value === null) continue;
      const shared = values.get(name);
      if (shared === undefined) values.set(name, { value, agreeing: 1 });
      else if (shared.value === value) shared.agreeing += 1;
    }
  }
  return values;
}

const parsed = new WeakMap<EmbeddingCall, JsonObject>();

/** Parsed once for all targets that are tried. */
function bodyOf(call: EmbeddingCall): JsonObject {
  let body = parsed.get(call);
  if (body === undefined) {
    const json: unknown = JSON.parse(call.body.bytes.toString("utf8"));
    body = isObject(json) ? json : {};
    parsed.set(call, body);
  }
  return body;
}
