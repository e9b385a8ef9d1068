/** The paths for sound, with both generations of the official SDK and without one. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { toFile } from "openai-7";
import { secondsOfWav, wavHeader } from "#examples/demo-upstream/audio/wav";
import { list, member, text } from "#examples/demo-upstream/json-view";
import { genaiGenerations, openaiGenerations } from "#test/support/official-clients";
import { eventsOf, type RunningDemoUpstream, startDemoUpstream } from "#test/support/start-demo-upstream";

/** Samples of 16 bits. */
function samplesOf(pcm: Buffer): number[] {
  return Array.from({ length: pcm.length / 2 }, (_, index) => pcm.readInt16LE(index * 2));
}

/** How often a wave goes up through zero: twice as often for a tone an octave higher. */
function rises(samples: readonly number[]): number {
  return samples.filter((sample, index) => sample > 0 && (samples[index - 1] ?? 0) <= 0).length;
}

describe("demo upstream, sound", () => {
  let demo: RunningDemoUpstream;
  const oneSecond = Buffer.concat([wavHeader(48_000), Buffer.alloc(48_000)]);

  before(async () => {
    demo = await startDemoUpstream();
  });

  after(() => demo.close());

  async function speak(body: object): Promise<Buffer> {
    const response = await demo.post("/v1/audio/speech", { model: "m", voice: "alloy", ...body });
    assert.equal(response.status, 200);
    return Buffer.from(await response.arrayBuffer());
  }

  it("speaks for as long as the text is, and faster when asked", async () => {
    assert.equal(secondsOfWav(await speak({ input: "x".repeat(40) })), 2);
    assert.equal(secondsOfWav(await speak({ input: "x".repeat(40), speed: 2 })), 1);
  });

  it("speaks letters at different pitches, and rests between words", async () => {
    const [low, rest, high] = await Promise.all(
      ["a", " a", "m"].map(async (input) => samplesOf(await speak({ input, response_format: "pcm" }))),
    );
    assert.ok(rises(high ?? []) > 1.5 * rises(low ?? []));
    assert.ok((rest ?? []).slice(0, 1200).every((sample) => sample === 0));
    assert.equal(rest?.length, 2400);
  });

  for (const { name, load } of openaiGenerations) {
    const create = () => new (load())({ baseURL: `${demo.origin}/v1`, apiKey: "demo", maxRetries: 0 });

    it(`gives a WAV file, and the same sound as events, for ${name}`, async () => {
      const spoken = await create().audio.speech.create({
        model: "m",
        voice: "alloy",
        input: "Hello there, world.",
        response_format: "wav",
      });
      assert.equal(spoken.headers.get("content-type"), "audio/wav");
      const whole = Buffer.from(await spoken.arrayBuffer());
      const response = await demo.post("/v1/audio/speech", {
        model: "m",
        input: "Hello there, world.",
        stream_format: "sse",
      });
      assert.match(response.headers.get("content-type") ?? "", /event-stream/);
      const events = eventsOf(await response.text());
      const audio = events.map((event) => Buffer.from(text(member(event, "audio")) ?? "", "base64"));
      assert.ok(Buffer.concat(audio).equals(whole));
      assert.ok(audio.length > 2);
      assert.deepEqual(member(events.at(-1), "usage"), { input_tokens: 5, output_tokens: 19, total_tokens: 24 });
    });

    it(`says how much it heard, whole and streamed, for ${name}`, async () => {
      const file = await toFile(oneSecond, "one.wav", { type: "audio/wav" });
      const heard = await create().audio.transcriptions.create({ model: "gpt-demo-transcribe", file });
      assert.equal(heard.text, "The demo upstream heard 1.0 seconds in 48044 bytes of audio/wav.");
      assert.equal(heard.usage?.type, "tokens");
      const events = [];
      for await (const event of await create().audio.transcriptions.create({ model: "m", file, stream: true }))
        events.push(event);
      const said = events.map((event) => (event.type === "transcript.text.delta" ? event.delta : "")).join("");
      assert.equal(said, heard.text);
      const last = events.at(-1);
      assert.ok(last?.type === "transcript.text.done");
      assert.deepEqual([last.text, last.usage?.input_tokens], [heard.text, 10]);
    });

    it(`translates for ${name}`, async () => {
      const file = await toFile(oneSecond, "one.wav", { type: "audio/wav" });
      const heard = await create().audio.translations.create({
        model: "whisper-1",
        file,
        response_format: "verbose_json",
      });
      assert.match(heard.text, /1\.0 seconds/);
      assert.equal(member(heard, "task"), "translate");
    });
  }

  async function transcribe(fields: Readonly<Record<string, string>>, bytes = oneSecond): Promise<string> {
    const form = new FormData();
    form.set("file", new Blob([Uint8Array.from(bytes)], { type: "audio/wav" }), "one.wav");
    for (const [name, value] of Object.entries({ model: "m", ...fields })) form.set(name, value);
    const response = await demo.post("/v1/audio/transcriptions", form);
    assert.equal(response.status, 200);
    return response.text();
  }

  for (const [format, wanted] of [
    ["text", /^The demo upstream heard 1\.0 seconds .*\n$/],
    ["srt", /^1\n00:00:00,000 --> 00:00:01,000\nThe demo upstream/],
    ["vtt", /^WEBVTT\n\n00:00:00\.000 --> 00:00:01\.000\nThe demo upstream/],
    ["verbose_json", /"duration":1,.*"segments":\[\{.*"usage":\{"type":"duration","seconds":1\}/],
    ["diarized_json", /"speaker":"A","start":0,"end":1/],
  ] as const) {
    it(`writes a transcript as ${format}`, async () =>
      assert.match(await transcribe({ response_format: format }), wanted));
  }

  it("bills whisper by the second, and does not stream it", async () => {
    const heard: unknown = JSON.parse(await transcribe({ model: "whisper-1", stream: "true" }));
    assert.deepEqual(member(heard, "usage"), { type: "duration", seconds: 1 });
  });

  it("estimates how long a file plays that is no WAV", async () => {
    const heard: unknown = JSON.parse(await transcribe({ response_format: "verbose_json" }, Buffer.alloc(8000)));
    assert.equal(member(heard, "duration"), 2);
  });

  for (const [name, path, body, param] of [
    ["speech without a text", "speech", { model: "m" }, "input"],
    ["speech as mp3", "speech", { model: "m", input: "a", response_format: "mp3" }, "response_format"],
    ["speech that is too fast", "speech", { model: "m", input: "a", speed: 5 }, "speed"],
    ["speech of a whole book", "speech", { model: "m", input: "a".repeat(4097) }, "input"],
    ["a transcription without a file", "transcriptions", { model: "m" }, "file"],
    [
      "a translation with speakers",
      "translations",
      { model: "m", response_format: "diarized_json" },
      "response_format",
    ],
  ] as const) {
    it(`refuses ${name}, and says what it takes`, async () => {
      const response = await demo.post(`/v1/audio/${path}`, body);
      assert.equal(response.status, 400);
      assert.equal(member(member(await response.json(), "error"), "param"), param);
    });
  }

  for (const [name, bytes, seconds] of [
    [
      "another chunk before the sound",
      Buffer.concat([oneSecond.subarray(0, 36), Buffer.from("LIST\u0003\0\0\0abc\0"), oneSecond.subarray(36)]),
      1,
    ],
    ["a length beyond the end of the file", oneSecond.subarray(0, 24_044), 0.5],
    ["no sound", oneSecond.subarray(0, 36), undefined],
    ["no format", Buffer.concat([oneSecond.subarray(0, 12), oneSecond.subarray(36)]), undefined],
    ["nothing of a WAV file", Buffer.from("ID3"), undefined],
  ] as const) {
    it(`reads the length of a file with ${name}`, () => assert.equal(secondsOfWav(bytes), seconds));
  }

  for (const { name, load } of genaiGenerations) {
    it(`speaks raw PCM for ${name}`, async () => {
      const client = new (load())({ apiKey: "demo", httpOptions: { baseUrl: demo.origin } });
      const reply = await client.models.generateContent({
        model: "m-tts",
        contents: "Hello",
        config: { responseModalities: ["AUDIO"] },
      });
      const [part, ...others] = reply.candidates?.[0]?.content?.parts ?? [];
      assert.equal(others.length, 0);
      assert.equal(part?.inlineData?.mimeType, "audio/L16;codec=pcm;rate=24000");
      assert.equal(Buffer.from(part?.inlineData?.data ?? "", "base64").length, 5 * 2400);
      assert.deepEqual(list(member(reply.usageMetadata, "candidatesTokensDetails")), [
        { modality: "AUDIO", tokenCount: 7 },
      ]);
    });
  }
});
