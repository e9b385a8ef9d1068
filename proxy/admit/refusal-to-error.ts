/**
 * Turns the ledger's refusal into the client's error: which limit, its size, when it resets
 * (docs/design/limits-and-money.md 11).
 */
import { type ErrorCode, GatewayError } from "#proxy/errors";
import type { Limit } from "#proxy/snapshot/types.gen";
import type { Refusal } from "./ledger.ts";
import { isoTime } from "./window.ts";

const codes: Readonly<Record<Refusal["reason"], ErrorCode>> = {
  quota: "insufficient_quota",
  balance: "insufficient_quota",
  rate: "rate_limited",
  concurrency: "concurrency_limited",
  "store-unavailable": "quota_store_unavailable",
};

const units: Readonly<Record<Limit["unit"], string>> = {
  Requests: "requests",
  Tokens: "tokens",
  InputTokens: "input tokens",
  OutputTokens: "output tokens",
  Cost: "credits",
};

/** @param nowMs the time by which `refusal` was decided */
export function refusalToError(refusal: Refusal, nowMs: number): GatewayError {
  const { reason, retryAtMs } = refusal;
  const waitSeconds = retryAtMs === undefined ? undefined : Math.max(1, Math.ceil((retryAtMs - nowMs) / 1_000));
  const isQuota = reason === "quota" || reason === "balance";
  // A quota's wait is in the message alone: clients obey `retry-after` and would hang for days.
  const options = waitSeconds === undefined || isQuota ? {} : { retryAfterSeconds: waitSeconds };
  return new GatewayError(codes[reason], messageOf(refusal, retryAtMs, waitSeconds), options);
}

function messageOf(refusal: Refusal, retryAtMs: number | undefined, waitSeconds: number | undefined): string {
  switch (refusal.reason) {
    case "balance":
      return "insufficient quota: the balance of your account does not cover this request. Top up the account.";
    case "quota": {
      const reset = retryAtMs === undefined ? "" : ` It is available again at ${isoTime(retryAtMs)}.`;
      return `insufficient quota: ${describe(refusal)} does not cover this request.${reset}`;
    }
    case "rate":
      return waitSeconds === undefined
        ? `Rate limit: this request is larger than ${describe(refusal)} can ever hold. Send a smaller one.`
        : `Rate limit reached: ${describe(refusal)}. Try again in ${waitSeconds} s.`;
    case "concurrency":
      return "Rate limit reached: too many requests of this API key are in flight. Wait for one of them to end.";
    case "store-unavailable":
      return "Service unavailable: quotas cannot be checked at the moment. Try again.";
  }
}

/** For example: the limit `burst` of your API key (200000 tokens a minute). */
function describe(refusal: Refusal): string {
  const { counter, limit } = refusal;
  if (limit === undefined) return "a limit";
  const amount = limit.unit === "Cost" ? credits(limit.limit) : limit.limit;
  const period = limit.period === "Lifetime" ? "in all" : `a ${limit.period.toLowerCase()}`;
  return `the limit \`${limit.name}\` of ${ownerOf(counter)} (${amount} ${units[limit.unit]} ${period})`;
}

function ownerOf(counter: string): string {
  if (counter.startsWith("key/")) return "your API key";
  if (counter.startsWith("account/")) return "your account";
  return counter.startsWith("route/") ? "this model" : "the upstream";
}

/** Nano-credits as decimal credits. */
function credits(nanos: string): string {
  const digits = nanos.padStart(10, "0");
  const fraction = digits.slice(-9).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, -9) : `${digits.slice(0, -9)}.${fraction}`;
}
