/**
 * Writes turns as `system` and `messages` (docs/design/translation.md 4.1 to 4.3).
 *
 * The messages alternate between user and assistant, begin with the user, have every result directly behind its call
 * and before other content, no empty text and no assistant message that ends in thinking: the vendor refuses each of
 * these with 400.
 */
import type { Turn } from "#proxy/neutral/conversation";
import { type MarkAbility, placeMarks } from "#proxy/neutral/turns/cache-marks";
import { type AllowsSystem, demoteSystem } from "#proxy/neutral/turns/demote-system";
import { pairResults } from "#proxy/neutral/turns/pair-results";
import { type Block, isThinkingBlock, type Message } from "./block.ts";
import { type ContentOptions, ResultIds, writeAssistantParts, writeTexts, writeUserParts } from "./write-content.ts";

export interface History {
  readonly system: readonly Block[];
  readonly messages: readonly Message[];
}

/** Stands for a user who said nothing: the vendor wants the first word to be theirs, and each message to have one. */
const openingText = ".";
const emptyText = "(empty)";

/** Only thinking has no place for them; blank texts are refused. */
const markAbility: MarkAbility = {
  takes: () => true,
  hasPlace: ({ kind }) => kind !== "reasoning" && kind !== "hosted",
  isBlank: (text) => text.trim() === "",
};

/** @param takesLaterSystem whether the model takes system turns behind the first message */
export function writeTurns(turns: readonly Turn[], takesLaterSystem: boolean, options: ContentOptions): History {
  const paired = pairResults(placeMarks(turns, markAbility, options.losses));
  const first = paired.findIndex(({ role }) => role !== "system");
  const leading = first < 0 ? paired : paired.slice(0, first);
  const rest = first < 0 ? [] : paired.slice(first);
  const placed = demoteSystem(rest, takesLaterSystem ? followsUser : () => false);
  const messages = mergeMessages(placed.map(messageWriter(options)));
  // A turn that said nothing may have kept a system turn from its neighbours.
  if (takesLaterSystem && !messages.every(isInPlace)) return writeTurns(turns, false, options);
  return {
    system: leading.flatMap(({ parts }) => writeTexts(parts, options.takesTtl)),
    messages: messages[0]?.role === "user" ? messages : [userMessage(openingText), ...messages],
  };
}

/** Behind a turn of the user, and last or before a turn of the assistant (docs/design/messages.md 3). */
const followsUser: AllowsSystem = (previous, next) =>
  (previous?.role === "user" || previous?.role === "tool") && (next === undefined || next.role === "assistant");

function isInPlace({ role }: Message, index: number, messages: readonly Message[]): boolean {
  if (role !== "system") return true;
  const next = messages[index + 1];
  return messages[index - 1]?.role === "user" && (next === undefined || next.role === "assistant");
}

export function userMessage(text: string): Message {
  return { role: "user", blocks: [{ type: "text", text }] };
}

/** Writes turns one after another; the results of a tool turn belong to the calls of the turns before it. */
function messageWriter(options: ContentOptions): (turn: Turn) => Message {
  const ids = new ResultIds();
  return ({ role, parts }) => {
    if (role === "system") return { role, blocks: writeTexts(parts, options.takesTtl) };
    if (role === "assistant") return { role, blocks: writeAssistantParts(parts, ids, options) };
    return { role: "user", blocks: writeUserParts(parts, ids, options) };
  };
}

/** Neighbours of one role become one message; what says nothing is left out, but for the user's. */
function mergeMessages(messages: readonly Message[]): Message[] {
  const merged: { role: Message["role"]; blocks: Block[] }[] = [];
  for (const { role, blocks } of messages) {
    const last = merged.at(-1);
    if (last?.role === role) for (const block of blocks) last.blocks.push(block);
    else merged.push({ role, blocks: [...blocks] });
  }
  const whole = merged.map(withoutLastThinking);
  const spoken = whole.filter(({ role, blocks }) => role === "user" || blocks.length > 0);
  if (spoken.length < whole.length) return mergeMessages(spoken);
  return whole.map((message) => (message.blocks.length === 0 ? userMessage(emptyText) : message));
}

function withoutLastThinking(message: Message): Message {
  let end = message.blocks.length;
  while (message.role === "assistant" && isThinkingBlock(message.blocks[end - 1])) end -= 1;
  return end === message.blocks.length ? message : { ...message, blocks: message.blocks.slice(0, end) };
}
