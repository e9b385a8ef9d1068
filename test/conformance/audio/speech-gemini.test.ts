/** `/v1/audio/speech` to Gemini-style upstreams: converted to generateContent, and its samples to what the call asked for. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import type { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import { channelSecret } from "#test/support/conformance/manifests";
import { speak, startSpeechGateway } from "#test/support/conformance/speech-gateway";
import { at } from "#test/support/digest/facts";
import { FakeUpstream } from "#test/support/fake-upstream";
import { wavOf } from "#test/support/sounds";

const samples = Buffer.from(Array.from({ length: 48_000 }, (_, index) => index % 251));
const usageMetadata = {
  promptTokenCount: 9,
  candidatesTokenCount: 25,
  totalTokenCount: 34,
  candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: 25 }],
};

function replyOf(...parts: readonly object[]): object {
  return endedReply("STOP", ...parts);
}

function endedReply(finishReason: string, ...parts: readonly object[]): object {
  return { candidates: [{ content: { role: "model", parts }, finishReason }], usageMetadata };
}

function soundPart(bytes: Buffer, mimeType = "audio/L16;codec=pcm;rate=24000"): object {
  return { inlineData: { mimeType, data: bytes.toString("base64") } };
}

describe("speech of Gemini-style models", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    gateway = await startSpeechGateway(upstream.origin);
  });
  afterEach(() => upstream.forget());
  after(async () => {
    await gateway?.close();
    await upstream?.close();
  });

  const spoken = JSON.stringify(replyOf(soundPart(samples.subarray(0, 20_000)), soundPart(samples.subarray(20_000))));

  it("asks for content that is sound, in the voice and the style of the call", async () => {
    upstream.replyWith({ body: spoken });
    const members = {
      model: "gemini",
      voice: "Kore",
      instructions: "Say cheerfully",
      response_format: "pcm",
      speed: 1,
    };
    const answer = await speak(gateway.origin, members);
    assert.equal(answer.status, 200, answer.body.toString());
    assert.equal(answer.header("content-type"), "audio/pcm");
    assert.equal(answer.header("x-tollgate-dropped"), undefined);
    assert.ok(answer.isComplete && answer.body.equals(samples));
    const [sent] = upstream.requests;
    assert.equal(sent?.target, "/v1beta/models/gemini-upstream:generateContent");
    assert.equal(sent?.headers["x-goog-api-key"], channelSecret);
    assert.deepEqual(sent?.json(), {
      contents: [{ role: "user", parts: [{ text: "Say cheerfully:\nHello you" }] }],
      generationConfig: {
        responseModalities: ["AUDIO"],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
      },
    });
  });

  for (const response_format of ["wav", undefined]) {
    it(`makes a WAV file of the samples where the call asks for ${response_format ?? "no format"}`, async () => {
      upstream.replyWith({ body: spoken });
      const answer = await speak(gateway.origin, { model: "gemini", response_format });
      assert.equal(answer.header("content-type"), "audio/wav");
      assert.ok(answer.body.equals(Buffer.concat([wavOf(1).subarray(0, 44), samples])));
    });
  }

  it("writes events for a client of events, with the usage that was reported", async () => {
    upstream.replyWith({ body: spoken });
    const answer = await speak(gateway.origin, { model: "gemini", response_format: "pcm", stream_format: "sse" });
    const lines = answer.body.toString().split("\n");
    const events = lines.filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6)));
    const heard = Buffer.concat(events.map((event) => Buffer.from(event.audio ?? "", "base64")));
    assert.ok(heard.equals(samples));
    const usage = { input_tokens: 9, output_tokens: 25, total_tokens: 34 };
    assert.deepEqual(events.at(-1), { type: "speech.audio.done", usage });
  });

  it("charges the tokens that are reported, and minutes by the samples", async () => {
    upstream.replyWith({ body: spoken });
    for (const [model, cost] of [
      ["gemini", 9n * 1_000n + 25n * 12_000n],
      ["gemini-minutes", 1_000n * 10_000n],
    ] as const) {
      const answer = await speak(gateway.origin, { model, response_format: "pcm" });
      const record = await gateway.recordOf(String(answer.header("x-request-id")));
      assert.deepEqual([record.costNanos, record.isEstimated, record.units?.audioMilliseconds], [cost, false, 1_000]);
    }
  });

  it("charges a reply that is too long to be read by the text, as an estimate", async () => {
    const narrow = await startSpeechGateway(upstream.origin, { replyBodyBytesMax: 10_000 });
    try {
      upstream.replyWith({ body: spoken });
      for (const [model, milliseconds, audioOutput] of [
        ["gemini-minutes", 72_000, undefined],
        ["gemini", undefined, 1_800],
      ] as const) {
        const answer = await speak(narrow.origin, { model, input: "x".repeat(1_000) });
        assert.equal(answer.status, 502, answer.body.toString());
        const record = await narrow.recordOf(String(answer.header("x-request-id")));
        assert.equal(record.isEstimated, true);
        if (milliseconds !== undefined) assert.equal(record.units?.audioMilliseconds, milliseconds);
        if (audioOutput !== undefined) assert.equal(record.usage?.audioOutput, audioOutput);
      }
    } finally {
      await narrow.close();
    }
  });

  for (const row of [
    { name: "without details as those of sound", told: { promptTokenCount: 9, candidatesTokenCount: 30 }, output: 30 },
    { name: "that nobody tells by the samples", told: { promptTokenCount: 9 }, output: 25, isEstimated: true },
  ]) {
    it(`charges output tokens ${row.name}`, async () => {
      upstream.replyWith({ body: JSON.stringify({ ...replyOf(soundPart(samples)), usageMetadata: row.told }) });
      const answer = await speak(gateway.origin, { model: "gemini", response_format: "pcm" });
      const record = await gateway.recordOf(String(answer.header("x-request-id")));
      assert.deepEqual([record.usage?.output, record.usage?.audioOutput], [0, row.output]);
      assert.equal(record.costNanos, 9n * 1_000n + BigInt(row.output) * 12_000n);
      assert.equal(record.isEstimated, row.isEstimated ?? false);
    });
  }

  for (const format of ["mp3", "opus", "aac", "flac", "json"]) {
    it(`refuses ${format}, which it does not encode, before any upstream is called`, async () => {
      const answer = await speak(gateway.origin, { model: "gemini", response_format: format });
      assert.equal(answer.status, 400);
      const error = at(answer.json(), "error");
      assert.deepEqual([at(error, "code"), at(error, "param")], ["unsupported_parameter", "response_format"]);
      assert.equal(upstream.requests.length, 0);
    });
  }

  for (const [field, members] of [
    ["speed", { speed: 1.5 }],
    ["metadata", { metadata: { trace: "1" } }],
    ["vendor_field", { vendor_field: 1 }],
  ] as const) {
    it(`declares ${field} as dropped, or refuses it where the channel says so`, async () => {
      upstream.replyWith({ body: spoken });
      const answer = await speak(gateway.origin, { model: "gemini", response_format: "pcm", ...members });
      assert.deepEqual([answer.status, answer.header("x-tollgate-dropped")], [200, field]);
      const strict = await speak(gateway.origin, { model: "strict", response_format: "pcm", ...members });
      assert.deepEqual([strict.status, at(strict.json(), "error", "param")], [400, field]);
      assert.equal(upstream.requests.length, 1);
    });
  }

  for (const row of [
    { name: "text in place of sound", body: replyOf({ text: "hello" }), status: 502 },
    { name: "no sound at all", body: { candidates: [{ finishReason: "OTHER" }], usageMetadata: {} }, status: 502 },
    { name: "an encoding that is no samples", body: replyOf(soundPart(samples, "audio/mp3")), status: 502 },
    {
      name: "an error",
      body: { error: { code: 400, message: "no such voice", status: "INVALID_ARGUMENT" } },
      status: 400,
    },
    { name: "the refusal of the text", body: { promptFeedback: { blockReason: "SAFETY" } }, status: 400 },
    { name: "a list", body: [], status: 502 },
    ...["MAX_TOKENS", "OTHER", "MALFORMED_RESPONSE"].map((reason) => ({
      name: `sound that ends with ${reason}`,
      body: endedReply(reason, soundPart(samples)),
      status: 502,
    })),
    ...["SAFETY", "PROHIBITED_CONTENT", "RECITATION"].map((reason) => ({
      name: `sound that ends with ${reason}`,
      body: endedReply(reason, soundPart(samples)),
      status: 400,
    })),
  ]) {
    it(`never passes ${row.name} as sound`, async () => {
      for (const members of [{}, { stream_format: "sse" }]) {
        upstream.replyWith({ body: JSON.stringify(row.body) });
        const answer = await speak(gateway.origin, { model: "gemini", response_format: "pcm", ...members });
        assert.equal(answer.status, row.status, answer.body.toString());
        assert.equal(answer.header("content-type"), "application/json");
      }
    });
  }

  it("lets no half of a reply pass", async () => {
    upstream.replyWith({ body: spoken, framing: "length", cutAt: 5_000 });
    assert.equal((await speak(gateway.origin, { model: "gemini", response_format: "pcm" })).status, 502);
  });
});
