/** Converts finish reasons between Google's words and the neutral ones (docs/design/translation.md 8.1). */
import { isReplacedBy } from "#proxy/neutral/later-reason";
import type { Finish } from "#proxy/neutral/reply";

const reasons: Readonly<Record<string, Finish["reason"]>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content-filter",
  RECITATION: "content-filter",
  BLOCKLIST: "content-filter",
  PROHIBITED_CONTENT: "content-filter",
  SPII: "content-filter",
  IMAGE_SAFETY: "content-filter",
  IMAGE_PROHIBITED_CONTENT: "content-filter",
  IMAGE_RECITATION: "content-filter",
  MODEL_ARMOR: "content-filter",
  // The provider declines the language: for the reader the reply was withheld, not finished.
  LANGUAGE: "content-filter",
  CONTINUATION: "continuation",
  MALFORMED_FUNCTION_CALL: "malformed-call",
  UNEXPECTED_TOOL_CALL: "malformed-call",
  TOO_MANY_TOOL_CALLS: "malformed-call",
  MALFORMED_RESPONSE: "malformed-call",
  MISSING_THOUGHT_SIGNATURE: "malformed-call",
};

/** An open list: what is unknown is `other`. */
function reasonOf(word: string): Finish["reason"] {
  return Object.hasOwn(reasons, word) ? (reasons[word] ?? "other") : "other";
}

/** Whether a reason holds in place of the one that an earlier frame gave. */
export function replaces(known: string | undefined, later: string): boolean {
  return known === undefined || isReplacedBy(reasonOf(known), reasonOf(later));
}

/**
 * Google has no word for a turn that ends with calls. Its calls come whole, so that the client must run them also where
 * more would have followed: the next turn continues it.
 */
export function readFinish(reason: string, hasCalls: boolean, message: unknown): Finish {
  const known = reasonOf(reason);
  const neutral = (known === "stop" || known === "continuation") && hasCalls ? "tool-calls" : known;
  return typeof message === "string" && message !== ""
    ? { reason: neutral, explanation: message }
    : { reason: neutral };
}

export function writeFinish({ reason }: Finish): string {
  switch (reason) {
    case "stop":
    case "stop-sequence":
    case "tool-calls":
    case "refusal":
    case "pause":
      return "STOP";
    case "length":
    case "context":
      return "MAX_TOKENS";
    case "continuation":
      return "CONTINUATION";
    case "content-filter":
      return "SAFETY";
    case "malformed-call":
      return "MALFORMED_FUNCTION_CALL";
    case "other":
      return "OTHER";
    default:
      return reason satisfies never;
  }
}
