import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { likelyMilliseconds, reservedMilliseconds, tokensOfSound } from "#proxy/endpoints/speech/estimate-speech";
import { kindOfReply, namedSoundType, typeOfFormat } from "#proxy/endpoints/speech/sound-types";

describe("the length of speech by its text", () => {
  for (const row of [
    { name: "a second at least", input: "Hi", speed: 1, want: 1_000 },
    { name: "a sentence of English", input: "The quick brown fox jumps over the lazy dog.", speed: 1, want: 3_168 },
    {
      name: "the same at half the speed",
      input: "The quick brown fox jumps over the lazy dog.",
      speed: 0.5,
      want: 6_336,
    },
    { name: "Chinese, by its bytes", input: "敏捷的棕色狐狸跳过懒狗。", speed: 1, want: 2_592 },
  ]) {
    it(`is ${row.name}`, () => assert.equal(likelyMilliseconds(row), row.want));
  }

  it("is reserved with room, grows with the text and falls with the speed", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.double({ min: 0.25, max: 4, noNaN: true }), (input, more, speed) => {
        const text = { input, speed };
        assert.ok(reservedMilliseconds(text) > likelyMilliseconds(text));
        assert.ok(likelyMilliseconds({ input: input + more, speed }) >= likelyMilliseconds(text));
        assert.ok(likelyMilliseconds({ input, speed: 4 }) <= likelyMilliseconds(text));
        assert.ok(Number.isInteger(tokensOfSound(likelyMilliseconds(text))));
      }),
    );
  });
});

describe("types of sound", () => {
  it("are those of OpenAI's formats, and bytes for a vendor's", () => {
    const types = [undefined, "mp3", "opus", "aac", "flac", "wav", "pcm", "pcm_8000", "constructor"].map(typeOfFormat);
    const bytes = "application/octet-stream";
    const known = ["audio/mpeg", "audio/mpeg", "audio/ogg", "audio/aac", "audio/flac", "audio/wav", "audio/pcm"];
    assert.deepEqual(types, [...known, bytes, bytes]);
  });

  it("tell sound from events and from everything else", () => {
    for (const type of [
      "audio/mpeg",
      "Audio/L16; rate=24000",
      "video/mp4",
      "application/ogg",
      "binary/octet-stream",
      "",
    ]) {
      assert.equal(kindOfReply(type), "sound", type);
    }
    for (const type of ["text/event-stream", "text/event-stream; charset=utf-8"])
      assert.equal(kindOfReply(type), "events");
    for (const type of ["application/json", "text/html", "text/plain", "application/xml", "audiox"]) {
      assert.equal(kindOfReply(type), "other", type);
    }
  });

  it("are taken from an upstream where it names one", () => {
    assert.equal(namedSoundType("audio/L16; rate=24000"), "audio/L16; rate=24000");
    for (const type of ["application/octet-stream", "", "audio/", "audio/x\r\ny: z"]) {
      assert.equal(namedSoundType(type), undefined, type);
    }
  });
});
