import assert from "node:assert/strict";
import fc from "fast-check";
import { readUsage } from "#proxy/formats/messages/native/read-usage";
import { writeUsage } from "#proxy/formats/messages/translate/reply/write-usage";
import { inputTokens, outputTokens, zeroUsage } from "#proxy/settle/usage";

describe("writeUsage() of messages", () => {
  it("pitfall 119: tells prompt tokens without the cached ones", () => {
    assert.deepEqual(
      writeUsage({ ...zeroUsage, input: 10, cacheRead: 90, cacheWrite: 5, output: 17, reasoning: 20 }, 1),
      {
        input_tokens: 10,
        cache_creation_input_tokens: 5,
        cache_read_input_tokens: 90,
        output_tokens: 37,
        output_tokens_details: { thinking_tokens: 20 },
      },
    );
  });
  it("pitfall 120: sums to the whole prompt", () => {
    const written = writeUsage({ ...zeroUsage, input: 4, audioInput: 3, imageInput: 2, cacheRead: 8 }, 1);
    assert.equal(written["input_tokens"], 9);
    assert.equal(written["cache_read_input_tokens"], 8);
  });
  it("pitfall 45: tells numbers even when nothing is known, the estimate among them", () => {
    assert.deepEqual(writeUsage(undefined, 9), {
      input_tokens: 9,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 0,
    });
  });
  it("tells hours in the cache and searches apart", () => {
    const written = writeUsage({ ...zeroUsage, cacheWrite: 1, cacheWrite1h: 2, searches: 3 }, 1);
    assert.deepEqual(written["cache_creation"], { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 2 });
    assert.deepEqual(written["server_tool_use"], { web_search_requests: 3, web_fetch_requests: 0 });
  });
  it("is read again as what it was, but for classes that the format does not have", () => {
    const count = fc.nat(1_000_000);
    const usage = fc.record({
      input: count,
      cacheRead: count,
      cacheWrite: count,
      cacheWrite1h: count,
      output: count,
      reasoning: count,
      audioInput: count,
      audioOutput: count,
      imageInput: count,
      imageOutput: count,
      searches: count,
    });
    fc.assert(
      fc.property(usage, (given) => {
        const read = readUsage(writeUsage(given, 1));
        assert.ok(read !== undefined);
        assert.equal(inputTokens(read), inputTokens(given));
        assert.equal(outputTokens(read), outputTokens(given));
        for (const name of ["cacheRead", "cacheWrite", "cacheWrite1h", "reasoning", "searches"] as const) {
          assert.equal(read[name], given[name], name);
        }
      }),
    );
  });
});
