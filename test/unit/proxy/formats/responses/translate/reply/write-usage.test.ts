import assert from "node:assert/strict";
import { readUsage } from "#proxy/formats/responses/native/read-usage";
import { writeUsage } from "#proxy/formats/responses/translate/reply/write-usage";
import { zeroUsage } from "#proxy/settle/usage";

describe("responses: writeUsage", () => {
  for (const row of [
    {
      name: "pitfall 119: cached and written tokens are part of the input",
      usage: { ...zeroUsage, input: 10, cacheRead: 90, cacheWrite: 5, output: 7 },
      want: [105, 90, 5, 7, 0, 112],
    },
    {
      name: "pitfall 121: thoughts are part of the output",
      usage: { ...zeroUsage, input: 1, output: 20, reasoning: 30 },
      want: [1, 0, 0, 50, 30, 51],
    },
    { name: "is zeros where nobody told", usage: undefined, want: [0, 0, 0, 0, 0, 0] },
    {
      name: "counts what is kept for an hour as written",
      usage: { ...zeroUsage, cacheWrite: 2, cacheWrite1h: 3 },
      want: [5, 0, 5, 0, 0, 5],
    },
  ]) {
    it(row.name, () => {
      const [input, cached, written, output, reasoning, total] = row.want;
      assert.deepEqual(writeUsage(row.usage), {
        input_tokens: input,
        input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
        output_tokens: output,
        output_tokens_details: { reasoning_tokens: reasoning },
        total_tokens: total,
      });
    });
  }

  it("pitfall 119: is read back as it was", () => {
    const usage = { ...zeroUsage, input: 10, cacheRead: 90, cacheWrite: 5, output: 7, reasoning: 3 };
    assert.deepEqual(readUsage({ usage: writeUsage(usage) }), usage);
  });

  for (const row of [
    { name: "a part larger than its whole", details: { reasoning_tokens: 9 }, want: { output: 0, reasoning: 5 } },
    { name: "null", details: { reasoning_tokens: null }, want: { output: 5, reasoning: 0 } },
  ]) {
    it(`pitfall 122: ${row.name} makes no number negative`, () => {
      const read = readUsage({ usage: { input_tokens: 1, output_tokens: 5, output_tokens_details: row.details } });
      assert.deepEqual({ output: read?.output, reasoning: read?.reasoning }, row.want);
    });
  }
});
