/**
 * What a client is told when the ledger refuses: which limit, how large it is, and when waiting helps (PURE).
 *
 * A quota and a rate are two refusals (DESIGN.md section 6): the first begins with `insufficient quota` and is not
 * worth a retry, the second carries `retry-after`.
 */
import { GatewayError } from "../errors.ts";
import type { Limit } from "../snapshot/types.gen.ts";
import type { Refusal } from "./ledger.ts";

/** @param nowMs milliseconds since the epoch */
export function refusalToError(refusal: Refusal, nowMs: number): GatewayError {
  const { limit, retryAtMs } = refusal;
  const retryAfterSeconds = retryAtMs === undefined ? 1 : Math.max(1, Math.ceil((retryAtMs - nowMs) / 1_000));
  switch (refusal.reason) {
    case "balance":
      return new GatewayError(
        "insufficient_quota",
        "insufficient quota: the account's credit is used up. Top it up to go on.",
      );
    case "quota": {
      const resets = retryAtMs === undefined ? "" : ` It is renewed at ${new Date(retryAtMs).toISOString()}.`;
      return new GatewayError(
        "insufficient_quota",
        `insufficient quota: ${describe(refusal)} leaves too little for this request.${resets}`,
      );
    }
    case "rate":
      return new GatewayError(
        "rate_limited",
        `Rate limit reached: ${describe(refusal)}. Try again in ${retryAfterSeconds} s.`,
        { retryAfterSeconds },
      );
    case "concurrency":
      return new GatewayError(
        "concurrency_limited",
        "Too many requests of this API key are running. Try again when one has ended.",
        { retryAfterSeconds: 1 },
      );
    case "store-unavailable":
      return new GatewayError(
        "quota_store_unavailable",
        `The quota of this API key cannot be checked at the moment${limit === undefined ? "" : ` (limit '${limit.name}')`}.`,
      );
    default:
      return refusal.reason satisfies never;
  }
}

const units: Readonly<Record<Limit["unit"], string>> = {
  Requests: "requests",
  Tokens: "tokens",
  InputTokens: "input tokens",
  OutputTokens: "output tokens",
  Cost: "credits",
};

/** For example: the key's limit 'burst' of 1000 tokens per minute. */
function describe(refusal: Refusal): string {
  const { limit, counter } = refusal;
  if (limit === undefined) return "a limit";
  const owner = counter.slice(0, counter.indexOf("/"));
  const amount = limit.unit === "Cost" ? credits(limit.limit) : limit.limit;
  const period = limit.period === "Lifetime" ? "in all" : `per ${limit.period.toLowerCase()}`;
  return `the ${owner}'s limit '${limit.name}' of ${amount} ${units[limit.unit]} ${period}`;
}

/** Nano-credits as a decimal without trailing zeros. */
function credits(nanos: string): string {
  const padded = nanos.padStart(10, "0");
  return `${padded.slice(0, -9)}.${padded.slice(-9)}`.replace(/\.?0+$/, "");
}
