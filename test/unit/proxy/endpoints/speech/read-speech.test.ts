import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { readSpeech } from "#proxy/endpoints/speech/read-speech";
import { defaultLimits } from "#proxy/limits";

const endpoint = { protocol: "OpenAI", format: "Speech", capability: "Speech" } as const;

function charactersOf(input: string): number {
  const body = Buffer.from(JSON.stringify({ model: "m", input, voice: "alloy" }));
  return readSpeech(body, endpoint, defaultLimits).characters;
}

describe("readSpeech()", () => {
  it("counts code points, of every script", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (input) => {
        assert.equal(charactersOf(input), [...input].length);
      }),
    );
  });
});
