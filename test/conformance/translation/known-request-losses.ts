/**
 * What recorded requests lose on the way to an upstream of another format, and which are refused since nothing there
 * means the same: each with its reason. Whatever is not listed must come through.
 */
import type { DigestProtocol } from "#test/support/digest/facts";

export interface KnownRequestLoss {
  /** Recordings without `upstream/`; `*` at the end stands for any rest. */
  readonly requests: string;
  readonly to?: readonly DigestProtocol[];
  readonly facts: readonly string[];
  readonly reason: string;
}

const noEffort = "it asked to think without saying how much, which is that provider's own default";

export const knownRequestLosses: readonly KnownRequestLoss[] = [
  {
    requests: "anthropic-messages/*",
    to: ["openai-responses"],
    facts: ["thinking"],
    reason: "it sets a temperature too, which the models there take only while they do not think",
  },
  { requests: "anthropic-messages/thinking", to: ["openai-chat"], facts: ["thinking"], reason: noEffort },
  ...["gemini/stream-text-max-tokens", "gemini/stream-thinking", "gemini/jsonarray-stream-thinking"].map(
    (requests) => ({
      requests,
      facts: ["thinking"],
      reason: noEffort,
    }),
  ),
  {
    requests: "gemini/max-tokens",
    facts: ["thinking"],
    reason: "plain servers have no word for not thinking",
  },
  ...["gemini/max-tokens", "gemini/max-tokens-all-thinking", "openai-chat/stream-error-mid-stream-openrouter"].map(
    (requests) => ({
      requests,
      to: ["openai-responses"] as const,
      facts: ["max tokens"],
      reason: "OpenAI takes no cap below 16 there: raised, and declared",
    }),
  ),
  ...["openai-chat/stream-length-usage", "openai-chat/length-all-reasoning"].map((requests) => ({
    requests,
    to: ["anthropic-messages", "gemini"] as const,
    facts: ["turns"],
    reason: "a conversation of system text alone gets the least user turn that those providers take",
  })),
  {
    requests: "openai-chat/json-mode",
    to: ["anthropic-messages"],
    facts: ["system", "structured"],
    reason: "JSON without a schema can only be asked for in words there",
  },
];

export interface Refusal {
  readonly requests: string;
  readonly to?: readonly DigestProtocol[];
  /** What the answer names. */
  readonly message: RegExp;
  readonly reason: string;
}

const hosted = "a tool that only its own provider runs, and no other tool beside it: without it the call means nothing";
const kept = "what it refers to is kept by its own provider";

export const refusals: readonly Refusal[] = [
  ...["openai-responses/stream-web-search-annotations", "openai-responses/web-search"].map((requests) => ({
    requests,
    to: ["openai-chat"] as const,
    message: /tools\[0\].*web_search/,
    reason: hosted,
  })),
  ...["openai-responses/stream-file-search", "openai-responses/mcp"].map((requests) => ({
    requests,
    message: /tools\[0\].*(?:file_search|mcp)/,
    reason: hosted,
  })),
  {
    requests: "openai-responses/stream-reasoning-summary-code-interpreter",
    to: ["openai-chat"],
    message: /tools\[0\].*code_interpreter/,
    reason: hosted,
  },
  ...[
    "gemini/stream-code-execution",
    "gemini/code-execution",
    "openai-responses/stream-reasoning-summary-code-interpreter",
  ].map((requests) => ({
    requests,
    to: ["anthropic-messages"] as const,
    message: /tools\[0\].*(?:code_?execution|code_interpreter)/i,
    reason: "its code tool has to be switched on by a header that no other format knows",
  })),
  ...["gemini/stream-code-execution", "gemini/code-execution", "gemini/stream-google-search-grounding"].map(
    (requests) => ({
      requests,
      to: ["openai-chat"] as const,
      message: /tools\[0\].*(?:code_?execution|googleSearch)/i,
      reason: hosted,
    }),
  ),
  ...["anthropic-messages/stream-server-web-search-citations", "anthropic-messages/server-code-execution"].map(
    (requests) => ({
      requests,
      to: ["openai-chat"] as const,
      message: /tools\.0.*(?:web_search|code_execution)/,
      reason: hosted,
    }),
  ),
  { requests: "anthropic-messages/stream-server-mcp", message: /mcp_servers/, reason: hosted },
  { requests: "gemini/cache-read", message: /cachedContent/, reason: kept },
  { requests: "openai-responses/stream-text-plain", message: /conversation/, reason: kept },
  {
    requests: "openai-chat/error-400-bad-request",
    message: /temperature/,
    reason: "no provider takes it: refused before any is chosen",
  },
  ...["openai-responses", "anthropic-messages"].map((to) => ({
    requests: "openai-chat/choices-n",
    to: [to as DigestProtocol],
    message: /'?n'?:? /,
    reason: "one answer is all that is there, and several cost several",
  })),
  {
    requests: "openai-chat/audio-output",
    to: ["openai-responses", "anthropic-messages"],
    message: /modalities/,
    reason: "nobody speaks there",
  },
];

export function isKnownRequestLoss(request: string, to: DigestProtocol, fact: string): boolean {
  return knownRequestLosses.some((loss) => matches(loss, request, to) && loss.facts.includes(fact));
}

/** What a refused request is told; undefined for one that is served. */
export function refusalOf(request: string, to: DigestProtocol): RegExp | undefined {
  return refusals.find((refusal) => matches(refusal, request, to))?.message;
}

function matches(
  entry: { readonly requests: string; readonly to?: readonly DigestProtocol[] },
  request: string,
  to: DigestProtocol,
): boolean {
  if (entry.to !== undefined && !entry.to.includes(to)) return false;
  return entry.requests.endsWith("*") ? request.startsWith(entry.requests.slice(0, -1)) : request === entry.requests;
}
