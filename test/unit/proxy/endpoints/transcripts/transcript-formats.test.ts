import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { heardMilliseconds, speechUsage, transcriptUsage } from "#proxy/endpoints/dialects/audio-usage";
import {
  isTranscript,
  isTranscriptText,
  namedTextType,
  typeOfTranscript,
} from "#proxy/endpoints/transcripts/transcript-formats";
import { zeroUsage } from "#proxy/settle/usage";

describe("formats of transcripts", () => {
  for (const [format, text, want] of [
    ["text", "Hello\n", true],
    ["text", "\n", true],
    ["text", "", false],
    ["text", "<!DOCTYPE html>", false],
    ["text", '<?xml version="1.0"?>', false],
    ["srt", "1\n00:00:00,000 --> 00:00:01,000\nHi\n", true],
    ["srt", "\n", true],
    ["srt", "Hello", false],
    ["vtt", "WEBVTT\n\n", true],
    ["vtt", "\ufeffWEBVTT\n", true],
    ["vtt", "1\n00:00 --> 00:01", false],
  ] as const) {
    it(`${JSON.stringify(text)} is ${want ? "" : "not "}a transcript as ${format}`, () => {
      assert.equal(isTranscriptText(text, format), want);
    });
  }

  it("have content types of their own, and those that an upstream names", () => {
    const types = ["json", "text", "srt", "vtt", "constructor"].map(typeOfTranscript);
    const plain = "text/plain; charset=utf-8";
    assert.deepEqual(types, ["application/json", plain, plain, "text/vtt; charset=utf-8", "application/json"]);
    assert.equal(namedTextType("application/x-subrip"), "application/x-subrip");
    for (const type of ["text/html", "", "application/octet-stream", "text/plain\r\nx: y"]) {
      assert.equal(namedTextType(type), undefined, type);
    }
  });

  it("are told from other JSON", () => {
    for (const json of [{ text: "" }, { segments: [] }]) assert.equal(isTranscript(json), true);
    for (const json of [{}, { text: 1 }, [], null, "text"]) assert.equal(isTranscript(json), false);
  });
});

describe("usage of audio", () => {
  it("is read in classes", () => {
    assert.deepEqual(speechUsage({ input_tokens: 14, output_tokens: 101 }), {
      ...zeroUsage,
      input: 14,
      audioOutput: 101,
    });
    const details = { text_tokens: 4, audio_tokens: 70 };
    const usage = { type: "tokens", input_tokens: 74, output_tokens: 12, input_token_details: details };
    assert.deepEqual(transcriptUsage(usage), { ...zeroUsage, input: 4, audioInput: 70, output: 12 });
    assert.deepEqual(transcriptUsage({ input_tokens: 74, output_tokens: 12 }), {
      ...zeroUsage,
      audioInput: 74,
      output: 12,
    });
  });

  it("is read in the words of chat, the sound among the prompt or beside it", () => {
    const counts = { prompt_tokens: 4, completion_tokens: 5, total_tokens: 97 };
    const vLLM = { ...counts, total_tokens: 9 };
    assert.deepEqual(transcriptUsage(vLLM), { ...zeroUsage, audioInput: 4, output: 5 });
    for (const unknown of [undefined, null]) {
      const told = transcriptUsage({ ...counts, prompt_audio_seconds: unknown });
      assert.deepEqual(told, { ...zeroUsage, input: 4, audioInput: 88, output: 5 });
    }
    const mistral = { ...counts, prompt_audio_seconds: 7 };
    assert.deepEqual(transcriptUsage(mistral), { ...zeroUsage, input: 4, audioInput: 88, output: 5 });
    assert.deepEqual(transcriptUsage({ ...mistral, total_tokens: 1 }), { ...zeroUsage, input: 4, output: 5 });
    assert.equal(heardMilliseconds({ usage: mistral }), 7_000);
  });

  it("is none where no tokens are reported", () => {
    for (const usage of [undefined, null, 5, [], { type: "duration", seconds: 7 }]) {
      assert.equal(transcriptUsage(usage), undefined);
    }
    assert.equal(speechUsage("14"), undefined);
  });

  it("is odd numbers' nearest sense, never negative and never more than its whole", () => {
    const details = { text_tokens: 900, audio_tokens: -1 };
    const usage = transcriptUsage({
      type: "tokens",
      input_tokens: 10,
      output_tokens: -5,
      input_token_details: details,
    });
    assert.deepEqual(usage, { ...zeroUsage, input: 10 });
  });

  it("is the seconds of usage before the length of the reply", () => {
    assert.equal(heardMilliseconds({ usage: { type: "duration", seconds: 7 }, duration: 6.5 }), 7_000);
    assert.equal(heardMilliseconds({ duration: "8.47" }), 8_470);
    for (const reply of [{}, { duration: "soon" }, { duration: "" }, { duration: -1 }, { duration: null }, "x"]) {
      assert.equal(heardMilliseconds(reply), undefined, JSON.stringify(reply));
    }
  });
});
