/**
 * What recorded replies lose on the way to a client of another protocol, each with its reason. Whatever is not listed
 * must come through; a line that no longer holds fails as well.
 */
import type { DigestProtocol } from "#test/support/digest/facts";

export interface KnownLoss {
  /** The recording without `upstream/`. */
  readonly replies: string;
  /** Clients; every other protocol when absent. */
  readonly to?: readonly DigestProtocol[];
  /** Facts as `compare` names them. */
  readonly facts: readonly string[];
  readonly reason: string;
  /** Even of facts that must be kept: only where the client's format has no place for what was said. */
  readonly isImpossible?: true;
}

const ownAccount =
  "the provider refused our own credential or balance: no client's key is told so, and the call may be tried again";
const oneAnswer = "its clients know one answer only; a call that asks for several is refused before it is made";
/** What a text that stands for a file changes. */
const placeholder = ["visible text", "order of text and calls"];

export const knownLosses: readonly KnownLoss[] = [
  {
    replies: "anthropic-messages/stream-tool-truncated-max-tokens",
    to: ["anthropic-messages"],
    facts: ["tools"],
    reason: "arguments cut at the token limit are no object, which is all that a whole message can hold: mended",
    isImpossible: true,
  },
  ...[
    "openai-chat/error-401-deepseek",
    "openai-responses/error-401-auth",
    "openai-responses/error-429-quota",
    "openai-responses/stream-error-quota",
    "anthropic-messages/error-401-auth",
    "gemini/error-400-api-key",
    "gemini/error-403-permission",
  ].map((replies) => ({ replies, facts: ["error class"], reason: ownAccount })),
  {
    replies: "openai-chat/error-400-content-filter-azure",
    to: ["anthropic-messages", "gemini"],
    facts: ["error class"],
    reason: "neither has a word of its own for a refused prompt among its errors; the message says it",
  },
  {
    replies: "gemini/stream-error-mid-stream",
    facts: ["error class"],
    reason: "a generation that the provider cancelled itself is a failure of the provider for everybody else",
  },
  ...["openai-chat/choices-n", "openai-chat/stream-choices-with-tools"].map((replies) => ({
    replies,
    to: ["openai-responses", "anthropic-messages"] as const,
    facts: ["choices"],
    reason: oneAnswer,
  })),
  {
    replies: "gemini/stream-prompt-blocked",
    facts: ["choices"],
    reason: "a refused prompt has no candidate there and one empty answer everywhere else",
  },
  ...["anthropic-messages/refusal", "anthropic-messages/stream-refusal"].map((replies) => ({
    replies,
    to: ["gemini"] as const,
    facts: ["choices"],
    reason: "a refusal before the first word is a blocked prompt there, which has no candidate",
  })),
  {
    replies: "gemini/tools-mixed-content",
    to: ["openai-chat"],
    facts: ["order of text and calls"],
    reason: "a whole message has one text and a list of calls; only a stream keeps their order",
  },
  ...["gemini/stream-empty-parts-image", "openai-responses/stream-image-generation"].map((replies) => ({
    replies,
    to: ["anthropic-messages"] as const,
    facts: ["media"],
    reason: "its answers hold no images",
  })),
  ...["gemini/stream-empty-parts-image", "openai-responses/stream-image-generation"].map((replies) => ({
    replies,
    to: ["anthropic-messages"] as const,
    facts: placeholder,
    reason: "where an image would be stands a text that it was omitted",
    isImpossible: true as const,
  })),
  {
    replies: "openai-responses/tools-parallel",
    to: ["anthropic-messages"],
    facts: ["usage"],
    reason: "zeros for an answer with output are no count: what is billed is told",
    isImpossible: true,
  },
  {
    replies: "openai-chat/audio-output",
    to: ["openai-responses", "anthropic-messages"],
    facts: placeholder,
    reason: "where sound would be stands a text that it was omitted",
    isImpossible: true,
  },
  {
    replies: "openai-chat/audio-output",
    facts: ["media"],
    reason:
      "its answers hold no sound in two protocols, and the third names the kind of sound that the digest of chat does not",
  },
];

/** The line that explains why this client does not learn this fact of this recording. */
export function knownLoss(reply: string, to: DigestProtocol, fact: string): KnownLoss | undefined {
  return knownLosses.find(
    (loss) => loss.facts.includes(fact) && (loss.to === undefined || loss.to.includes(to)) && loss.replies === reply,
  );
}
