import assert from "node:assert/strict";
import { audioFormat, audioMime } from "#proxy/neutral/media/audio-format";

describe("audioMime() and audioFormat()", () => {
  for (const { format, mime } of [
    { format: "wav", mime: "audio/wav" },
    { format: "mp3", mime: "audio/mpeg" },
    { format: "flac", mime: "audio/flac" },
    { format: "opus", mime: "audio/ogg" },
    { format: "pcm16", mime: "audio/l16" },
  ]) {
    it(`know ${format} as ${mime} and back`, () => {
      assert.equal(audioMime(format.toUpperCase()), mime);
      assert.equal(audioFormat(mime), format);
    });
  }

  for (const { mime, format } of [
    { mime: "audio/mp3", format: "mp3" },
    { mime: "audio/x-wav", format: "wav" },
    { mime: "Audio/L16;codec=pcm;rate=24000", format: "pcm16" },
    { mime: "image/png", format: undefined },
    { mime: "toString", format: undefined },
  ]) {
    it(`audioFormat() takes ${mime} for ${format ?? "nothing"}`, () => assert.equal(audioFormat(mime), format));
  }

  it("audioMime() does not know inherited names", () => assert.equal(audioMime("constructor"), undefined));
});
