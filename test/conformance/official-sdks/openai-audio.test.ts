/** OpenAI's official SDK, two generations: speech as bytes and as events, transcriptions and translations. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import type OpenAI from "openai-7";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";
import { at } from "#test/support/digest/facts";
import { FakeUpstream, type ReceivedRequest, type ScriptedReply } from "#test/support/fake-upstream";
import { openaiGenerations } from "#test/support/official-clients";
import { mp3Of, wavOf } from "#test/support/sounds";

const sound = mp3Of(60);
const usage = { input_tokens: 14, output_tokens: 101, total_tokens: 115 };
const heard = { type: "tokens" as const, input_tokens: 70, output_tokens: 3, total_tokens: 73 };

function eventsOf(events: readonly object[]): ScriptedReply {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return { body, headers: { "content-type": "text/event-stream" }, fragmentBytes: 500 };
}

/** An upstream that replies as OpenAI does to each of the calls below. */
function reply({ target, body }: ReceivedRequest): ScriptedReply {
  const asked = body.toString("latin1");
  if (target.endsWith("/speech")) {
    if (asked.includes("cut me")) return { body: sound, headers: { "content-type": "audio/mpeg" }, cutAt: 10_000 };
    const audio = sound.toString("base64");
    return asked.includes('"sse"')
      ? eventsOf([
          { type: "speech.audio.delta", audio },
          { type: "speech.audio.done", usage },
        ])
      : { body: sound, headers: { "content-type": "audio/mpeg" }, fragmentBytes: 5_000 };
  }
  const text = target.endsWith("/translations") ? "Hello in English" : "Hello";
  if (asked.includes("\r\n\r\nsrt\r\n")) {
    return { body: `1\n00:00:00,000 --> 00:00:01,000\n${text}\n`, headers: { "content-type": "text/plain" } };
  }
  if (asked.includes("as Mistral does")) {
    const told = { prompt_audio_seconds: 7, prompt_tokens: 0, completion_tokens: 3, total_tokens: 73 };
    return eventsOf([
      { type: "transcription.language", audio_language: "en" },
      { type: "transcription.text.delta", text },
      { type: "transcription.done", model: "voxtral", text, language: "en", segments: [], usage: told },
    ]);
  }
  if (asked.includes('name="stream"')) {
    const delta = { type: "transcript.text.delta", delta: text };
    return eventsOf([delta, { type: "transcript.text.done", text, usage: heard }]);
  }
  return { body: JSON.stringify({ text, usage: heard }) };
}

describe("official SDKs: audio", function () {
  this.timeout(20_000);
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start(reply);
    const formats = [{ type: "Speech" }, { type: "Transcriptions" }, { type: "Translations" }];
    gateway = await InProcessGateway.start({
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        channelManifest("audio", upstream.origin, { formats }),
        routeManifest("audio", {
          capabilities: ["Speech", "Transcription", "Translation"],
          failover: { maxAttempts: 1 },
        }),
      ),
    });
  });
  after(async () => {
    await gateway?.close();
    await upstream?.close();
  });

  for (const { name, load } of openaiGenerations) {
    const create = (): OpenAI =>
      new (load())({ baseURL: `${gateway.origin}/v1`, apiKey: clientKey("main"), maxRetries: 0 });
    const spoken = { model: "audio", input: "Hello", voice: "alloy" };
    const file = (): File => new File([new Uint8Array(wavOf(1))], "hello.wav", { type: "audio/wav" });

    it(`${name} gets speech as bytes`, async () => {
      const response = await create().audio.speech.create({ ...spoken, response_format: "mp3" });
      assert.equal(response.headers.get("content-type"), "audio/mpeg");
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(sound));
    });

    it(`${name} gets speech as events`, async () => {
      const response = await create().audio.speech.create({ ...spoken, stream_format: "sse" });
      const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
      const events: unknown[] = lines.map((line) => JSON.parse(line.slice(6)));
      assert.ok(Buffer.from(String(at(events[0], "audio")), "base64").equals(sound));
      assert.deepEqual(events.at(-1), { type: "speech.audio.done", usage });
    });

    it(`${name} fails to read speech that was cut`, async () => {
      const response = await create().audio.speech.create({ ...spoken, input: "cut me" });
      await assert.rejects(response.arrayBuffer());
    });

    it(`${name} raises for a speed beyond the range`, async () => {
      const asked = create().audio.speech.create({ ...spoken, speed: 9 });
      await assert.rejects(asked, { status: 400, code: "invalid_value", param: "speed" });
    });

    it(`${name} gets a transcription as JSON and as text`, async () => {
      const client = create().audio.transcriptions;
      const whole = await client.create({ file: file(), model: "audio" });
      assert.deepEqual([whole.text, at(whole, "usage")], ["Hello", heard]);
      const lines = await client.create({ file: file(), model: "audio", response_format: "srt" });
      assert.match(String(lines), /-->/);
    });

    for (const prompt of ["as OpenAI does", "as Mistral does"]) {
      it(`${name} gets a transcription as a stream, where its upstream writes ${prompt}`, async () => {
        const asked = { file: file(), model: "audio", stream: true as const, prompt };
        let text = "";
        let last: unknown;
        for await (const event of await create().audio.transcriptions.create(asked)) {
          if (event.type === "transcript.text.delta") text += event.delta;
          last = event;
        }
        assert.deepEqual([text, at(last, "type"), at(last, "text")], ["Hello", "transcript.text.done", "Hello"]);
        const [input, output] = [at(last, "usage", "input_tokens"), at(last, "usage", "output_tokens")];
        assert.deepEqual([input, output], [heard.input_tokens, heard.output_tokens]);
      });
    }

    it(`${name} gets a translation`, async () => {
      const whole = await create().audio.translations.create({ file: file(), model: "audio" });
      assert.equal(whole.text, "Hello in English");
    });

    it(`${name} raises for a file that is no recording`, async () => {
      const picture = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 0])], "a.mp3");
      const asked = create().audio.transcriptions.create({ file: picture, model: "audio" });
      await assert.rejects(asked, { status: 400, code: "invalid_value", param: "file" });
    });
  }
});
