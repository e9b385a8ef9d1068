/**
 * Counts for one limit: the sums of a window or a token bucket, under the limit's present settings.
 *
 * A counter outlives edits of its limit. A new number, burst or mode changes nothing that was counted. A new unit or
 * algorithm starts from zero, and continues the earlier count where it returns to a former one. A new period or time
 * zone keeps everything that may lie inside the new window. A reservation belongs to the window in which it was made
 * (`window-history.ts`).
 */

import type { LimitState } from "#proxy/admit/ledger";
import type { StoredCounter } from "#proxy/admit/store/store-messages";
import { type BucketShape, bucketShape, TokenBucket } from "#proxy/admit/token-bucket";
import { fixedPeriodMs, isPeriod, isRatePeriod, WindowClock, windowBounds } from "#proxy/admit/window";
import type { Limit } from "#proxy/snapshot/types.gen";
import { type Ceiling, ceilingOf, Tally } from "./tally.ts";
import { type CountedWindow, countedIn, WindowHistory } from "./window-history.ts";

/** A limit prepared for counting; made once for each limit object. */
export interface LimitRule {
  readonly unit: Limit["unit"];
  readonly isEnforced: boolean;
  /** Day or longer, or unit Cost: `insufficient quota` and not a rate (docs/design/limits-and-money.md 3). */
  readonly isQuota: boolean;
  readonly ceiling: Ceiling;
  readonly clock: WindowClock;
  /** Present for TokenBucket. */
  readonly bucket: BucketShape | undefined;
  /** What its row on disk counts: the unit, and of a window its period and time zone (`StoredCounter.unit`). */
  readonly storedUnit: string;
}

/** Prepares limits; clocks are shared by period and time zone, so that the calendar is asked once a window. */
export class LimitRules {
  /** How far the wall clock stood ahead of the monotonic one when both were last read; whole milliseconds. */
  wallAheadMs = 0;
  readonly #rules = new WeakMap<Limit, LimitRule>();
  readonly #clocks = new Map<string, WindowClock>();

  /** The monotonic clock's time at `nowMs` of the wall clock. Buckets go by it: no step of a clock fills or stops them. */
  tickAt(nowMs: number): number {
    return nowMs - this.wallAheadMs;
  }

  ruleFor(limit: Limit): LimitRule {
    let rule = this.#rules.get(limit);
    if (rule === undefined) {
      rule = this.#compile(limit);
      this.#rules.set(limit, rule);
    }
    return rule;
  }

  #compile(limit: Limit): LimitRule {
    const amount = BigInt(limit.limit);
    const isBucket = limit.algorithm === "TokenBucket" && isRatePeriod(limit.period);
    const clock = this.#clockFor(limit);
    return {
      unit: limit.unit,
      isEnforced: limit.mode === "Enforce",
      isQuota: !isRatePeriod(limit.period) || limit.unit === "Cost",
      ceiling: ceilingOf(amount),
      clock,
      bucket:
        isBucket && isRatePeriod(limit.period)
          ? bucketShape(amount, limit.burst === undefined ? amount : BigInt(limit.burst), fixedPeriodMs[limit.period])
          : undefined,
      storedUnit: isBucket ? limit.unit : `${limit.unit} ${clock.period} ${clock.timeZone}`,
    };
  }

  #clockFor(limit: Limit): WindowClock {
    const timeZone = isRatePeriod(limit.period) || limit.period === "Lifetime" ? "UTC" : (limit.timeZone ?? "UTC");
    const id = `${limit.period} ${timeZone}`;
    let clock = this.#clocks.get(id);
    if (clock === undefined) {
      clock = new WindowClock(limit.period, timeZone);
      this.#clocks.set(id, clock);
    }
    return clock;
  }
}

/** A counter's row in a durable store. */
export interface StoredIdentity {
  readonly id: number;
  readonly kind: "limit" | "bucket" | "balance";
  readonly unit: string;
}

/** How long to wait when only others' open reservations are in the way: they settle at any moment. */
export const pendingRetryMs = 1_000;

/** An empty window may still get the settlement of a reservation that expired or held nothing of it; not after this. */
const unusedMs = 2 * 86_400_000;
/**
 * So long a quota's window and a full bucket are kept after their last use, by the monotonic clock: the window may be over
 * by a wrong clock only, and a call that held nothing of the bucket may still use some.
 */
const doubtedMs = 3_600_000;

/** What an edited limit counted before; an edit back, or a call under the configuration of before, finds it again. */
interface CountedOtherwise {
  readonly rule: LimitRule;
  readonly windows: WindowHistory;
  readonly bucket: TokenBucket | undefined;
}

/**
 * Whether what was stored may lie in a window that began later: the limit had another period or time zone. Rows that do
 * not say which are of the limit's own, and over.
 */
function reaches({ unit, startMs }: StoredCounter, laterMs: number): boolean {
  const [, period = "", timeZone = ""] = unit.split(" ");
  return isPeriod(period) && windowBounds(period, timeZone, startMs).endMs > laterMs;
}

/** Sums of different kinds cannot be compared. */
function kindOf({ unit, bucket }: LimitRule): string {
  return bucket === undefined ? unit : `${unit} bucket`;
}

export class LimitCounter {
  readonly name: string;
  limit: Limit;
  rule: LimitRule;
  readonly #rules: LimitRules;
  /** Of a bucket only the pending sum of the present one is used. */
  #windows: WindowHistory;
  bucket: TokenBucket | undefined;
  /** What was counted in other units or by the other algorithm; by kind. */
  #aside: Map<string, CountedOtherwise> | undefined;
  lastUsedMs: number;
  #lastUsedTickMs: number;
  /** Waits in the journal's list of changes. */
  isChanged = false;
  /** Reservations of it that have expired and may be held again. */
  expired = 0;
  /** Another may count under its name: what is still settled here must not be on disk beside that. */
  isForgotten = false;
  /** Its row on disk; undefined: not yet. */
  stored: StoredIdentity | undefined;

  constructor(name: string, limit: Limit, rules: LimitRules, nowMs: number) {
    this.name = name;
    this.limit = limit;
    this.rule = rules.ruleFor(limit);
    this.#rules = rules;
    this.lastUsedMs = nowMs;
    this.#lastUsedTickMs = rules.tickAt(nowMs);
    this.#windows = this.#start(nowMs);
  }

  /** What counts against the limit now, and what open reservations hold of it. */
  get tally(): Tally {
    return countedIn(this.#windows.current);
  }

  /** Takes over an edited limit. */
  adopt(limit: Limit, nowMs: number): void {
    const before = this.rule;
    const rule = this.#rules.ruleFor(limit);
    this.limit = limit;
    this.rule = rule;
    const known = kindOf(before) === kindOf(rule) ? before : this.#exchange(before, rule);
    if (known === undefined) this.#windows = this.#start(nowMs);
    else if (this.bucket !== undefined && rule.bucket !== undefined) {
      this.bucket.reshape(rule.bucket, this.#rules.tickAt(nowMs));
    } else if (known.clock !== rule.clock) {
      rule.clock.follow(nowMs);
      const { startMs } = rule.clock;
      // What was counted since the new window began cannot be told from what was before: both stay, none is granted anew.
      const isOver = this.#windows.current.startMs < startMs && this.lastUsedMs < startMs;
      if (isOver) this.#windows = this.#start(nowMs);
      else this.#windows.restart(startMs);
    }
  }

  /** Puts aside what was counted by one kind of rule. @returns the rule by which it counted as now before; undefined: never did */
  #exchange(before: LimitRule, rule: LimitRule): LimitRule | undefined {
    this.#aside ??= new Map();
    this.#aside.set(kindOf(before), { rule: before, windows: this.#windows, bucket: this.bucket });
    const known = this.#aside.get(kindOf(rule));
    if (known === undefined) return undefined;
    this.#windows = known.windows;
    this.bucket = known.bucket;
    return known.rule;
  }

  /** Brings the counter to the present: call before anything else is asked or changed. */
  refresh(nowMs: number): void {
    this.lastUsedMs = nowMs;
    this.#lastUsedTickMs = this.#rules.tickAt(nowMs);
    if (this.bucket !== undefined) {
      this.bucket.refill(this.#lastUsedTickMs);
      return;
    }
    const { clock } = this.rule;
    clock.follow(nowMs);
    // One second of a clock that is ahead must not block a key until the time that it named: where it is set back, so is this.
    if (this.#windows.current.startMs !== clock.startMs)
      this.#windows.moveTo(clock.startMs, isRatePeriod(clock.period));
  }

  fits(amount: number): boolean {
    return this.bucket === undefined ? this.tally.fits(amount, this.rule.ceiling) : this.bucket.holds(amount);
  }

  /** @returns the window it is held in: `settle` wants it again */
  hold(amount: number): CountedWindow {
    const { current } = this.#windows;
    current.tally.hold(amount);
    this.bucket?.consume(amount);
    return current;
  }

  /** Holds what was released before. @param window what `hold` gave; the counter may count otherwise by now */
  holdAgain(window: CountedWindow, amount: number, nowMs: number): void {
    window.tally.hold(amount);
    if (this.bucket === undefined || window !== this.#windows.current) return;
    this.bucket.refill(this.#rules.tickAt(nowMs));
    this.bucket.correct(0, amount);
  }

  /**
   * Replaces what was held by what was consumed, both in the unit of the window.
   *
   * @param window what `hold` gave; the counter may count otherwise by now
   */
  settle(window: CountedWindow, held: number, actual: number, nowMs: number): void {
    window.tally.release(held);
    if (this.bucket === undefined || window !== this.#windows.current) {
      window.tally.post(actual);
      return;
    }
    this.bucket.refill(this.#rules.tickAt(nowMs));
    this.bucket.correct(held, actual);
  }

  /** Earliest time at which `amount` could fit; undefined when waiting cannot cure it. Only after `fits` said no. */
  retryAtMs(amount: number, nowMs: number): number | undefined {
    if (this.bucket !== undefined) return this.#wallTime(this.bucket.readyAtMs(amount));
    const { ceiling, clock } = this.rule;
    if (BigInt(amount) > ceiling.exact) return undefined;
    if (this.tally.fitsWithoutPending(amount, ceiling)) return Math.min(nowMs + pendingRetryMs, clock.endMs);
    return clock.endMs === Number.POSITIVE_INFINITY ? undefined : clock.endMs;
  }

  state(): LimitState {
    const { bucket, rule } = this;
    const endMs = rule.clock.endMs === Number.POSITIVE_INFINITY ? undefined : rule.clock.endMs;
    return {
      counter: this.name,
      limit: this.limit,
      remaining: bucket === undefined ? this.tally.remaining(rule.ceiling) : bucket.remaining(),
      resetAtMs: bucket === undefined ? endMs : this.#wallTime(bucket.fullAtMs()),
    };
  }

  /** Start of the window, or when the bucket was last filled; milliseconds since the epoch. */
  get startMs(): number {
    return this.bucket === undefined ? this.#windows.current.startMs : this.bucket.atMs + this.#rules.wallAheadMs;
  }

  /** What counts against the limit now; for a bucket what is missing from it, reservations apart. */
  get posted(): bigint {
    if (this.bucket === undefined) return this.tally.posted;
    const { level, shape } = this.bucket;
    const missing = BigInt(shape.burst - level) * BigInt(shape.scale) - this.tally.pending;
    return missing > 0n ? missing : 0n;
  }

  /** Takes over what was counted before a restart, where it counts the same thing. */
  restore(stored: StoredCounter, nowMs: number): void {
    if (stored.unit.split(" ", 1)[0] !== this.rule.unit) return;
    if (this.bucket !== undefined) {
      if (stored.kind !== "bucket") return;
      const level = Math.floor(Number(stored.amount) / this.bucket.shape.scale);
      this.bucket.level = Math.min(level, this.bucket.shape.burst);
      this.bucket.atMs = this.#rules.tickAt(Math.min(stored.startMs, nowMs));
    } else if (stored.kind === "limit") {
      const { startMs } = this.#windows.current;
      this.#windows.restore(reaches(stored, startMs) ? startMs : stored.startMs, stored.amount);
    }
  }

  /** Whether reservations hold a part of it or may again, be it of a window that is over. */
  get isHeld(): boolean {
    return this.#windows.hasPending || this.expired > 0;
  }

  /** Nothing in it matters any more: its window is empty or over or its bucket full, and nobody holds a part of it. */
  isSpent(nowMs: number): boolean {
    if (this.isHeld) return false;
    if (this.bucket === undefined) {
      const { clock } = this.rule;
      const isDoubted = this.#rules.tickAt(nowMs) - this.#lastUsedTickMs < doubtedMs;
      if (isDoubted && !isRatePeriod(clock.period)) return false;
      if (nowMs >= clock.endMs || this.#windows.current.startMs < clock.startMs) return true;
      const isUnused = this.lastUsedMs < clock.startMs || nowMs - this.lastUsedMs >= unusedMs;
      return isUnused && this.tally.narrowPosted === 0;
    }
    const tickMs = this.#rules.tickAt(nowMs);
    if (tickMs - this.#lastUsedTickMs < doubtedMs) return false;
    this.bucket.refill(tickMs);
    return this.bucket.level >= this.bucket.shape.burst;
  }

  #wallTime(tickMs: number | undefined): number | undefined {
    return tickMs === undefined ? undefined : tickMs + this.#rules.wallAheadMs;
  }

  /** Begins to count afresh: what was counted before is none of it. */
  #start(nowMs: number): WindowHistory {
    const { clock, bucket } = this.rule;
    this.bucket = bucket === undefined ? undefined : new TokenBucket(bucket, this.#rules.tickAt(nowMs));
    clock.follow(nowMs);
    return new WindowHistory(this.rule.unit, clock.startMs);
  }
}

/** An account's cumulative consumption, and what open reservations hold of it. */
export class BalanceCounter {
  readonly name: string;
  readonly tally = new Tally();
  lastUsedMs: number;
  isChanged = false;
  isForgotten = false;
  expired = 0;
  stored: StoredIdentity | undefined;
  #grantedNanos: bigint | undefined;
  #ceiling: Ceiling | undefined;

  constructor(name: string, nowMs: number) {
    this.name = name;
    this.lastUsedMs = nowMs;
  }

  /** Whether reservations hold a part of it or may again. */
  get isHeld(): boolean {
    return this.tally.hasPending || this.expired > 0;
  }

  /** The ceiling of `grantedNanos`, prepared anew when it changes; undefined: unlimited. */
  ceiling(grantedNanos: bigint | undefined): Ceiling | undefined {
    if (grantedNanos !== this.#grantedNanos) {
      this.#grantedNanos = grantedNanos;
      this.#ceiling = grantedNanos === undefined ? undefined : ceilingOf(grantedNanos);
    }
    return this.#ceiling;
  }
}
