/**
 * Finds the window of a limit that holds a moment: aligned to the epoch from Second to Hour, to the calendar of a time
 * zone for Day, Week (from Monday, ISO 8601) and Month, the whole of time for Lifetime
 * (docs/design/limits-and-money.md 3).
 *
 * Pure: the time is an argument. Asking the calendar costs tens of microseconds, so callers keep the bounds until the
 * time reaches their end (`WindowClock`); one clock serves all counters of the same period and time zone.
 */
import type { Limit } from "#proxy/snapshot/types.gen";

export type Period = Limit["period"];

/** `startMs` belongs to the window, `endMs` to the next one. Milliseconds since the epoch. */
export interface WindowBounds {
  readonly startMs: number;
  /** `Infinity` for Lifetime. */
  readonly endMs: number;
}

interface LocalDate {
  readonly year: number;
  /** 0 to 11; months and days beyond the end of theirs run on into the next, as in `Date.UTC`. */
  readonly month: number;
  readonly day: number;
}

const dayMs = 86_400_000;

/** Length of the periods that have one, in milliseconds. */
export const fixedPeriodMs = { Second: 1_000, Minute: 60_000, Hour: 3_600_000 } as const;

const quotaPeriods = ["Day", "Week", "Month", "Lifetime"] as const satisfies readonly Period[];

/** Whether a text that is kept somewhere names a period. */
export function isPeriod(text: string): text is Period {
  return Object.hasOwn(fixedPeriodMs, text) || quotaPeriods.some((period) => period === text);
}

/** Whether a period is a rate (Second to Hour) and not a quota (docs/design/limits-and-money.md 3). */
export function isRatePeriod(period: Period): period is keyof typeof fixedPeriodMs {
  return period === "Second" || period === "Minute" || period === "Hour";
}

/**
 * Bounds of the window that holds `nowMs`.
 *
 * @param timeZone an IANA name; only Day, Week and Month look at it. One this machine does not know counts as UTC:
 *   the operator has refused such names, so it can only be newer than the machine's own table.
 * @throws RangeError for a time that no calendar has: NaN, or too close to the end of `Date`
 */
export function windowBounds(period: Period, timeZone: string, nowMs: number): WindowBounds {
  if (Number.isNaN(nowMs)) throw noCalendar(nowMs);
  if (isRatePeriod(period)) {
    const length = fixedPeriodMs[period];
    const startMs = Math.floor(nowMs / length) * length;
    return { startMs, endMs: startMs + length };
  }
  if (period === "Lifetime") return { startMs: 0, endMs: Number.POSITIVE_INFINITY };
  const zone = zoneOf(timeZone);
  const today = zone.dateAt(nowMs);
  for (let step = 0; ; step += 1) {
    const endMs = zone.startOf(firstDate(period, today, step + 1));
    if (Number.isNaN(endMs)) throw noCalendar(nowMs);
    // A clock set back across midnight repeats the end of a day that is already over: the next window goes on.
    if (endMs > nowMs) return { startMs: zone.startOf(firstDate(period, today, step)), endMs };
  }
}

function noCalendar(nowMs: number): RangeError {
  return new RangeError(`no window holds the time ${nowMs}`);
}

/** First day of the window of `period` that lies `steps` windows after the one that holds `date`. */
function firstDate(period: "Day" | "Week" | "Month", date: LocalDate, steps: number): LocalDate {
  switch (period) {
    case "Day":
      return { ...date, day: date.day + steps };
    case "Week": {
      const weekday = new Date(Date.UTC(date.year, date.month, date.day)).getUTCDay();
      return { ...date, day: date.day - ((weekday + 6) % 7) + 7 * steps };
    }
    case "Month":
      return { year: date.year, month: date.month + steps, day: 1 };
  }
}

/** A time zone's calendar. */
interface Zone {
  dateAt(timeMs: number): LocalDate;
  /** The first moment of a local date, also where its midnight is skipped or comes twice. */
  startOf(date: LocalDate): number;
}

const utc: Zone = {
  dateAt(timeMs) {
    const time = new Date(timeMs);
    return { year: time.getUTCFullYear(), month: time.getUTCMonth(), day: time.getUTCDate() };
  },
  startOf: (date) => Date.UTC(date.year, date.month, date.day),
};

const zones = new Map<string, Zone>([["UTC", utc]]);

function zoneOf(name: string): Zone {
  let zone = zones.get(name);
  if (zone === undefined) {
    zone = createZone(name);
    zones.set(name, zone);
  }
  return zone;
}

function createZone(name: string): Zone {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    return utc;
  }
  /** The local wall clock, written as if it were UTC. */
  const wallClockAt = (timeMs: number): number => {
    const fields = { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0 };
    for (const { type, value } of format.formatToParts(timeMs)) {
      if (type in fields) Object.assign(fields, { [type]: Number(value) });
    }
    return Date.UTC(fields.year, fields.month - 1, fields.day, fields.hour, fields.minute, fields.second);
  };
  return {
    dateAt: (timeMs) => utc.dateAt(wallClockAt(timeMs)),
    startOf(date) {
      const midnight = Date.UTC(date.year, date.month, date.day);
      // No zone is further than a day from UTC, so its offsets on both sides of this midnight are in these two.
      const before = midnight - (wallClockAt(midnight - dayMs) - (midnight - dayMs));
      const after = midnight - (wallClockAt(midnight + dayMs) - (midnight + dayMs));
      const earlier = Math.min(before, after);
      const later = Math.max(before, after);
      if (wallClockAt(earlier) === midnight) return earlier;
      if (wallClockAt(later) === midnight) return later;
      return firstSecondFrom(earlier, later, (timeMs) => wallClockAt(timeMs) >= midnight);
    },
  };
}

/** The clocks skipped midnight: the day begins at the jump, the first second in (lowMs, highMs] past midnight. */
function firstSecondFrom(lowMs: number, highMs: number, isPast: (timeMs: number) => boolean): number {
  let low = lowMs / 1_000;
  let high = highMs / 1_000;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isPast(middle * 1_000)) high = middle;
    else low = middle;
  }
  return high * 1_000;
}

/** The window of one period and time zone that holds the time it was last shown, be the clock ahead or set back. */
export class WindowClock {
  readonly period: Period;
  readonly timeZone: string;
  startMs = 0;
  endMs = Number.NEGATIVE_INFINITY;

  constructor(period: Period, timeZone: string) {
    this.period = period;
    this.timeZone = timeZone;
  }

  /** The calendar is asked only where the time has left the window. */
  follow(nowMs: number): void {
    if (nowMs >= this.startMs && nowMs < this.endMs) return;
    const bounds = windowBounds(this.period, this.timeZone, nowMs);
    this.startMs = bounds.startMs;
    this.endMs = bounds.endMs;
  }
}

/** The last moment that a `Date` can name (ECMA-262, section 21.4.1.1): 13 September 275760. */
const latestMs = 8.64e15;

/**
 * A moment as ISO 8601 writes it, milliseconds included. A bucket of a large burst that fills slowly is full again
 * hundreds of thousands of years from now: `toISOString` throws there, and this names the last moment it knows.
 *
 * @param ms milliseconds since the epoch
 */
export function isoTime(ms: number): string {
  return new Date(Math.min(ms, latestMs)).toISOString();
}
