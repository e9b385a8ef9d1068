/**
 * Converts finish reasons between this format's words and the neutral ones (docs/design/translation.md 8.1).
 */
import { asText, type JsonObject, member } from "#proxy/json/json-value";
import { isReplacedBy } from "#proxy/neutral/later-reason";
import type { Finish } from "#proxy/neutral/reply";
import { unreachable } from "#proxy/runtime/unreachable";

const reasons: ReadonlyMap<unknown, Finish["reason"]> = new Map<unknown, Finish["reason"]>([
  ["end_turn", "stop"],
  ["stop_sequence", "stop-sequence"],
  ["max_tokens", "length"],
  ["tool_use", "tool-calls"],
  ["pause_turn", "pause"],
  ["compaction", "pause"],
  ["refusal", "content-filter"],
  ["model_context_window_exceeded", "context"],
]);

/** Of two endings of one message. */
export function heldEnding(known: JsonObject | undefined, later: JsonObject): JsonObject {
  return known === undefined || isReplacedBy(reasonOf(known), reasonOf(later)) ? later : known;
}

function reasonOf(ending: JsonObject): Finish["reason"] {
  return reasons.get(ending["stop_reason"]) ?? "other";
}

/**
 * @param ending the object with `stop_reason`, `stop_sequence` and `stop_details`
 * @param hasCalls vendors say `end_turn` after calls, and `tool_use` after tools that the provider ran itself
 * @param hasOutput whether the reply has any output
 */
export function readFinish(ending: JsonObject, hasCalls: boolean, hasOutput: boolean): Finish {
  const reason = reasonOf(ending);
  switch (reason) {
    case "stop":
    case "tool-calls":
      return { reason: hasCalls ? "tool-calls" : "stop" };
    case "stop-sequence":
      return { reason, stopSequence: asText(ending["stop_sequence"]) || undefined };
    case "content-filter": {
      const explanation = asText(member(ending["stop_details"], "explanation")) || undefined;
      return { reason, explanation, isPromptBlocked: hasOutput ? undefined : true };
    }
    default:
      return { reason };
  }
}

/** `stop_reason`, `stop_sequence` and, for refusals, `stop_details`. */
export function writeFinish(finish: Finish): JsonObject {
  const reason = writeReason(finish.reason);
  const ending = { stop_reason: reason, stop_sequence: finish.stopSequence ?? null };
  if (reason !== "refusal") return ending;
  return { ...ending, stop_details: { type: "refusal", category: null, explanation: finish.explanation ?? null } };
}

function writeReason(reason: Finish["reason"]): string {
  switch (reason) {
    case "stop-sequence":
      return "stop_sequence";
    case "length":
      return "max_tokens";
    case "context":
      return "model_context_window_exceeded";
    case "tool-calls":
      return "tool_use";
    case "content-filter":
    case "refusal":
      return "refusal";
    case "pause":
    // "Resend to continue" is what both mean.
    case "continuation":
      return "pause_turn";
    case "stop":
    case "malformed-call":
    case "other":
      return "end_turn";
    default:
      return unreachable(reason);
  }
}
