/**
 * Rate-limit headers in the dialect of the protocol spoken, from the gateway's own numbers (protocols/errors.md
 * section 3). Of several limits on one unit the tightest is shown: the one with the least left. Limits in Shadow mode
 * and in credits are not shown. Gemini-style clients know no such headers. Pure.
 */
import type { Protocol } from "../protocols/wire.ts";
import type { Limit } from "../snapshot/types.gen.ts";
import type { LimitState } from "./ledger.ts";

type CountedUnit = Exclude<Limit["unit"], "Cost">;

interface HeaderNames {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

/** Names are made once: a name put together for each answer would be looked up in V8's table of strings each time. */
function openai(unit: string): HeaderNames {
  return {
    limit: `x-ratelimit-limit-${unit}`,
    remaining: `x-ratelimit-remaining-${unit}`,
    reset: `x-ratelimit-reset-${unit}`,
  };
}

function anthropic(unit: string): HeaderNames {
  const prefix = `anthropic-ratelimit-${unit}`;
  return { limit: `${prefix}-limit`, remaining: `${prefix}-remaining`, reset: `${prefix}-reset` };
}

const openaiNames: Partial<Record<CountedUnit, HeaderNames>> = {
  Requests: openai("requests"),
  Tokens: openai("tokens"),
};
const anthropicNames: Record<CountedUnit, HeaderNames> = {
  Requests: anthropic("requests"),
  Tokens: anthropic("tokens"),
  InputTokens: anthropic("input-tokens"),
  OutputTokens: anthropic("output-tokens"),
};

/** @param nowMs milliseconds since the epoch */
export function rateLimitHeaders(
  states: readonly LimitState[],
  protocol: Protocol,
  nowMs: number,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (states.length === 0 || protocol === "Gemini") return headers;
  for (const [unit, { limit, remaining, resetAtMs }] of tightest(states)) {
    const names = protocol === "OpenAI" ? openaiNames[unit] : anthropicNames[unit];
    if (names === undefined) continue;
    headers[names.limit] = limit.limit;
    headers[names.remaining] = String(remaining);
    if (resetAtMs === undefined) continue;
    headers[names.reset] =
      protocol === "OpenAI" ? duration(resetAtMs - nowMs) : `${new Date(resetAtMs).toISOString().slice(0, 19)}Z`;
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
