import assert from "node:assert/strict";
import fc from "fast-check";
import { matchesAnyPattern } from "#proxy/authorize/model-pattern";

describe("matchesAnyPattern", () => {
  const rows: [patterns: string[], model: string, want: boolean][] = [
    [[], "gpt-x", false],
    [["*"], "gpt-x", true],
    [["gpt-x"], "gpt-x", true],
    [["gpt-x"], "gpt-x-mini", false],
    [["gpt-x"], "GPT-x", false],
    [["gpt-*"], "gpt-x", true],
    [["gpt-*"], "gpt-", true],
    [["gpt-*"], "gpt", false],
    [["gpt-*"], "my-gpt-x", false],
    [["*-mini"], "gpt-mini", true],
    [["*-mini"], "gpt-mini-2", false],
    [["a", "b*", "*c"], "xc", true],
    [["a", "b*", "*c"], "ax", false],
    [["a*c"], "abc", false],
    [["a*c"], "a*c", true],
    [["a.c"], "abc", false],
    [["a?c", "[a-c]", "a+", "^a$"], "a", false],
    [["gpt-x"], "gpt-x ", false],
    [["gpt-x"], "gpt-x.", false],
    [["gpt-x"], "models/gpt-x", false],
    [["gpt-4"], "gpt-\uff14", false],
    [["kimi"], "\u212aimi", false],
    [["gpt-x"], "gpt\u200b-x", false],
    [["gpt-x"], "\u202egpt-x", false],
    [["caf\u00e9"], "cafe\u0301", false],
    [["__proto__"], "constructor", false],
  ];
  for (const [patterns, model, want] of rows) {
    it(`${want ? "matches" : "does not match"} ${JSON.stringify(model)} with ${JSON.stringify(patterns)}`, () => {
      assert.equal(matchesAnyPattern(patterns, model), want);
    });
  }

  it("agrees with an anchored expression on 100,000 random patterns and names", () => {
    const word = fc
      .array(fc.constantFrom("a", "b", "-", ".", "*", "/"), { maxLength: 4 })
      .map((letters) => letters.join(""));
    const literal = word.map((text) => text.replaceAll("*", ""));
    const pattern = fc.oneof(
      literal,
      literal.map((text) => `${text}*`),
      literal.map((text) => `*${text}`),
    );
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 3 }), word, (patterns, model) => {
        const want = patterns.some((one) => {
          const source = one.replace(/[.*/-]/g, (character) => (character === "*" ? ".*" : `\\${character}`));
          return new RegExp(`^${source}$`, "s").test(model);
        });
        assert.equal(matchesAnyPattern(patterns, model), want);
      }),
      { numRuns: 100_000 },
    );
  }).timeout(20_000);
});
