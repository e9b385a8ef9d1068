/**
 * Finds the reason for which a prompt itself was refused (docs/design/generate-content.md 4): such a reply has no
 * candidate and is whole.
 */
import { memberAt } from "#proxy/json/json-value";

/** @returns undefined where it was not refused, also where a server says that in so many words */
export function blockReasonOf(reply: unknown): string | undefined {
  const reason = memberAt(reply, "promptFeedback", "blockReason");
  return typeof reason === "string" && reason !== "BLOCK_REASON_UNSPECIFIED" ? reason : undefined;
}
