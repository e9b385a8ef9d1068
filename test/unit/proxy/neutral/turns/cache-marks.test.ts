import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { CacheHint, Part, ResultPart, TextPart } from "#proxy/neutral/conversation";
import { Losses } from "#proxy/neutral/losses/losses";
import { lastCache, type MarkAbility, markedResult, placeMarks } from "#proxy/neutral/turns/cache-marks";

const text = (cache?: CacheHint): TextPart => ({ kind: "text", text: "x", cache });
const result = (cache: CacheHint | undefined, ...content: TextPart[]): ResultPart => {
  return { kind: "result", callId: "c", content, cache };
};

describe("lastCache()", () => {
  it("is the mark that reaches furthest", () =>
    assert.deepEqual(lastCache([text({ ttl: "1h" }), text({ ttl: "5m" }), text()]), { ttl: "5m" }));

  it("is none where there is none", () => assert.equal(lastCache([text()]), undefined));
});

describe("markedResult()", () => {
  it("puts a mark inside of a result at its end", () =>
    assert.deepEqual(
      markedResult(result(undefined, text({ ttl: "1h" }), text())),
      result({ ttl: "1h" }, text(), text()),
    ));

  it("keeps the result's own mark", () =>
    assert.deepEqual(markedResult(result({ ttl: "5m" }, text({ ttl: "1h" }))), result({ ttl: "5m" }, text())));

  it("leaves one without marks inside as it is", () => {
    const own = result({}, text());
    assert.equal(markedResult(own), own);
  });
});

describe("placeMarks()", () => {
  const ability: MarkAbility = {
    takes: ({ isBreakpoint }) => isBreakpoint === true,
    hasPlace: ({ kind }) => kind === "text",
    isBlank: (said) => said === "",
  };
  const own = (said: string, ttl?: string): TextPart => ({
    kind: "text",
    text: said,
    where: `at.${said}`,
    cache: { ...(ttl === undefined ? {} : { ttl }), isBreakpoint: true },
  });
  const thinking: Part = { kind: "reasoning", text: "T", where: "at.T", cache: { isBreakpoint: true } };

  for (const row of [
    { name: "leaves one that is taken", parts: [own("a")], want: [{ isBreakpoint: true }], dropped: [] },
    { name: "drops those of another spelling", parts: [text({})], want: [undefined], dropped: ["cache_control"] },
    {
      name: "declares one without a place by its path",
      parts: [thinking],
      want: [undefined],
      dropped: ["at.T.prompt_cache_breakpoint"],
    },
    {
      name: "moves that of a blank text to the part before, which keeps its own",
      parts: [own("a", "12h"), own("", "30m"), text(), own("")],
      want: [{ ttl: "12h", isBreakpoint: true }, undefined, { isBreakpoint: true }, undefined],
      dropped: [],
    },
    {
      name: "declares that of a blank text behind what has no place",
      parts: [thinking, own("")],
      want: [undefined, undefined],
      dropped: ["at.T.prompt_cache_breakpoint", "at..prompt_cache_breakpoint"],
    },
  ]) {
    it(row.name, () => {
      const losses = new Losses("Ignore");
      const [turn] = placeMarks([{ role: "user", parts: row.parts }], ability, losses);
      assert.deepEqual(
        turn?.parts.map(({ cache }) => cache),
        row.want,
      );
      assert.deepEqual(losses.dropped, row.dropped);
    });
  }
});
