import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { readResponseUsage, readTranscriptionUsage } from "#proxy/endpoints/realtime/usage/read-usage";
import { inputTokens, outputTokens, zeroUsage } from "#proxy/settle/usage";

describe("readResponseUsage", () => {
  for (const [name, usage, wanted] of [
    ["nothing", undefined, undefined],
    ["null", null, undefined],
    ["a text", "10", undefined],
    ["an object without a count", {}, undefined],
    ["totals alone", { input_tokens: 10, output_tokens: 5 }, { input: 10, output: 5 }],
    [
      "audio both ways",
      {
        input_tokens: 132,
        output_tokens: 121,
        input_token_details: {
          text_tokens: 119,
          audio_tokens: 13,
          cached_tokens: 64,
          cached_tokens_details: { text_tokens: 64, audio_tokens: 0 },
        },
        output_token_details: { text_tokens: 30, audio_tokens: 91 },
      },
      { input: 55, cacheRead: 64, audioInput: 13, output: 30, audioOutput: 91 },
    ],
    [
      "cached audio, which is not counted as audio again",
      {
        input_tokens: 100,
        input_token_details: { audio_tokens: 80, cached_tokens: 50, cached_tokens_details: { audio_tokens: 50 } },
      },
      { input: 20, cacheRead: 50, audioInput: 30 },
    ],
    [
      "parts that are more than the whole",
      {
        input_tokens: 10,
        input_token_details: { audio_tokens: 80, cached_tokens: 50 },
        output_tokens: 3,
        output_token_details: { audio_tokens: 9 },
      },
      { cacheRead: 10, audioOutput: 3 },
    ],
    ["negative numbers", { input_tokens: -1, output_tokens: -5, input_token_details: { cached_tokens: -3 } }, {}],
    ["texts of digits", { input_tokens: "10", output_tokens: "5" }, { input: 10, output: 5 }],
  ] as const) {
    it(`reads ${name}`, () =>
      assert.deepEqual(readResponseUsage(usage), wanted === undefined ? undefined : { ...zeroUsage, ...wanted }));
  }

  it("never counts more or less than the totals, whatever the parts are", () => {
    const tokens = fc.oneof(fc.nat(1_000), fc.integer({ min: -10, max: 10 }), fc.constant(null));
    const details = fc.record({
      text_tokens: tokens,
      audio_tokens: tokens,
      image_tokens: tokens,
      cached_tokens: tokens,
      cached_tokens_details: fc.record({ text_tokens: tokens, audio_tokens: tokens, image_tokens: tokens }),
    });
    fc.assert(
      fc.property(fc.nat(5_000), fc.nat(5_000), details, details, (input, output, into, out) => {
        const usage = readResponseUsage({
          input_tokens: input,
          output_tokens: output,
          input_token_details: into,
          output_token_details: out,
        });
        assert.ok(usage !== undefined);
        assert.deepEqual([inputTokens(usage), outputTokens(usage)], [input, output]);
        assert.ok(Object.values(usage).every((count) => count >= 0));
      }),
    );
  });
});

describe("readTranscriptionUsage", () => {
  for (const [name, usage, wanted] of [
    ["nothing", undefined, undefined],
    ["seconds", { type: "duration", seconds: 2.5 }, { tokens: zeroUsage, seconds: 2.5 }],
    ["seconds that are none", { type: "duration", seconds: -1 }, { tokens: zeroUsage, seconds: 0 }],
    ["seconds of a year", { type: "duration", seconds: 1e9 }, { tokens: zeroUsage, seconds: 86_400 }],
    [
      "tokens",
      {
        type: "tokens",
        input_tokens: 20,
        input_token_details: { text_tokens: 5, audio_tokens: 15 },
        output_tokens: 10,
      },
      { tokens: { ...zeroUsage, input: 5, audioInput: 15, output: 10 }, seconds: 0 },
    ],
  ] as const) {
    it(`reads ${name}`, () => assert.deepEqual(readTranscriptionUsage(usage), wanted));
  }
});
