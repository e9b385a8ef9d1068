/** Reads a call of `/v1/embeddings`. */
import { GatewayError } from "#proxy/errors";
import {
  checkParameters,
  integerRule,
  invalidValue,
  kindRule,
  presentMember,
  requireMember,
  requireModel,
} from "#proxy/formats/body/parameter-rules";
import { JsonCursor } from "#proxy/json/json-cursor";
import { isObject, member } from "#proxy/json/json-value";
import { type Member, readJson, readString, type ScannedObject, scanJsonObject } from "#proxy/json/strict-json";
import type { ProxyLimits } from "#proxy/limits";
import { type EmbeddingCall, type EmbeddingPath, type Encoding, inputsMax } from "./embedding-call.ts";

const parameters = [integerRule("dimensions", 1), kindRule("user", "string", "object")];

/** Members by which vendors let clients choose other numbers than floats. */
const numberTypes = ["output_dtype", "embedding_type", "embedding_types"] as const;

/** @throws GatewayError `missing_parameter`, `invalid_type`, `invalid_value` */
export function readEmbeddings(bytes: Buffer, endpoint: EmbeddingPath, limits: ProxyLimits): EmbeddingCall {
  const body = scanJsonObject(bytes, { depthMax: limits.jsonDepthMax, keysMax: limits.jsonKeysMax });
  const model = requireModel(body);
  checkParameters(body, parameters);
  return {
    endpoint,
    model,
    stream: false,
    body,
    upstreamObjects: [],
    encoding: readEncoding(body),
    asksForFloats: numberTypes.every((name) => isFloat(body, presentMember(body, name))),
    requests: [],
    ...readInput(body, requireMember(body, "input")),
  };
}

/** Jina's clients choose it by `embedding_type`. */
function readEncoding(body: ScannedObject): Encoding {
  const named = presentMember(body, "encoding_format");
  if (named === undefined) return readString(body, body.member("embedding_type")) === "base64" ? "base64" : "float";
  const encoding = readString(body, named);
  if (encoding === "float" || encoding === "base64") return encoding;
  throw invalidValue("encoding_format", "must be 'float' or 'base64'");
}

function isFloat(body: ScannedObject, named: Member | undefined): boolean {
  if (named === undefined) return true;
  const value = readString(body, named);
  return value === "float" || value === "base64";
}

type Input = Pick<EmbeddingCall, "inputs" | "isText" | "tokenIds" | "attachments">;

const text: Input = { inputs: 1, isText: true, tokenIds: 0, attachments: 0 };

function readInput(body: ScannedObject, input: Member): Input {
  switch (input.kind) {
    case "string":
      if (isEmpty(input)) throw emptyText("input");
      return text;
    case "object":
      return { inputs: undefined, isText: false, tokenIds: 0, attachments: attachmentsIn(readJson(body, input)) };
    case "array":
      return readList(body.bytes, input);
    default:
      throw invalidInput();
  }
}

function readList(bytes: Buffer, { valueStart, valueEnd }: Member): Input {
  const first = new JsonCursor(bytes, valueStart + 1);
  if (first.isString()) return readTexts(bytes, valueStart);
  if (first.isArray()) return readTokenLists(bytes, valueStart);
  if (first.isObject()) return readObjects(JSON.parse(bytes.toString("utf8", valueStart, valueEnd)));
  const tokenIds = countTokens(bytes, valueStart, valueEnd, "input");
  return { inputs: 1, isText: false, tokenIds, attachments: 0 };
}

function readTexts(bytes: Buffer, start: number): Input {
  const cursor = new JsonCursor(bytes, start);
  let inputs = 0;
  cursor.array((index) => {
    if (!cursor.isString()) throw mixedInput(index);
    const { start: from, end } = cursor.skip();
    if (end - from === 2) throw emptyText(`input[${index}]`);
    inputs = countInput(index);
  });
  return { ...text, inputs };
}

function readTokenLists(bytes: Buffer, start: number): Input {
  const cursor = new JsonCursor(bytes, start);
  let inputs = 0;
  let tokenIds = 0;
  cursor.array((index) => {
    if (!cursor.isArray()) throw mixedInput(index);
    const list = cursor.skip();
    tokenIds += countTokens(bytes, list.start, list.end, `input[${index}]`);
    inputs = countInput(index);
  });
  return { inputs, isText: false, tokenIds, attachments: 0 };
}

/** Objects such as `{"image": ...}` are a vendor's own: whatever is in them passes. */
function readObjects(input: unknown): Input {
  const items = Array.isArray(input) ? input : [];
  for (const [index, item] of items.entries()) {
    if (!isObject(item) && typeof item !== "string") throw mixedInput(index);
    countInput(index);
  }
  const attachments = items.reduce((sum, item) => sum + attachmentsIn(item), 0);
  return { inputs: items.length, isText: false, tokenIds: 0, attachments };
}

function attachmentsIn(item: unknown): number {
  return isObject(item) && member(item, "text") === undefined ? 1 : 0;
}

/** @returns how many inputs there are with this one */
function countInput(index: number): number {
  if (index >= inputsMax) throw invalidValue("input", `must hold at most ${inputsMax} inputs`);
  return index + 1;
}

/**
 * Tokens of a list of whole numbers, none of them negative.
 * @param start offset of the bracket of a list that is JSON
 */
function countTokens(bytes: Buffer, start: number, end: number, param: string): number {
  let commas = 0;
  let isEmptyList = true;
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === 0x2c) commas += 1;
    else if (byte >= 0x30 && byte <= 0x39) isEmptyList = false;
    else if (byte > 0x20) {
      throw new GatewayError("invalid_type", `'${param}' must be a list of tokens: whole numbers from 0.`, { param });
    }
  }
  if (isEmptyList) throw invalidValue(param, "must not be empty");
  return commas + 1;
}

function isEmpty({ valueStart, valueEnd }: Member): boolean {
  return valueEnd - valueStart === 2;
}

function emptyText(param: string): GatewayError {
  return invalidValue(param, "must not be an empty text");
}

function invalidInput(): GatewayError {
  const message = "'input' must be a text, a list of texts, a list of tokens, or a list of lists of tokens.";
  return new GatewayError("invalid_type", message, { param: "input" });
}

function mixedInput(index: number): GatewayError {
  const param = `input[${index}]`;
  return new GatewayError("invalid_type", `'${param}' must be of the same kind as the inputs before it.`, { param });
}
