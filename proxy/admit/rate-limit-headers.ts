/**
 * Rate-limit headers in the dialect of the protocol spoken, from the gateway's own numbers (protocols/errors.md
 * section 3). Of several limits on one unit the tightest is shown: the one with the least left. Limits in Shadow mode
 * and in credits are not shown. Gemini-style clients know no such headers. Pure.
 */
import type { Protocol } from "../protocols/wire.ts";
import type { Limit } from "../snapshot/types.gen.ts";
import type { LimitState } from "./ledger.ts";

type CountedUnit = Exclude<Limit["unit"], "Cost">;

const openaiNames: Partial<Record<CountedUnit, string>> = { Requests: "requests", Tokens: "tokens" };
const anthropicNames: Record<CountedUnit, string> = {
  Requests: "requests",
  Tokens: "tokens",
  InputTokens: "input-tokens",
  OutputTokens: "output-tokens",
};

/** @param nowMs milliseconds since the epoch */
export function rateLimitHeaders(
  states: readonly LimitState[],
  protocol: Protocol,
  nowMs: number,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (states.length === 0 || protocol === "Gemini") return headers;
  for (const [unit, state] of tightest(states)) {
    const { limit, remaining, resetAtMs } = state;
    if (protocol === "OpenAI") {
      const name = openaiNames[unit];
      if (name === undefined) continue;
      headers[`x-ratelimit-limit-${name}`] = limit.limit;
      headers[`x-ratelimit-remaining-${name}`] = String(remaining);
      if (resetAtMs !== undefined) headers[`x-ratelimit-reset-${name}`] = duration(resetAtMs - nowMs);
    } else {
      const prefix = `anthropic-ratelimit-${anthropicNames[unit]}`;
      headers[`${prefix}-limit`] = limit.limit;
      headers[`${prefix}-remaining`] = String(remaining);
      if (resetAtMs !== undefined) headers[`${prefix}-reset`] = `${new Date(resetAtMs).toISOString().slice(0, 19)}Z`;
    }
  }
  return headers;
}

function tightest(states: readonly LimitState[]): Map<CountedUnit, LimitState> {
  const found = new Map<CountedUnit, LimitState>();
  for (const state of states) {
    const { mode, unit } = state.limit;
    if (mode === "Shadow" || unit === "Cost") continue;
    const other = found.get(unit);
    if (other === undefined || state.remaining < other.remaining) found.set(unit, state);
  }
  return found;
}

/** As OpenAI-style clients read it: `0s`, `6ms`, `12s`, `1m30s`, `2h0m5s`. */
function duration(wholeMs: number): string {
  const ms = Math.max(0, Math.ceil(wholeMs));
  if (ms > 0 && ms < 1_000) return `${ms}ms`;
  const seconds = Math.ceil(ms / 1_000);
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  return `${hours > 0 ? `${hours}h` : ""}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${seconds % 60}s`;
}
