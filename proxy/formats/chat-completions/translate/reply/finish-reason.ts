/**
 * Converts finish reasons between this format's words and the neutral ones (docs/design/translation.md 8.1).
 */

import { isReplacedBy } from "#proxy/neutral/later-reason";
import { type Finish, InvalidReply } from "#proxy/neutral/reply";
import { unreachable } from "#proxy/runtime/unreachable";

const reasons: Readonly<Record<string, Finish["reason"]>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  content_filter: "content-filter",
  // Words of compatible servers (docs/design/chat-completions.md 9).
  eos: "stop",
  eos_token: "stop",
  end_turn: "stop",
  complete: "stop",
  completed: "stop",
  stop_sequence: "stop-sequence",
  tool_use: "tool-calls",
  max_tokens: "length",
  model_length: "length",
  safety: "content-filter",
};

/** The provider gave up: what came so far is not a reply. */
const failures: ReadonlySet<string> = new Set(["error", "abort", "cancelled", "insufficient_system_resource"]);

export interface ReplyContents {
  readonly hasCalls: boolean;
  readonly hasRefusal: boolean;
}

/**
 * @param native `finish_reason`; undefined in a whole body that has none
 * @throws InvalidReply when the word says that the provider failed
 */
export function readFinish(native: string | undefined, { hasCalls, hasRefusal }: ReplyContents): Finish {
  const word = native?.toLowerCase() ?? "stop";
  if (failures.has(word)) throw new InvalidReply("the provider ended the reply with a failure");
  const reason = reasonOf(word);
  // Arguments are probably cut, or kept back: a client must not take such calls for finished.
  if (reason === "length" || reason === "content-filter") return { reason };
  if (hasCalls) return { reason: "tool-calls" };
  // A word that speaks of calls where there are none.
  if (reason === "tool-calls") return { reason: "stop" };
  return { reason: hasRefusal && reason === "stop" ? "refusal" : reason };
}

/** Of two reasons for one choice. A failure is no end that another word could mend. */
export function heldReason(known: string | undefined, later: string): string {
  if (known === undefined || known === later) return later;
  const [earlierWord, word] = [known.toLowerCase(), later.toLowerCase()];
  if (failures.has(earlierWord)) return known;
  return failures.has(word) || isReplacedBy(reasonOf(earlierWord), reasonOf(word)) ? later : known;
}

function reasonOf(word: string): Finish["reason"] {
  return Object.hasOwn(reasons, word) ? (reasons[word] ?? "other") : "other";
}

/** @param isLegacy the client uses `functions`, whose responses have a word of their own */
export function writeFinish({ reason }: Finish, isLegacy: boolean): string {
  switch (reason) {
    case "length":
    case "context":
    // There is no word for it, and half a reply must not look whole.
    case "continuation":
      return "length";
    case "tool-calls":
      return isLegacy ? "function_call" : "tool_calls";
    case "content-filter":
      return "content_filter";
    case "stop":
    case "stop-sequence":
    case "refusal":
    case "pause":
    case "malformed-call":
    case "other":
      return "stop";
    default:
      return unreachable(reason);
  }
}
