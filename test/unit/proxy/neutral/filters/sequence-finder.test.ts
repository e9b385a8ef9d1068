import assert from "node:assert/strict";
import fc from "fast-check";
import { SequenceFinder } from "#proxy/neutral/filters/sequence-finder";

/** Where the first sequence ends, and the longest that ends there: found the slow way. */
function firstEnd(sequences: readonly string[], text: string): { end: number; found: string } | undefined {
  for (let end = 1; end <= text.length; end += 1) {
    const whole = sequences.filter((sequence) => text.slice(0, end).endsWith(sequence));
    const [longest] = whole.sort((one, other) => other.length - one.length);
    if (longest !== undefined) return { end, found: longest };
  }
  return undefined;
}

/** The longest end of a text that begins a sequence. */
function waiting(sequences: readonly string[], text: string): string {
  for (let from = 0; from < text.length; from += 1) {
    if (sequences.some((sequence) => sequence.startsWith(text.slice(from)))) return text.slice(from);
  }
  return "";
}

const word = (maxLength: number) => fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength });

describe("SequenceFinder", () => {
  it("finds the first of its sequences, wherever the pieces end, and knows what may begin one", () => {
    fc.assert(
      fc.property(
        fc.array(word(5), { minLength: 1, maxLength: 4 }),
        fc.array(word(6), { maxLength: 5 }),
        (sequences, pieces) => {
          const finder = new SequenceFinder(sequences);
          const want = firstEnd(sequences, pieces.join(""));
          let place = finder.start;
          let read = 0;
          for (const piece of pieces) {
            const step = finder.read(place, piece);
            place = step.place;
            read += step.characters;
            if (place.found !== undefined) break;
          }
          if (want === undefined) {
            assert.equal(place.found, undefined);
            assert.equal(place.sequence.slice(0, place.length), waiting(sequences, pieces.join("")));
          } else assert.deepEqual({ end: read, found: place.found }, want);
        },
      ),
    );
  });

  for (const [name, sequences, piece] of [
    ["one that nearly fits everywhere", [`${"a".repeat(16_000)}b`], `${"a".repeat(16_000)}c`],
    ["many that nearly fit everywhere", Array.from({ length: 256 }, (_, index) => `${"a".repeat(60)}${index}`), "aa b"],
  ] as const) {
    it(`reads a long text in little time, looking for ${name}`, () => {
      const finder = new SequenceFinder(sequences);
      const startedMs = performance.now();
      let { start: place } = finder;
      for (let characters = 0; characters < 2_000_000; characters += piece.length) {
        place = finder.read(place, piece).place;
        assert.equal(place.found, undefined);
      }
      assert.ok(performance.now() - startedMs < 2_000, `${performance.now() - startedMs} ms`);
    });
  }
});
