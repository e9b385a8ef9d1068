/**
 * Keeps the recent windows of a counter, so that a wall clock that is set back finds what was counted already.
 *
 * Each window has sums of its own, so that however a clock is stepped none opens twice and nothing is counted in it
 * twice. A reservation keeps the windows in which it was made, and is settled there however long it lasts. An amount
 * counted while the clock was ahead happened in the window to which the clock returns as well: it counts there with
 * that window's own (docs/design/reliability.md M1).
 */
import type { Limit } from "#proxy/snapshot/types.gen";
import { Tally } from "./tally.ts";

/** The sums of one window. */
export interface CountedWindow {
  /** The unit of the sums, whatever unit an edited limit has by now. */
  readonly unit: Limit["unit"];
  startMs: number;
  readonly tally: Tally;
  /** Windows that were counted in by a clock that stood ahead of this one. */
  readonly ahead: Set<CountedWindow>;
}

/** A clock that goes on leaves the window before behind, and for quotas those of a clock that was wrong for a day. */
const windowsOfRate = 2;
const windowsOfQuota = 4;
/** A clock that is stepped to and fro. */
const windowsMax = 8;

export class WindowHistory {
  current: CountedWindow;
  /** As they were last counted in, the present one last. */
  #windows: CountedWindow[];

  constructor(unit: Limit["unit"], startMs: number) {
    this.current = newWindow(unit, startMs);
    this.#windows = [this.current];
  }

  /**
   * Takes over what was posted in the window that begins then. One that is over may be so by a wrong clock only; of one to
   * come, which a clock named that stood ahead, nothing tells that it does not count in this one.
   */
  restore(startMs: number, posted: bigint): void {
    const isOver = startMs < this.current.startMs;
    const window = isOver ? newWindow(this.current.unit, startMs) : this.current;
    window.tally.setPosted(posted);
    if (isOver) this.#windows.unshift(window);
  }

  /** Goes on to another window, or back to one. */
  moveTo(startMs: number, isRate: boolean): void {
    const before = this.current;
    const isBack = startMs < before.startMs;
    const window = this.#windows.find((known) => known.startMs === startMs) ?? newWindow(before.unit, startMs);
    if (isBack) {
      for (const ahead of [before, ...before.ahead]) if (ahead !== window) window.ahead.add(ahead);
    }
    const kept = isBack ? windowsMax : isRate ? windowsOfRate : windowsOfQuota;
    this.#windows = [...this.#windows.filter((known) => known !== window), window].slice(-kept);
    this.current = window;
  }

  /** The present window begins elsewhere: the limit has another period or time zone. The others are none of it. */
  restart(startMs: number): void {
    this.current.startMs = startMs;
    this.#windows = [this.current];
  }

  /** Whether open reservations hold a part of any of them. */
  get hasPending(): boolean {
    return [...this.#windows, ...this.current.ahead].some(({ tally }) => tally.hasPending);
  }
}

/** What counts in a window: its own sums, and those of windows that a clock was ahead in. */
export function countedIn({ tally, ahead }: CountedWindow): Tally {
  if (ahead.size === 0) return tally;
  const sum = new Tally();
  for (const counted of [tally, ...Array.from(ahead, (window) => window.tally)]) sum.add(counted);
  return sum;
}

function newWindow(unit: Limit["unit"], startMs: number): CountedWindow {
  return { unit, startMs, tally: new Tally(), ahead: new Set() };
}
