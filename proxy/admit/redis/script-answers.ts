/**
 * Reads what the ledger's script answers, and makes decisions and readings of it: what is left of each limit, which one
 * refused, and when there is room.
 *
 * The store is another program: whatever does not have the expected form is a `StoreError`, never a number.
 */
import { amountOf, type NarrowAmounts } from "#proxy/admit/count/held-reservation";
import { type LimitRules, pendingRetryMs } from "#proxy/admit/count/limit-counter";
import { type Blocker, chooseRefusal } from "#proxy/admit/count/refusal";
import type {
  CounterReading,
  LimitClaim,
  LimitState,
  Refusal,
  Reservation,
  ReserveRequest,
  SettleOutcome,
} from "#proxy/admit/ledger";
import { type BucketShape, TokenBucket } from "#proxy/admit/token-bucket";
import { isPeriod, windowBounds } from "#proxy/admit/window";
import { neverMs } from "./script-arguments.ts";

/** The store did not decide: it was not reached in time, refused, or answered what nobody understands. */
export class StoreError extends Error {
  override readonly name: string = "StoreError";
}

/** The store works and refused this one command, as for a key of another type: it will not take it later either. */
export class RefusedCommand extends StoreError {
  override readonly name = "RefusedCommand";
}

/** What a store says that can do nothing for anybody now (Redis, `server.c`: its shared error replies). */
const storeWide = /\b(READONLY|OOM|MISCONF|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|LOADING)\b/;

/**
 * @param answer of one command
 * @returns what is wrong where the whole store is: it takes no writes, or is no primary. Undefined for all else
 */
export function storeWideError(answer: unknown): StoreError | undefined {
  if (!Array.isArray(answer) || answer[0] !== "error" || !storeWide.test(String(answer[1]))) return undefined;
  return refusalOf(answer[1]);
}

/** Whether a store says that it is a replica: the address leads to another one than the primary. */
export function saysReplica(words: string): boolean {
  return /\b(READONLY|MASTERDOWN)\b/.test(words);
}

/** @param words of the store's error */
function refusalOf(words: unknown): StoreError {
  const message = `the store refused: ${String(words).slice(0, 200)}`;
  return storeWide.test(message) ? new StoreError(message) : new RefusedCommand(message);
}

/** A decision, and the limits in Shadow mode that it was past. */
export interface Decision {
  readonly result: Reservation | Refusal;
  /** The reservation was there already: it was asked for twice, and its numbers are those of the first answer. */
  readonly isKnown: boolean;
  readonly shadowed: readonly LimitClaim[];
}

/** The store's clock and ours when the answer came, both in milliseconds since the epoch. */
export interface ClockPair {
  readonly storeMs: number;
  readonly localMs: number;
}

/** What the script shows of a claim: as it was before this reservation. */
interface Shown {
  /** Window: what is left, below zero where it is overspent. Bucket: its level, in its units. */
  readonly left: bigint;
  readonly pending: bigint;
  /** Window: its end. Bucket: until when it is filled. The store's clock. */
  readonly atMs: number;
}

/** @returns undefined where a window ended on the way: ask again. @throws StoreError for an answer of another form */
export function readDecision(
  answer: unknown,
  request: ReserveRequest,
  amounts: NarrowAmounts,
  rules: LimitRules,
  clocks: ClockPair,
): Decision | undefined {
  const [kind, ...values] = texts(answer);
  if (kind === "moved") return undefined;
  if (kind === "known")
    return { result: { kind: "reserved", id: request.id, states: [] }, isKnown: true, shadowed: [] };
  if (kind !== "reserved" && kind !== "refused") throw notUnderstood(answer);
  const all = shownOf(values);
  const { limits, balances, concurrency } = request;
  if (all.length !== limits.length + balances.length + concurrency.length) throw notUnderstood(answer);
  const views = limits.map((claim, index) =>
    viewOf(claim, all[index] ?? nothing, amountOf(claim.limit.unit, amounts), rules, clocks),
  );
  if (kind === "refused") {
    const blockers = [
      ...balanceBlockers(request, all.slice(limits.length), amounts, clocks.localMs),
      ...views.flatMap(({ blocker, isEnforced }) => (blocker === undefined || !isEnforced ? [] : [blocker])),
      ...concurrencyBlockers(request, all.slice(limits.length + balances.length), clocks.localMs),
    ];
    if (blockers.length === 0) throw notUnderstood(answer);
    const result = chooseRefusal(
      blockers,
      views.map(({ before }) => before),
    );
    return { result, isKnown: false, shadowed: [] };
  }
  const states = views.map(({ after }) => after);
  const shadowed = limits.filter((_, index) => views[index]?.blocker !== undefined);
  return { result: { kind: "reserved", id: request.id, states }, isKnown: false, shadowed };
}

/** @throws StoreError for anything but a word */
export function readWord(answer: unknown): string {
  if (typeof answer === "string") return answer;
  throw notUnderstood(answer);
}

/** @throws StoreError for anything but an outcome */
export function readOutcome(answer: unknown): Exclude<SettleOutcome, "deferred"> {
  if (answer === "settled" || answer === "repeated" || answer === "late" || answer === "unknown") return answer;
  throw notUnderstood(answer);
}

/** @returns undefined for a counter that was never used. @throws StoreError for an answer of another form */
export function readReading(answer: unknown, counter: string, storeMs: number): CounterReading | undefined {
  const [kind, ...values] = texts(answer);
  if (kind === undefined) return undefined;
  if (kind === kind.toLowerCase()) {
    const [missing = "", scale = "", waiting = "", atMs = ""] = values;
    const pending = whole(waiting);
    const posted = whole(missing) * whole(scale) - pending;
    return { counter, posted: posted > 0n ? posted : 0n, pending, windowStartMs: Number(atMs) };
  }
  const [meta = "", left = "", waiting = ""] = values;
  const [ceiling = "", definition = "", start = "", end = ""] = meta.split("|");
  const [period = "", timeZone = ""] = definition.split(" ");
  if (!isPeriod(period)) throw notUnderstood(answer);
  if (Number(end) <= storeMs) {
    const { startMs } = windowBounds(period, timeZone, storeMs);
    return { counter, posted: 0n, pending: 0n, windowStartMs: startMs };
  }
  const pending = whole(waiting);
  return { counter, posted: whole(ceiling) - whole(left) - pending, pending, windowStartMs: Number(start) };
}

/** @throws StoreError unless it is a list of texts; an error of the script is one of these with its own words */
function texts(answer: unknown): readonly string[] {
  if (!Array.isArray(answer) || !answer.every((value) => typeof value === "string")) throw notUnderstood(answer);
  if (answer[0] === "error") throw refusalOf(answer[1]);
  return answer;
}

function notUnderstood(answer: unknown): StoreError {
  if (Array.isArray(answer) && answer[0] === "error") return refusalOf(answer[1]);
  return new StoreError("the store answered in a form that is not the ledger's");
}

function whole(text: string): bigint {
  if (!/^-?\d{1,30}$/.test(text)) throw new StoreError("the store holds something other than a number");
  return BigInt(text);
}

const nothing: Shown = { left: 0n, pending: 0n, atMs: 0 };

function shownOf(values: readonly string[]): readonly Shown[] {
  const all: Shown[] = [];
  for (let at = 0; at + 2 < values.length; at += 3) {
    all.push({
      left: whole(values[at] ?? ""),
      pending: whole(values[at + 1] ?? ""),
      atMs: Number(whole(values[at + 2] ?? "")),
    });
  }
  return all;
}

interface View {
  readonly before: LimitState;
  readonly after: LimitState;
  /** Present where the amount does not fit. */
  readonly blocker: Blocker | undefined;
  readonly isEnforced: boolean;
}

function viewOf(
  { counter, limit }: LimitClaim,
  shown: Shown,
  amount: number,
  rules: LimitRules,
  { storeMs, localMs }: ClockPair,
): View {
  const rule = rules.ruleFor(limit);
  const { isEnforced } = rule;
  const reason = rule.isQuota ? "quota" : "rate";
  const local = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms - storeMs + localMs);
  if (rule.bucket !== undefined) {
    const before = bucketAt(rule.bucket, shown);
    const after = bucketAt(rule.bucket, shown);
    after.consume(amount);
    const stateOf = (bucket: TokenBucket): LimitState => ({
      counter,
      limit,
      remaining: bucket.remaining(),
      resetAtMs: local(bucket.fullAtMs()),
    });
    const retryAtMs = local(before.readyAtMs(amount));
    const blocker = before.holds(amount) ? undefined : ({ reason, counter, limit, retryAtMs } as const);
    return { before: stateOf(before), after: stateOf(after), blocker, isEnforced };
  }
  const needed = BigInt(amount);
  const endMs = shown.atMs >= neverMs ? undefined : local(shown.atMs);
  const stateOf = (left: bigint): LimitState => ({
    counter,
    limit,
    remaining: left > 0n ? left : 0n,
    resetAtMs: endMs,
  });
  const states = { before: stateOf(shown.left), after: stateOf(shown.left - needed), isEnforced };
  if (needed <= shown.left) return { ...states, blocker: undefined };
  return { ...states, blocker: { reason, counter, limit, retryAtMs: retryAt() } };

  function retryAt(): number | undefined {
    if (needed > rule.ceiling.exact) return undefined;
    const waitsForOthers = needed <= shown.left + shown.pending;
    return waitsForOthers ? Math.min(localMs + pendingRetryMs, endMs ?? Number.POSITIVE_INFINITY) : endMs;
  }
}

function bucketAt(shape: BucketShape, { left, atMs }: Shown): TokenBucket {
  const bucket = new TokenBucket(shape, atMs);
  bucket.level = Number(left);
  return bucket;
}

function balanceBlockers(
  { balances }: ReserveRequest,
  shown: readonly Shown[],
  { costNanos }: NarrowAmounts,
  localMs: number,
): readonly Blocker[] {
  return balances.flatMap(({ counter, grantedNanos }, index) => {
    const { left, pending } = shown[index] ?? nothing;
    if (grantedNanos === undefined || BigInt(costNanos) <= left) return [];
    const waitsForOthers = BigInt(costNanos) <= left + pending;
    const retryAtMs = waitsForOthers ? localMs + pendingRetryMs : undefined;
    return [{ reason: "balance", counter, limit: undefined, retryAtMs }];
  });
}

function concurrencyBlockers(
  { concurrency }: ReserveRequest,
  shown: readonly Shown[],
  localMs: number,
): readonly Blocker[] {
  return concurrency.flatMap(({ counter, maxInFlight }, index) => {
    if ((shown[index]?.left ?? 0n) >= 1n) return [];
    const retryAtMs = maxInFlight > 0 ? localMs + pendingRetryMs : undefined;
    return [{ reason: "concurrency", counter, limit: undefined, retryAtMs }];
  });
}
