/**
 * Renders rate-limit headers in the dialect of the client's protocol, from the gateway's own numbers
 * (docs/design/errors.md 3). Of several limits on one unit it shows the tightest: the one with the least left. Limits
 * in Shadow mode and in credits are not shown. Gemini-style clients know no such headers. Pure.
 */
import type { Protocol } from "#proxy/neutral/wire";
import type { Limit } from "#proxy/snapshot/types.gen";
import type { LimitState } from "./ledger.ts";
import { isoTime } from "./window.ts";

type CountedUnit = Exclude<Limit["unit"], "Cost">;

interface HeaderNames {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

/** Names are made once: a name put together for each response would be looked up in V8's table of strings each time. */
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

/** Units in the order of their headers; those that the client's dialect does not know are not shown. */
const countedUnits: readonly CountedUnit[] = ["Requests", "Tokens", "InputTokens", "OutputTokens"];

/**
 * @param nowMs milliseconds since the epoch
 * @returns names and values in turn
 */
export function rateLimitHeaders(states: readonly LimitState[], protocol: Protocol, nowMs: number): string[] {
  const headers: string[] = [];
  if (states.length === 0 || protocol === "Gemini") return headers;
  for (const unit of countedUnits) {
    const names = protocol === "OpenAI" ? openaiNames[unit] : anthropicNames[unit];
    const state = names === undefined ? undefined : tightest(states, unit);
    if (names === undefined || state === undefined) continue;
    const { limit, remaining, resetAtMs } = state;
    headers.push(names.limit, limit.limit, names.remaining, String(remaining));
    if (resetAtMs === undefined) continue;
    const reset = protocol === "OpenAI" ? duration(resetAtMs - nowMs) : isoSecond(resetAtMs);
    headers.push(names.reset, reset);
  }
  return headers;
}

/** By whole second: many responses name the same one, and writing a date costs more than the rest of the headers. */
const isoSeconds = new Map<number, string>();
const isoSecondsMax = 100;

/** Cut, not rounded: `2026-01-02T03:04:05Z`. */
function isoSecond(ms: number): string {
  const second = Math.floor(ms / 1_000);
  let text = isoSeconds.get(second);
  if (text === undefined) {
    text = `${isoTime(ms).slice(0, -5)}Z`;
    if (isoSeconds.size >= isoSecondsMax) isoSeconds.clear();
    isoSeconds.set(second, text);
  }
  return text;
}

function tightest(states: readonly LimitState[], unit: CountedUnit): LimitState | undefined {
  let found: LimitState | undefined;
  for (const state of states) {
    const { mode, unit: counted } = state.limit;
    if (mode === "Shadow" || counted !== unit) continue;
    if (found === undefined || state.remaining < found.remaining) found = state;
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
