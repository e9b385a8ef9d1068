/**
 * Where the gateway must not pass a recorded reply byte for byte, and where a provider breaks its own grammar and the
 * gateway lets it: both with the reason. What is on neither list passes unchanged and is clean.
 */

/** Replies that are mended, by the recording's id without `upstream/`. */
export const editedReplies: Readonly<Record<string, string>> = {
  "openai-chat/stream-citations-perplexity": "it sends no [DONE], on which clients wait",
  "openai-chat/stream-tool-index-from-one": "its last event lacks the blank line that ends an event",
  "openai-responses/stream-raw-reasoning-openrouter": "it names no events and ends with [DONE]",
  "openai-responses/stream-refusal": "it ends with [DONE], which strict clients take for an event",
  "openai-responses/stream-tool-then-answer": "its events carry no sequence_number, on which strict clients insist",
  "openai-responses/stream-tool-result-answer": "its events carry no sequence_number, on which strict clients insist",
  "openai-responses/stream-custom-tool": "its events carry no sequence_number, on which strict clients insist",
  "anthropic-messages/stream-anomaly-duplicate-message-start": "it begins twice, at which the official client throws",
  "gemini/stream-prompt-blocked": "its last event lacks the blank line that ends an event",
  "gemini/jsonarray-stream-thinking": "the array's elements are framed anew, each sent when it is complete",
};

export interface ForeignGrammar {
  readonly problems: readonly string[];
  readonly reason: string;
}

/** Streams that break the grammar and pass as they are: their official clients take them so, and nothing is lost. */
export const foreignGrammar: Readonly<Record<string, ForeignGrammar>> = {
  "openai-chat/stream-web-search-annotations": {
    problems: ["2 finish reasons"],
    reason: "the provider repeats its finish chunk with usage",
  },
  "openai-chat/stream-reasoning-details-openrouter": {
    problems: ["2 finish reasons"],
    reason: "the provider repeats its finish chunk with usage",
  },
  "openai-chat/stream-citations-perplexity": {
    problems: ["an object of another kind"],
    reason: "the provider's last chunk is a `chat.completion.done` with citations",
  },
  "openai-chat/stream-azure-prompt-filter": {
    problems: ["more than one id", "an object of another kind"],
    reason: "the provider's first chunk holds its filter results alone",
  },
  "anthropic-messages/stream-tool-truncated-max-tokens": {
    problems: ["a block is not stopped"],
    reason: "the provider ends a tool call at the token limit without closing it",
  },
};
