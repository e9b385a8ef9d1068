/**
 * Replays a whole completion as a stream (docs/design/chat-completions.md 6).
 *
 * One chunk opens each choice, one carries each member that grows in a stream, one ends the choice; usage comes last,
 * when the client asked for it. Numbers and words beside the choices are on every chunk, long members on the first.
 */

import type { ReplayContext } from "#proxy/formats/aggregate/aggregation";
import { isMembers, only, without } from "#proxy/formats/aggregate/members";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";

/** What has a chunk of its own, in the order in which providers tell it. */
const streamedMembers = ["reasoning_content", "reasoning", "content", "refusal", "annotations"] as const;

/** Of a text that every chunk repeats, in UTF-16 units: ids and names of models are shorter. */
const repeatedTextMax = 256;
/** Of members that every chunk repeats: the format has five, and vendors add a few. */
const repeatedMembersMax = 16;

/** @throws InvalidReply for a completion without choices */
export function* replayReply(completion: JsonObject, { call }: ReplayContext): Generator<string, void> {
  const { choices, usage } = completion;
  if (!Array.isArray(choices) || choices.length === 0) throw new InvalidReply("the reply has no choice");
  const { every, first } = chunkMembers(completion);
  const shown = call.wantsStreamUsage ? { usage: null } : {};
  const chunk = (choice: JsonObject, members: JsonObject = {}): string =>
    frame({ ...every, ...members, choices: [choice], ...shown });
  let isFirst = true;
  for (const [place, choice] of choices.entries()) {
    if (!isMembers(choice)) throw new InvalidReply("a choice is not an object");
    const index = typeof choice["index"] === "number" ? choice["index"] : place;
    for (const piece of replayChoice(choice)) {
      yield chunk({ index, ...piece }, isFirst ? first : {});
      isFirst = false;
    }
  }
  if (call.wantsStreamUsage && isObject(usage)) yield frame({ ...every, choices: [], usage });
  yield "data: [DONE]\n\n";
}

/** Members beside the choices: those of every chunk, and those that one is enough for. */
function chunkMembers(completion: JsonObject): { readonly every: JsonObject; readonly first: JsonObject } {
  const members = Object.entries(without(completion, "choices", "usage", "object"));
  const isRepeated = ([, value]: readonly [string, unknown]): boolean =>
    typeof value === "string" ? value.length <= repeatedTextMax : !Array.isArray(value) && !isMembers(value);
  const repeated = members.filter(isRepeated).slice(0, repeatedMembersMax);
  return {
    every: { object: "chat.completion.chunk", ...Object.fromEntries(repeated) },
    first: Object.fromEntries(members.filter((member) => !repeated.includes(member))),
  };
}

/** What a chunk says of the choice, its index left out. */
function* replayChoice(choice: JsonObject): Generator<JsonObject, void> {
  const message = isMembers(choice["message"]) ? choice["message"] : {};
  const { logprobs, finish_reason, ...others } = without(choice, "index", "message");
  const empty = logprobs === undefined ? {} : { logprobs: null };
  const open = { finish_reason: null, ...empty };
  const calls = callsOf(message);
  const said = streamedMembers.filter((name) => isSaid(message[name]));
  // They speak of the text, and where there is none of whatever there is.
  const carrier = said.find((name) => name === "content") ?? said.find((name) => name === "refusal");
  const carried = logprobs === null || logprobs === undefined ? open : { ...open, logprobs };
  yield { delta: opening(message, said, calls.length > 0), ...(carrier === undefined ? carried : open) };
  for (const name of said) yield { delta: only(message, name), ...(name === carrier ? carried : open) };
  for (const [index, call] of calls.entries()) {
    for (const piece of replayCall(call, index)) yield { delta: { tool_calls: [piece] }, ...open };
  }
  const reason = typeof finish_reason === "string" ? finish_reason : calls.length > 0 ? "tool_calls" : "stop";
  yield { delta: {}, ...empty, ...others, finish_reason: reason };
}

function callsOf(message: JsonObject): readonly unknown[] {
  const calls = message["tool_calls"];
  return Array.isArray(calls) ? calls : [];
}

function isSaid(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : typeof value === "string" && value !== "";
}

/** The role, and every member that does not grow: as it is, or as empty as what grows begins. */
function opening(message: JsonObject, said: readonly string[], hasCalls: boolean): JsonObject {
  const streamed = new Set([...said, ...(hasCalls ? ["tool_calls"] : [])]);
  const members = without(message, "role", ...streamed);
  const begun = said.includes("content") && typeof message["content"] === "string" ? { content: "" } : {};
  return { role: message["role"] ?? "assistant", ...begun, ...members };
}

/** A call opens with its id and name; its text follows. What is no text is told with the name. */
function* replayCall(call: unknown, index: number): Generator<unknown, void> {
  const kind = isMembers(call) && isMembers(call["custom"]) ? "custom" : "function";
  const member = kind === "custom" ? "input" : "arguments";
  const called = isMembers(call) ? call[kind] : undefined;
  if (!isMembers(call) || !isMembers(called) || typeof called[member] !== "string") {
    yield isObject(call) ? { ...call, index } : call;
    return;
  }
  yield { ...call, index, [kind]: { ...called, [member]: "" } };
  if (called[member] !== "") yield { index, [kind]: { [member]: called[member] } };
}

function frame(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
