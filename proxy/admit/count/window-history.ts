/**
 * The windows that a counter counted in lately: which one a reservation belongs to, and what a wall clock that was set
 * back finds counted already.
 *
 * Each window has sums of its own, so that however a clock is stepped none opens twice and nothing is counted in it
 * twice. What was counted by a clock that stood ahead happened in the window to which it returns as well: there it
 * counts with that window's own (RELIABILITY.md M1).
 */
import { Tally } from "./tally.ts";

/** The sums of one window. */
export interface CountedWindow {
  startMs: number;
  readonly tally: Tally;
  /** Windows that were counted in by a clock that stood ahead of this one. */
  readonly ahead: Set<CountedWindow>;
}

/** From one number of the ledger's sequence to the next turn's. */
interface Turn {
  readonly from: number;
  readonly window: CountedWindow;
}

/** A clock that goes on leaves the window before behind, and for quotas those of a clock that was wrong for a day. */
const turnsOfRate = 2;
const turnsOfQuota = 4;
/** A clock that is stepped to and fro. */
const turnsMax = 8;

export class WindowHistory {
  current: CountedWindow;
  /** The present one last. */
  #turns: Turn[];

  /** @param from the ledger's sequence when its first window began */
  constructor(startMs: number, from: number) {
    this.current = newWindow(startMs);
    this.#turns = [{ from, window: this.current }];
  }

  /** Goes on to another window, or back to one: an older number of the ledger's sequence belongs to those before. */
  moveTo(startMs: number, from: number, isRate: boolean): void {
    const before = this.current;
    const isBack = startMs < before.startMs;
    const window = this.#turns.find((turn) => turn.window.startMs === startMs)?.window ?? newWindow(startMs);
    if (isBack) {
      for (const ahead of [before, ...before.ahead]) if (ahead !== window) window.ahead.add(ahead);
    }
    this.#turns.push({ from, window });
    const kept = isBack ? turnsMax : isRate ? turnsOfRate : turnsOfQuota;
    if (this.#turns.length > kept) this.#turns.splice(0, this.#turns.length - kept);
    this.current = window;
  }

  /** The window that was counted in when the ledger's sequence stood at a number; undefined when that is forgotten. */
  at(number: number): CountedWindow | undefined {
    return this.#turns.findLast(({ from }) => from <= number)?.window;
  }

  /** The present window begins elsewhere: the limit has another period or time zone. The others are none of it. */
  restart(startMs: number): void {
    const { current } = this;
    current.startMs = startMs;
    this.#turns = this.#turns.filter(({ window }) => window === current);
  }
}

/** What counts in a window: its own sums, and those of windows that a clock was ahead in. */
export function countedIn({ tally, ahead }: CountedWindow): Tally {
  if (ahead.size === 0) return tally;
  const sum = new Tally();
  for (const counted of [tally, ...Array.from(ahead, (window) => window.tally)]) sum.add(counted);
  return sum;
}

function newWindow(startMs: number): CountedWindow {
  return { startMs, tally: new Tally(), ahead: new Set() };
}
