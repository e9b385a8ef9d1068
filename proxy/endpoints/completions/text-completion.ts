/**
 * Makes text completions of what is none: of chat completions, of the events of a stream, and events of a whole one.
 * Pure.
 */
import { asList, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import { encodeEvent } from "#proxy/sse/encoder";

const doneEvent = encodeEvent(undefined, "[DONE]");

/** @param chat a chat completion, or a chunk of its stream */
export function completionOfChat(chat: JsonObject): JsonObject {
  const { object: _object, choices, ...rest } = chat;
  return { ...rest, object: "text_completion", choices: asList(choices).map(choiceOfChat) };
}

function choiceOfChat(choice: unknown): JsonObject {
  const said = member(choice, "delta") ?? member(choice, "message");
  const text = textOf(member(said, "content")) + asText(member(said, "refusal"));
  const index = member(choice, "index") ?? 0;
  return { text, index, logprobs: null, finish_reason: finishOf(member(choice, "finish_reason")) };
}

/** Mistral's content may be parts. */
function textOf(content: unknown): string {
  return typeof content === "string"
    ? content
    : asList(content)
        .map((part) => asText(member(part, "text")))
        .join("");
}

/** The three that completions know; nothing is called here, so that whatever else ends a reply is its end. */
function finishOf(reason: unknown): string | null {
  if (typeof reason !== "string") return null;
  return reason === "length" || reason === "content_filter" ? reason : "stop";
}

/** Whether a chunk says nothing that a client of completions reads: a role, thinking. */
export function isEmptyChunk(completion: JsonObject): boolean {
  if (isObject(completion["usage"])) return false;
  return asList(completion["choices"]).every(
    (choice) => member(choice, "text") === "" && member(choice, "finish_reason") === null,
  );
}

/** A whole completion as the events of a stream. */
export function* eventsOfCompletion(completion: JsonObject, showsUsage: boolean): Generator<Buffer> {
  const { choices, usage, ...base } = completion;
  for (const choice of asList(choices)) yield jsonEvent({ ...base, choices: [choice] });
  if (showsUsage && isObject(usage)) yield jsonEvent({ ...base, choices: [], usage });
  yield doneEvent;
}

export function jsonEvent(json: JsonObject): Buffer {
  return encodeEvent(undefined, JSON.stringify(json));
}

/** A choice, as far as its stream has come. */
interface OpenChoice {
  text: string;
  finish_reason: unknown;
  /** Of each member of `logprobs`, all that came. */
  logprobs: Map<string, unknown[]> | undefined;
}

/** The whole completion that a stream's events tell. @param chunks in their order */
export function completionOfChunks(chunks: Iterable<JsonObject>): JsonObject {
  let base: JsonObject = {};
  let usage: unknown;
  const open = new Map<number, OpenChoice>();
  for (const { choices, usage: told, ...rest } of chunks) {
    base = { ...rest, ...base };
    if (isObject(told)) usage = told;
    for (const choice of asList(choices)) addPiece(open, choice);
  }
  const whole = [...open].sort(([left], [right]) => left - right);
  return {
    ...base,
    choices: whole.map(([index, { text, finish_reason, logprobs }]) => ({
      text,
      index,
      logprobs: logprobs === undefined ? null : Object.fromEntries(logprobs),
      finish_reason,
    })),
    ...(usage === undefined ? {} : { usage }),
  };
}

function addPiece(open: Map<number, OpenChoice>, piece: unknown): void {
  const told = member(piece, "index");
  const index = typeof told === "number" ? told : 0;
  const choice = open.get(index) ?? { text: "", finish_reason: null, logprobs: undefined };
  open.set(index, choice);
  choice.text += asText(member(piece, "text"));
  choice.finish_reason = member(piece, "finish_reason") ?? choice.finish_reason;
  const logprobs = member(piece, "logprobs");
  if (!isObject(logprobs)) return;
  choice.logprobs ??= new Map();
  for (const [name, values] of Object.entries(logprobs)) {
    if (!Array.isArray(values)) continue;
    const known = choice.logprobs.get(name) ?? [];
    for (const value of values) known.push(value);
    choice.logprobs.set(name, known);
  }
}
