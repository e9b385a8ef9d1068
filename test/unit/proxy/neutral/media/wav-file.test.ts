import assert from "node:assert/strict";
import { wavFile } from "#proxy/neutral/media/wav-file";
import { translationOf } from "#test/support/translation/pure-translation";

const samples = Buffer.from([1, 0, 255, 127, 0, 128]);
const base64 = samples.toString("base64");

describe("wavFile()", () => {
  for (const [mime, rate] of [
    ["audio/L16;codec=pcm;rate=16000", 16_000],
    ["audio/l16; rate=48000", 48_000],
    ["audio/pcm", 24_000],
  ] as const) {
    it(`is a file of the samples of ${mime}`, () => {
      const file = Buffer.from(wavFile(mime, base64) ?? "", "base64");
      assert.equal(file.toString("latin1", 0, 4) + file.toString("latin1", 8, 16), "RIFFWAVEfmt ");
      assert.equal(file.readUInt32LE(4), file.length - 8);
      const [form, channels, bits] = [file.readUInt16LE(20), file.readUInt16LE(22), file.readUInt16LE(34)];
      assert.deepEqual([form, channels, bits], [1, 1, 16]);
      assert.deepEqual([file.readUInt32LE(24), file.readUInt32LE(28)], [rate, rate * 2]);
      assert.equal(file.readUInt32LE(40), samples.length);
      assert.deepEqual(file.subarray(44), samples);
    });
  }

  it("is nothing for what is no samples", () => {
    for (const mime of ["audio/mpeg", "image/png", "audio/wav"]) assert.equal(wavFile(mime, base64), undefined);
  });
});

describe("speech of a generateContent upstream for chat clients", () => {
  const part = (data: string): object => ({ inlineData: { mimeType: "audio/L16;codec=pcm;rate=24000", data } });
  const reply = (parts: readonly object[]): Buffer =>
    Buffer.from(
      JSON.stringify({ candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }] }),
    );
  const heard = (format: string, parts: readonly object[]): Buffer => {
    const body = {
      model: "m",
      messages: [{ role: "user", content: "x" }],
      modalities: ["text", "audio"],
      audio: { voice: "Kore", format },
    };
    const translation = translationOf("GenerateContent", "ChatCompletions", body, false);
    const { choices } = JSON.parse(translation.translateReply(reply(parts)).body.toString());
    return Buffer.from(choices[0].message.audio.data, "base64");
  };

  it("is samples or a file, as was asked for; its pieces are one", () => {
    assert.deepEqual(heard("pcm16", [part(base64), part(base64)]), Buffer.concat([samples, samples]));
    const file = heard("wav", [part(base64), part(base64)]);
    assert.equal(file.toString("latin1", 8, 12), "WAVE");
    assert.deepEqual(file.subarray(44), Buffer.concat([samples, samples]));
  });
});
