/**
 * Reads a client's `contents` as turns (docs/design/translation.md 4.2 and 5.3).
 *
 * Consecutive model contents are one turn: the official SDK's chat keeps every streamed chunk as a content of its own.
 * Calls without ids get one by their place, and results find their call by id, else by name in order.
 */

import { readSignature } from "#proxy/formats/generate-content/translate/thought-signature";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import type { CallPart, MediaPart, Part, ReasoningPart, ResultPart, TextPart, Turn } from "#proxy/neutral/conversation";
import { either, listOf, objectOf, path, textOf, unmappedMembers, wrongType, wrongValue } from "./members.ts";
import { type FoundCall, type FoundPart, type FoundResponse, readInlineData, readPart } from "./read-part.ts";

interface FoundContent {
  readonly role: "user" | "model";
  readonly parts: FoundPart[];
}

/** @throws GatewayError naming the part at fault */
export function readContents(body: JsonObject, unmapped: string[]): Turn[] {
  const contents = findContents(body["contents"] ?? undefined, unmapped);
  const turns: Turn[] = [];
  const calls = new OpenCalls();
  for (const { role, parts } of mergeModelContents(contents)) {
    if (role === "model") turns.push(readModelTurn(parts, turns.length, calls));
    else turns.push(...readUserTurns(parts, turns.length, calls, unmapped));
  }
  if (turns.length === 0) throw wrongValue("contents", "must hold at least one part.");
  return turns;
}

/** Text, one content, one part, or a list of contents or of parts (docs/design/interface.md 2.6). */
function findContents(value: unknown, unmapped: string[]): FoundContent[] {
  if (typeof value === "string") return [{ role: "user", parts: [readPart(value, "contents", unmapped)] }];
  if (isObject(value)) {
    if (either(value, "parts") !== undefined) return [readContent(value, "contents", unmapped)];
    return [{ role: "user", parts: [readPart(value, "contents", unmapped)] }];
  }
  if (!Array.isArray(value)) throw wrongType("contents", "a string, an object or an array");
  const [first] = value;
  const isParts = typeof first === "string" || (isObject(first) && !isContent(first));
  const at = (index: number): string => `contents[${index}]`;
  if (isParts) return [{ role: "user", parts: value.map((part, index) => readPart(part, at(index), unmapped)) }];
  return value.map((content, index) => {
    if (!isObject(content)) throw wrongType(at(index), "an object");
    return readContent(content, at(index), unmapped);
  });
}

function isContent(value: JsonObject): boolean {
  return ["parts", "role"].some((name) => Object.hasOwn(value, name)) || Object.keys(value).length === 0;
}

const contentMembers = new Set(["role", "parts"]);

function readContent(content: JsonObject, where: string, unmapped: string[]): FoundContent {
  unmapped.push(...unmappedMembers(content, contentMembers, where));
  const role = textOf(content, "role", where) ?? "user";
  if (role !== "user" && role !== "model" && role !== "function" && role !== "") {
    throw wrongValue(`${where}.role`, "must be 'user' or 'model'.");
  }
  const value = either(content, "parts");
  // One part, or a text, where a list belongs: hand-written clients copy it from the SDKs.
  const parts = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return {
    role: role === "model" ? "model" : "user",
    parts: parts.map((part, index) => readPart(part, `${where}.parts[${index}]`, unmapped)),
  };
}

/** Contents without parts, which the SDK writes after a failed turn, are nobody's (pitfall 139). */
function mergeModelContents(contents: readonly FoundContent[]): FoundContent[] {
  const merged: FoundContent[] = [];
  for (const content of contents) {
    if (content.parts.length === 0) continue;
    const last = merged.at(-1);
    if (last?.role === "model" && content.role === "model") for (const part of content.parts) last.parts.push(part);
    else merged.push({ ...content, parts: [...content.parts] });
  }
  return merged;
}

function readModelTurn(found: readonly FoundPart[], turn: number, calls: OpenCalls): Turn {
  const parts: Part[] = [];
  for (const [index, part] of found.entries()) {
    if (part.kind === "functionCall") parts.push(calls.open(part, `gem_${turn}_${index}`));
    else if (part.kind === "functionResponse") throw wrongValue(part.where, "is allowed only in content of the user.");
    else if (part.kind === "text" || part.kind === "reasoning") addText(parts, part);
    else parts.push(part);
  }
  return { role: "assistant", parts };
}

/**
 * Joins a text to the one before: they were fragments of one. A signed text stands alone
 * (docs/design/translation.md 4.2); a signature without text of its own, as the last frame of a stream brings it, is
 * that of the text it follows (docs/design/translation.md 4.2).
 */
function addText(parts: Part[], part: Extract<FoundPart, { kind: "text" | "reasoning" }>): void {
  const isSigned = part.states !== undefined;
  if (part.text === "" && !isSigned) return;
  const last = parts.at(-1);
  const follows = last?.kind === part.kind && last.states === undefined;
  if (follows && !isSigned) parts[parts.length - 1] = { ...last, text: last.text + part.text };
  else if (follows && part.text === "") parts[parts.length - 1] = { ...last, states: part.states };
  else parts.push(part);
}

/** Results first, as a turn of their own; whatever the user adds follows. */
function readUserTurns(found: readonly FoundPart[], turn: number, calls: OpenCalls, unmapped: string[]): Turn[] {
  const results: ResultPart[] = [];
  const others: Part[] = [];
  for (const [index, part] of found.entries()) {
    if (part.kind === "functionResponse") results.push(calls.readResult(part, `gem_${turn}_${index}`));
    else if (part.kind === "functionCall") throw wrongValue(part.where, "is allowed only in content of the model.");
    else others.push(part.kind === "reasoning" ? saidThought(part, unmapped) : part);
  }
  const turns: Turn[] = [];
  if (results.length > 0) turns.push({ role: "tool", parts: results });
  if (others.length > 0) turns.push({ role: "user", parts: others });
  return turns;
}

/** Only a model thinks: what a user marks as thought is said all the same. */
function saidThought(part: ReasoningPart, unmapped: string[]): TextPart {
  unmapped.push(path(part.where ?? "contents", "thought"));
  return { ...part, kind: "text" };
}

/** Calls that wait for their results. */
class OpenCalls {
  readonly #waiting = new Set<CallPart>();
  /** In order; those with a result are removed when they come to the front. */
  readonly #byId = new Map<string, CallPart[]>();
  readonly #byName = new Map<string, CallPart[]>();

  open({ value, part, where }: FoundCall, mintedId: string): CallPart {
    const name = textOf(value, "name", where);
    if (name === undefined || name === "") throw wrongValue(`${where}.name`, "must name the function.");
    for (const member of ["partialArgs", "willContinue"]) {
      if (either(value, member) !== undefined)
        throw wrongValue(`${where}.${member}`, "is not allowed in a finished call.");
    }
    const givenId = textOf(value, "id", where);
    const states = readSignature(either(part, "thoughtSignature"));
    const call: CallPart = {
      kind: "call",
      id: givenId || mintedId,
      name,
      tool: "function",
      arguments: JSON.stringify(objectOf(value, "args", where) ?? {}),
      where,
      ...(states.length > 0 ? { states } : {}),
      ...(givenId ? { isNativeId: true } : {}),
    };
    this.#waiting.add(call);
    enqueue(this.#byId, call.id, call);
    enqueue(this.#byName, call.name, call);
    return call;
  }

  /** An unasked result keeps an id of its own: the writer of the conversation decides what becomes of it. */
  readResult({ value, where }: FoundResponse, mintedId: string): ResultPart {
    const id = textOf(value, "id", where) || undefined;
    const name = textOf(value, "name", where) || undefined;
    const call = this.#firstWaiting(this.#byId, id) ?? this.#firstWaiting(this.#byName, name);
    if (call !== undefined) this.#waiting.delete(call);
    return {
      kind: "result",
      callId: call?.id ?? id ?? mintedId,
      where,
      ...readResponse(value, where, name ?? call?.name),
    };
  }

  #firstWaiting(queues: ReadonlyMap<string, CallPart[]>, key: string | undefined): CallPart | undefined {
    const queue = key === undefined ? undefined : queues.get(key);
    while (queue?.[0] !== undefined && !this.#waiting.has(queue[0])) queue.shift();
    return queue?.[0];
  }
}

function enqueue(queues: Map<string, CallPart[]>, key: string, call: CallPart): void {
  const queue = queues.get(key);
  if (queue === undefined) queues.set(key, [call]);
  else queue.push(call);
}

/** Members that wrap a plain text. */
const textMembers = ["output", "result", "content"] as const;

function readResponse(
  value: JsonObject,
  where: string,
  name: string | undefined,
): Pick<ResultPart, "content" | "name"> {
  const response = objectOf(value, "response", where) ?? {};
  const media = (listOf(value, "parts", where) ?? []).map((part, index) =>
    readResultMedia(part, `${where}.parts[${index}]`),
  );
  const [only, ...more] = Object.keys(response);
  const isError = only === "error" && more.length === 0;
  const wrapped = only !== undefined && more.length === 0 ? response[only] : undefined;
  const isText = typeof wrapped === "string" && (isError || textMembers.some((member) => member === only));
  const text = isText ? wrapped : isError ? JSON.stringify(wrapped ?? null) : JSON.stringify(response);
  // A result that is media alone has an empty object beside it.
  const texts: TextPart[] = only === undefined && media.length > 0 ? [] : [{ kind: "text", text }];
  return { content: [...texts, ...media], ...(name === undefined ? {} : { name }), ...(isError ? { isError } : {}) };
}

function readResultMedia(part: unknown, where: string): MediaPart {
  const data = isObject(part) ? objectOf(part, "inlineData", where) : undefined;
  if (data === undefined) throw wrongValue(path(where, "inlineData"), "must hold the data of a result's part.");
  return readInlineData(data, `${where}.inlineData`);
}
