import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { CacheHint, ResultPart, TextPart } from "../../../../../proxy/translate/conversation.ts";
import { lastCache, markedResult } from "../../../../../proxy/translate/turns/cache-marks.ts";

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
