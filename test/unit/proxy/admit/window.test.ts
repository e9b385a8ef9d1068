import assert from "node:assert/strict";
import fc from "fast-check";
import { type Period, WindowClock, windowBounds } from "#proxy/admit/window";

const at = (text: string): number => Date.parse(text);

interface Row {
  readonly name: string;
  readonly period: Period;
  readonly zone?: string;
  readonly now: string;
  readonly start: string;
  readonly end: string;
}

const rows: readonly Row[] = [
  {
    name: "a second begins with the epoch's",
    period: "Second",
    now: "2026-01-01T00:00:00.999Z",
    start: "2026-01-01T00:00:00Z",
    end: "2026-01-01T00:00:01Z",
  },
  {
    name: "a minute holds its first moment",
    period: "Minute",
    now: "2026-01-01T00:01:00Z",
    start: "2026-01-01T00:01:00Z",
    end: "2026-01-01T00:02:00Z",
  },
  {
    name: "an hour ignores the time zone",
    period: "Hour",
    zone: "Asia/Kolkata",
    now: "2026-01-01T00:59:59.999Z",
    start: "2026-01-01T00:00:00Z",
    end: "2026-01-01T01:00:00Z",
  },
  {
    name: "a day in UTC",
    period: "Day",
    now: "2026-03-01T23:59:59.999Z",
    start: "2026-03-01T00:00:00Z",
    end: "2026-03-02T00:00:00Z",
  },
  {
    name: "a day in Kathmandu, 5 h 45 min ahead",
    period: "Day",
    zone: "Asia/Kathmandu",
    now: "2026-03-01T18:14:59Z",
    start: "2026-02-28T18:15:00Z",
    end: "2026-03-01T18:15:00Z",
  },
  {
    name: "a day of 23 hours when Berlin's clocks go forward",
    period: "Day",
    zone: "Europe/Berlin",
    now: "2026-03-29T12:00:00Z",
    start: "2026-03-28T23:00:00Z",
    end: "2026-03-29T22:00:00Z",
  },
  {
    name: "a day of 25 hours when Berlin's clocks go back",
    period: "Day",
    zone: "Europe/Berlin",
    now: "2026-10-25T12:00:00Z",
    start: "2026-10-24T22:00:00Z",
    end: "2026-10-25T23:00:00Z",
  },
  {
    name: "a day whose midnight is skipped begins at the jump (Santiago)",
    period: "Day",
    zone: "America/Santiago",
    now: "2025-09-07T12:00:00Z",
    start: "2025-09-07T04:00:00Z",
    end: "2025-09-08T03:00:00Z",
  },
  {
    name: "a day that ends at the jump (Santiago)",
    period: "Day",
    zone: "America/Santiago",
    now: "2025-09-06T12:00:00Z",
    start: "2025-09-06T04:00:00Z",
    end: "2025-09-07T04:00:00Z",
  },
  {
    name: "a day whose first hour comes twice begins with the first (Havana)",
    period: "Day",
    zone: "America/Havana",
    now: "2025-11-02T05:30:00Z",
    start: "2025-11-02T04:00:00Z",
    end: "2025-11-03T05:00:00Z",
  },
  {
    name: "a day whose last hour comes twice (Santiago)",
    period: "Day",
    zone: "America/Santiago",
    now: "2025-04-06T03:30:00Z",
    start: "2025-04-05T03:00:00Z",
    end: "2025-04-06T04:00:00Z",
  },
  {
    name: "a day that a zone skipped has its neighbours (Apia, December 2011)",
    period: "Day",
    zone: "Pacific/Apia",
    now: "2011-12-30T12:00:00Z",
    start: "2011-12-30T10:00:00Z",
    end: "2011-12-31T10:00:00Z",
  },
  {
    name: "a leap day",
    period: "Day",
    now: "2028-02-29T10:00:00Z",
    start: "2028-02-29T00:00:00Z",
    end: "2028-03-01T00:00:00Z",
  },
  {
    name: "a week begins on Monday",
    period: "Week",
    now: "2026-01-11T23:00:00Z",
    start: "2026-01-05T00:00:00Z",
    end: "2026-01-12T00:00:00Z",
  },
  {
    name: "a Monday belongs to its own week",
    period: "Week",
    now: "2026-01-12T00:00:00Z",
    start: "2026-01-12T00:00:00Z",
    end: "2026-01-19T00:00:00Z",
  },
  {
    name: "a week over the turn of the year",
    period: "Week",
    now: "2026-01-01T00:00:00Z",
    start: "2025-12-29T00:00:00Z",
    end: "2026-01-05T00:00:00Z",
  },
  {
    name: "a week of 167 hours in New York",
    period: "Week",
    zone: "America/New_York",
    now: "2026-03-04T12:00:00Z",
    start: "2026-03-02T05:00:00Z",
    end: "2026-03-09T04:00:00Z",
  },
  {
    name: "a month of 31 days",
    period: "Month",
    now: "2026-01-31T23:59:59.999Z",
    start: "2026-01-01T00:00:00Z",
    end: "2026-02-01T00:00:00Z",
  },
  {
    name: "a February of 28 days",
    period: "Month",
    now: "2026-02-28T00:00:00Z",
    start: "2026-02-01T00:00:00Z",
    end: "2026-03-01T00:00:00Z",
  },
  {
    name: "a February of 29 days",
    period: "Month",
    now: "2028-02-29T00:00:00Z",
    start: "2028-02-01T00:00:00Z",
    end: "2028-03-01T00:00:00Z",
  },
  {
    name: "a century that is no leap year",
    period: "Month",
    now: "2100-02-28T23:00:00Z",
    start: "2100-02-01T00:00:00Z",
    end: "2100-03-01T00:00:00Z",
  },
  {
    name: "a month in Tokyo that UTC has not reached",
    period: "Month",
    zone: "Asia/Tokyo",
    now: "2026-01-31T16:00:00Z",
    start: "2026-01-31T15:00:00Z",
    end: "2026-02-28T15:00:00Z",
  },
  {
    name: "a December",
    period: "Month",
    zone: "Europe/Berlin",
    now: "2026-12-31T12:00:00Z",
    start: "2026-11-30T23:00:00Z",
    end: "2026-12-31T23:00:00Z",
  },
  {
    name: "the second after 32 bits end",
    period: "Second",
    now: "2038-01-19T03:14:08Z",
    start: "2038-01-19T03:14:08Z",
    end: "2038-01-19T03:14:09Z",
  },
  {
    name: "the day on which 32 bits end",
    period: "Day",
    zone: "Europe/Berlin",
    now: "2038-01-19T03:14:08Z",
    start: "2038-01-18T23:00:00Z",
    end: "2038-01-19T23:00:00Z",
  },
  {
    name: "an unknown time zone is taken as UTC",
    period: "Day",
    zone: "Mars/Olympus",
    now: "2026-03-01T12:00:00Z",
    start: "2026-03-01T00:00:00Z",
    end: "2026-03-02T00:00:00Z",
  },
];

describe("windowBounds()", () => {
  for (const row of rows) {
    it(row.name, () => {
      const { startMs, endMs } = windowBounds(row.period, row.zone ?? "UTC", at(row.now));
      assert.deepEqual(
        [new Date(startMs).toISOString(), new Date(endMs).toISOString()],
        [new Date(at(row.start)).toISOString(), new Date(at(row.end)).toISOString()],
      );
    });
  }

  it("gives Lifetime no end", () => {
    assert.deepEqual(windowBounds("Lifetime", "UTC", 5), { startMs: 0, endMs: Number.POSITIVE_INFINITY });
  });

  const zones = [
    "UTC",
    "Europe/Berlin",
    "America/St_Johns",
    "America/Havana",
    "America/Santiago",
    "Pacific/Apia",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Africa/Cairo",
  ];
  const time = fc.integer({ min: at("1990-01-01T00:00:00Z"), max: at("2040-01-01T00:00:00Z") });
  it("holds its moment, and meets the next window without a gap, in every zone", () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Period>("Second", "Hour", "Day", "Week", "Month"),
        fc.constantFrom(...zones),
        time,
        (period, zone, nowMs) => {
          const { startMs, endMs } = windowBounds(period, zone, nowMs);
          assert.ok(startMs <= nowMs && nowMs < endMs);
          assert.equal(windowBounds(period, zone, endMs).startMs, endMs);
          assert.equal(windowBounds(period, zone, endMs - 1).endMs, endMs);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, 8.64e15, 9e15])
    for (const period of ["Day", "Week", "Month"] as const)
      it(`ends for the time ${wrong}, of which no calendar knows the ${period}`, () => {
        assert.throws(() => windowBounds(period, "UTC", wrong), RangeError);
        assert.throws(() => windowBounds(period, "Asia/Kathmandu", wrong), RangeError);
      });

  it("has no window of a rate for a time that is no number", () => {
    assert.throws(() => windowBounds("Hour", "UTC", Number.NaN), RangeError);
  });

  it("follows the time, also one that was set back", () => {
    const clock = new WindowClock("Day", "UTC");
    for (const day of ["2026-01-02", "2027-08-01", "2026-01-01"]) {
      clock.follow(at(`${day}T05:00:00Z`));
      assert.equal(clock.startMs, at(`${day}T00:00:00Z`));
      assert.equal(clock.endMs, at(`${day}T00:00:00Z`) + 86_400_000);
    }
  });
});
