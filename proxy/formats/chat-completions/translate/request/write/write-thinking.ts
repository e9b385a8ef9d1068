/**
 * Writes thinking back with the calls that it led to (docs/design/translation.md 6.2): only what this channel sent, in
 * the member in which it came.
 */
import type { JsonObject } from "#proxy/json/json-value";
import type { CallPart, Part, ProviderState } from "#proxy/neutral/conversation";

/** Of the parts of one message: the state that each one carried. */
export type StatesOfParts = ReadonlyMap<Part, readonly ProviderState[]>;

/**
 * Members of a message with calls. A client that left its thinking out may have it back from memory, under the call: where
 * both are there they are the same.
 */
export function writeThinking(states: StatesOfParts): JsonObject {
  const carried: ProviderState[] = [];
  const ofCalls: ProviderState[] = [];
  let hasCalls = false;
  for (const [part, own] of states) {
    (isCall(part) ? ofCalls : carried).push(...own);
    hasCalls ||= isCall(part);
  }
  if (!hasCalls) return {};
  const members = textMembers(carried);
  return Object.keys(members).length > 0 ? members : textMembers(ofCalls);
}

function isCall(part: Part): part is CallPart {
  return part.kind === "call";
}

function textMembers(states: readonly ProviderState[]): JsonObject {
  const members: Record<string, string> = {};
  for (const state of states) {
    if (state.kind === "reasoning-text") members[state.member] = (members[state.member] ?? "") + state.text;
  }
  return members;
}

/**
 * In a conversation that holds thinking of this channel, each message with calls must have some (the same vendors): one
 * without, whose thinking the model or the client left out, says a space. Empty text counts as missing at Moonshot and
 * DeepSeek, and no server takes a space for a thought. A conversation without thinking of this channel stays as it is.
 */
export function fillThinking(messages: readonly JsonObject[]): readonly JsonObject[] {
  const member = (["reasoning_content", "reasoning"] as const).find((name) => messages.some((it) => name in it));
  if (member === undefined) return messages;
  return messages.map((message) =>
    "tool_calls" in message && !(member in message) ? { ...message, [member]: " " } : message,
  );
}
