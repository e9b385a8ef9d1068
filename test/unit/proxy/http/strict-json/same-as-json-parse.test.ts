import assert from "node:assert/strict";
import { isUtf8 } from "node:buffer";
import fc from "fast-check";
import { assertReadsAs, refusal, scan } from "#test/support/scan-json";

/** JSON.parse on strict UTF-8; undefined when it refuses. */
function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** Refusals that `JSON.parse` does not share, as the head of strict-json.ts lists them. */
const stricter = /top level|occurs twice|half of a surrogate|must be spelled|levels of nesting/;

describe("scanJsonObject against JSON.parse", () => {
  const text = fc
    .tuple(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), fc.nat(3))
    .map(([value, indent]) => JSON.stringify(value, undefined, indent));

  it("reads every member of every object alike", () => {
    fc.assert(
      fc.property(text, (source) => {
        const message = refusal(source);
        if (message === undefined) assertReadsAs(scan(source), JSON.parse(source));
        else assert.match(message, stricter);
      }),
      { numRuns: 2_000 },
    );
  });

  it("reads escapes in a row alike, wherever they lie in memory", () => {
    const simple = ["\\n", "\\t", '\\"', "\\\\", "\\/", "\\b"];
    const piece = fc.constantFrom(
      ...simple,
      ...simple,
      ...simple,
      "\\u0041",
      "\\uD83D\\uDE00",
      "\\x",
      "\\u00g0",
      "\\",
      "a",
    );
    const pieces = fc.array(piece, { minLength: 1, maxLength: 24 });
    fc.assert(
      fc.property(pieces, fc.boolean(), fc.nat(7), fc.nat(3), (parts, isClosed, shift, padding) => {
        const source = `{"${"k".repeat(padding + 1)}":"${parts.join("")}${isClosed ? '"}' : ""}`;
        const bytes = Buffer.concat([Buffer.alloc(shift, "\\"), Buffer.from(source)]).subarray(shift);
        const value = parse(bytes);
        const message = refusal(bytes);
        if (message === undefined) assertReadsAs(scan(bytes), value);
        else if (value !== undefined) assert.match(message, stricter, source);
      }),
      { numRuns: 10_000 },
    );
  });

  it("accepts and refuses the same mutated bytes", () => {
    const edit = fc.tuple(
      fc.nat(),
      fc.nat(2),
      fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('{}[]",:\\0-.e \n'))),
    );
    fc.assert(
      fc.property(text, fc.array(edit, { minLength: 1, maxLength: 3 }), (source, edits) => {
        const bytes = [...Buffer.from(source)];
        for (const [position, removed, byte] of edits) bytes.splice(position % (bytes.length + 1), removed, byte);
        const mutated = Buffer.from(bytes);
        const message = refusal(mutated);
        const value = parse(mutated);
        if (message === undefined) assertReadsAs(scan(mutated), value);
        else if (value !== undefined) assert.match(message, stricter, mutated.toString());
      }),
      { numRuns: 10_000 },
    );
  });
});
