/**
 * Writes a request's claims as arguments of the ledger's script (`ledger-script.ts`): ten texts a claim, in the order
 * limits, balances, calls in flight.
 *
 * The calendar of a time zone is asked here, by the store's time, for a script knows none; the script refuses a window
 * that the store is not in, and is asked again with the next one.
 */
import { amountOf, type NarrowAmounts } from "#proxy/admit/count/held-reservation";
import type { LimitRule, LimitRules } from "#proxy/admit/count/limit-counter";
import type { BalanceClaim, ConcurrencyClaim, LimitClaim, ReserveRequest } from "#proxy/admit/ledger";
import { fixedPeriodMs, isRatePeriod } from "#proxy/admit/window";
import type { Limit } from "#proxy/snapshot/types.gen";

/** The letter that a unit's fields have in the store; small where a token bucket counts it. */
const letters: Readonly<Record<Limit["unit"], string>> = {
  Requests: "R",
  Tokens: "T",
  InputTokens: "I",
  OutputTokens: "O",
  Cost: "C",
};

/** Stands for the end of time in the script: an exact double, in milliseconds. */
export const neverMs = 9_000_000_000_000_000;
/** Sums in the store are 64-bit integers. */
const ceilingMax = 2n ** 63n - 1n;
const endless = ["Lifetime UTC", "0", "0", String(neverMs)] as const;

/** A command for the script: its name, the number of its arguments, and these. */
export type Command = readonly string[];

/** @param storeMs the store's clock, milliseconds since the epoch */
export function reserveCommand(
  request: ReserveRequest,
  amounts: NarrowAmounts,
  rules: LimitRules,
  storeMs: number,
): Command {
  const texts: string[] = [];
  for (const claim of request.limits) addLimit(texts, claim, amounts, rules, storeMs);
  for (const claim of request.balances) addBalance(texts, claim, amounts);
  for (const claim of request.concurrency) addConcurrency(texts, claim);
  return ["reserve", String(2 + texts.length), request.id, String(texts.length / 10), ...texts];
}

/** How long the store knows what it was told from disk: longer than any such entry is sent. */
export const markerMs = 8 * 86_400_000;
/** How long it knows a settlement that was sent at once: one key a call. */
export const shortMarkerMs = 300_000;

/** Counts what was used without a reservation. @param id another one than any reservation has */
export function postCommand(
  id: string,
  { limits, balances }: Pick<ReserveRequest, "limits" | "balances">,
  used: NarrowAmounts,
  rules: LimitRules,
  storeMs: number,
): Command {
  const texts: string[] = [];
  for (const claim of limits) addLimit(texts, claim, used, rules, storeMs);
  for (const claim of balances) addBalance(texts, claim, used);
  return ["post", String(3 + texts.length), id, String(markerMs), String(texts.length / 10), ...texts];
}

/** @param knownMs how long it is known as settled: a second one in that time counts nothing */
export function settleCommand(id: string, amounts: NarrowAmounts, knownMs: number): Command {
  const { requests, inputTokens, outputTokens, costNanos } = amounts;
  const numbers = [requests, amountOf("Tokens", amounts), inputTokens, outputTokens, costNanos];
  return ["settle", "7", id, ...numbers.map(String), String(knownMs)];
}

export function touchCommand(ids: readonly string[]): Command {
  return ["touch", String(ids.length), ...ids];
}

export function readCommand(counter: string): Command {
  return ["read", "1", counter];
}

export const probeCommand: Command = ["probe", "0"];

export const beginSweepCommand: Command = ["beginSweep", "0"];

/** @param retentionMs how long what counts without end is kept after its object */
export function sweepCommand(
  counters: readonly string[],
  isLive: (counter: string) => boolean,
  retentionMs: number,
): Command {
  const texts = counters.flatMap((counter) => [counter, isLive(counter) ? "1" : "0"]);
  return ["sweep", String(1 + texts.length), String(retentionMs), ...texts];
}

function addLimit(
  texts: string[],
  { counter, limit }: LimitClaim,
  amounts: NarrowAmounts,
  rules: LimitRules,
  storeMs: number,
): void {
  const rule = rules.ruleFor(limit);
  const letter = letters[rule.unit];
  const amount = String(amountOf(rule.unit, amounts));
  const binds = rule.isEnforced ? "1" : "0";
  if (rule.bucket === undefined) {
    texts.push(
      counter,
      letter,
      "window",
      binds,
      amount,
      ceilingText(rule.ceiling.exact),
      ...windowTexts(rule, storeMs),
    );
    return;
  }
  const { refill, burst, periodMs, scale } = rule.bucket;
  const shape = `${refill}|${burst}|${periodMs}|${scale}`;
  texts.push(counter, letter.toLowerCase(), "bucket", binds, amount, shape, "", "", "", "");
}

/** What defines the window, its length where it is aligned to the epoch, and else its start and end. */
function windowTexts({ clock }: LimitRule, storeMs: number): readonly string[] {
  const { period, timeZone } = clock;
  if (period === "Lifetime") return endless;
  const definition = `${period} ${timeZone}`;
  if (isRatePeriod(period)) return [definition, String(fixedPeriodMs[period]), "0", "0"];
  clock.follow(storeMs);
  return [definition, "0", String(clock.startMs), String(clock.endMs)];
}

function addBalance(texts: string[], { counter, grantedNanos }: BalanceClaim, { costNanos }: NarrowAmounts): void {
  const binds = grantedNanos === undefined ? "0" : "1";
  texts.push(counter, "B", "window", binds, String(costNanos), ceilingText(grantedNanos ?? ceilingMax), ...endless);
}

function addConcurrency(texts: string[], { counter, maxInFlight }: ConcurrencyClaim): void {
  texts.push(counter, "F", "window", "1", "1", String(maxInFlight), ...endless);
}

function ceilingText(amount: bigint): string {
  if (amount > ceilingMax) return String(ceilingMax);
  return String(amount < -ceilingMax ? -ceilingMax : amount);
}
