import assert from "node:assert/strict";
import fc from "fast-check";
import {
  parseDurationMs,
  parseMicroCredits,
  parseNanoCredits,
  parseQuantity,
  parseTimestampMs,
} from "#operator/resources/amounts";

const refused = "refused";
function outcome(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    assert.ok(error instanceof Error && "code" in error && error.code === "invalid_spec", String(error));
    return refused;
  }
}

describe("amounts of a spec", () => {
  for (const row of [
    { name: "a whole number of requests", parse: () => parseQuantity("60", 0, "limit"), want: 60n },
    { name: "a suffix multiplies", parse: () => parseQuantity("200k", 0, "limit"), want: 200_000n },
    {
      name: "a fraction with a suffix that makes it whole",
      parse: () => parseQuantity("1.5M", 0, "limit"),
      want: 1_500_000n,
    },
    { name: "half a request is refused", parse: () => parseQuantity("0.5", 0, "limit"), want: refused },
    { name: "sixteen digits are refused", parse: () => parseQuantity("1234567890123456", 0, "limit"), want: refused },
    { name: "a sign is refused", parse: () => parseQuantity("-1", 0, "limit"), want: refused },
    { name: "an exponent is refused", parse: () => parseQuantity("1e3", 0, "limit"), want: refused },
    { name: "credits become nano-credits", parse: () => parseNanoCredits("0.15", "credit"), want: "150000000" },
    {
      name: "the largest amount of credits",
      parse: () => parseNanoCredits("9000000000", "credit"),
      want: "9000000000000000000",
    },
    { name: "one more is refused", parse: () => parseNanoCredits("9000000001", "credit"), want: refused },
    { name: "a suffix cannot pass the bound either", parse: () => parseNanoCredits("10G", "credit"), want: refused },
    { name: "prices become micro-credits", parse: () => parseMicroCredits("0.000001", "price"), want: "1" },
    {
      name: "a price finer than a micro-credit is refused",
      parse: () => parseMicroCredits("0.0000001", "price"),
      want: refused,
    },
    { name: "a duration of several units", parse: () => parseDurationMs("1m30s500ms", "total"), want: 90_500 },
    { name: "zero switches off", parse: () => parseDurationMs("0s", "total"), want: 0 },
    { name: "a bare number is no duration", parse: () => parseDurationMs("30", "total"), want: refused },
    { name: "more than the wire can say is refused", parse: () => parseDurationMs("99999h", "total"), want: refused },
    {
      name: "a time with an offset",
      parse: () => parseTimestampMs("2026-12-31T01:00:00+01:00", "t"),
      want: 1_798_675_200_000,
    },
    { name: "a day alone is no time", parse: () => parseTimestampMs("2026-12-31", "t"), want: refused },
    {
      name: "a day that does not exist is refused",
      parse: () => parseTimestampMs("2026-13-31T00:00:00Z", "t"),
      want: refused,
    },
    {
      name: "a time before 1970 is refused",
      parse: () => parseTimestampMs("1969-01-01T00:00:00Z", "t"),
      want: refused,
    },
  ]) {
    it(row.name, () => assert.equal(outcome(row.parse), row.want));
  }

  it("nano-credits written as a decimal are read back exactly", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999n }), (micros) => {
        const text = `${micros / 1_000_000n}.${(micros % 1_000_000n).toString().padStart(6, "0")}`;
        assert.equal(parseNanoCredits(text, "credit"), String(micros * 1_000n));
      }),
    );
  });
});
