/** What speech is charged: what its upstream reports, else the sound that came, and what came of one that was cut. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import type { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import { leaveHttpCall } from "#test/support/conformance/leave-call";
import { eventsOf, reply, speak, speechCall, startSpeechGateway } from "#test/support/conformance/speech-gateway";
import { FakeUpstream, type ScriptedReply } from "#test/support/fake-upstream";
import { aacOf, flacOf, mp3Of, opusOf, samplesOf, wavOf } from "#test/support/sounds";
import { waitFor } from "#test/support/wait-for";

const sound = mp3Of(100);

describe("speech is charged", () => {
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

  async function billOf(body: object, script: ScriptedReply) {
    upstream.replyWith(script);
    const answer = await speak(gateway.origin, body);
    assert.equal(answer.status, 200, answer.body.toString());
    return gateway.recordOf(String(answer.header("x-request-id")));
  }

  /** Leaves with the first bytes of the response. */
  async function leave(body: object): Promise<void> {
    await leaveHttpCall(speechCall(gateway.origin, body), (begun) => begun);
    await waitFor("the upstream sees the end", () => upstream.requests[0]?.abortedAtMs);
  }

  it("characters, of any script, and the request", async () => {
    const record = await billOf({ input: "héllo 日本 🎈" }, reply(sound));
    assert.equal(record.units?.characters, 10);
    assert.equal(record.costNanos, 10n * 15_000n + 1_000_000n);
    assert.deepEqual([record.format, record.status, record.isStream], ["Speech", 200, true]);
  });

  for (const row of [
    { format: "pcm", body: samplesOf(1.5), milliseconds: 1_500 },
    { format: "wav", body: wavOf(2, { declaredBytes: 0xffff_ffff }), milliseconds: 2_000 },
    { format: "mp3", body: sound, milliseconds: 2_613 },
    { format: "aac", body: aacOf(75), milliseconds: 3_200 },
    { format: "opus", body: opusOf(5), milliseconds: 5_000 },
    { format: "flac", body: flacOf(3), milliseconds: 3_000 },
  ]) {
    it(`minutes of ${row.format}, to the millisecond`, async () => {
      const script = reply(row.body, "application/octet-stream", { fragmentBytes: 10_000 });
      const record = await billOf({ model: "minutes", response_format: row.format }, script);
      assert.equal(record.units?.audioMilliseconds, row.milliseconds);
      assert.equal(record.costNanos, BigInt(row.milliseconds) * 10_000n);
    });
  }

  it("minutes of sound in events, and of events that become bytes", async () => {
    const body = eventsOf([wavOf(2).subarray(0, 20_000), wavOf(2).subarray(20_000)]);
    for (const format of [{ stream_format: "sse" }, {}]) {
      const script = reply(body, "text/event-stream");
      const record = await billOf({ model: "minutes", response_format: "wav", ...format }, script);
      assert.equal(record.costNanos, 2_000n * 10_000n);
    }
  });

  it("minutes of an unknown container by the text, as an estimate", async () => {
    const record = await billOf({ model: "minutes", input: "x".repeat(100) }, reply(Buffer.alloc(5_000, 0x81)));
    assert.equal(record.units?.audioMilliseconds, 7_200);
    assert.deepEqual([record.costNanos, record.isEstimated], [72_000_000n, true]);
  });

  it("tokens that the upstream reports", async () => {
    const script = reply(eventsOf([sound]), "text/event-stream");
    const record = await billOf({ model: "tokens", stream_format: "sse" }, script);
    assert.deepEqual([record.usage?.input, record.usage?.audioOutput], [14, 101]);
    assert.deepEqual([record.costNanos, record.isEstimated], [14n * 1_000n + 101n * 12_000n, false]);
  });

  it("output of which the upstream reports nothing, by the sound that came, as an estimate", async () => {
    const done = { type: "speech.audio.done", usage: { input_tokens: 14 } };
    const body = eventsOf([samplesOf(2), samplesOf(2)], done);
    for (const format of [{ stream_format: "sse" }, {}]) {
      const members = { model: "tokens", response_format: "pcm", ...format };
      const { usage: used, ...record } = await billOf(members, reply(body, "text/event-stream"));
      const { input, audioOutput = 0 } = used ?? {};
      assert.ok(audioOutput >= 100 && audioOutput <= 101, `${audioOutput} tokens`);
      assert.deepEqual([input, record.isEstimated], [14, true]);
      assert.equal(record.costNanos, 14n * 1_000n + BigInt(audioOutput) * 12_000n);
    }
  });

  it("tokens that nobody reports, by the text and the length of the sound, as an estimate", async () => {
    const record = await billOf({ model: "tokens", response_format: "pcm" }, reply(samplesOf(4), "audio/pcm"));
    const { input = 0, audioOutput } = record.usage ?? {};
    assert.equal(audioOutput, 100);
    assert.ok(input >= 2 && input <= 10, `${input} tokens`);
    assert.deepEqual([record.costNanos, record.isEstimated], [BigInt(input) * 1_000n + 1_200_000n, true]);
  });

  for (const cutWith of ["fin", "reset"] as const) {
    for (const framing of ["length", "chunked"] as const) {
      it(`what came of a sound that ends with ${cutWith} before its ${framing} framing does, which never looks complete`, async () => {
        upstream.replyWith(reply(sound, "audio/mpeg", { cutAt: 20_000, cutWith, framing }));
        const answer = await speak(gateway.origin, { model: "minutes", response_format: "mp3" });
        assert.deepEqual([answer.status, answer.isComplete], [200, false]);
        assert.ok(sound.subarray(0, 20_000).subarray(0, answer.body.length).equals(answer.body));
        const record = await gateway.recordOf(String(answer.header("x-request-id")));
        const { audioMilliseconds = 0 } = record.units ?? {};
        assert.ok(audioMilliseconds >= 1_000 && audioMilliseconds <= 1_260, `${audioMilliseconds} ms`);
        assert.deepEqual([record.costNanos, record.isEstimated], [BigInt(audioMilliseconds) * 10_000n, true]);
      });
    }
  }

  it("what came until its client left, and closes the upstream", async () => {
    upstream.replyWith(reply(samplesOf(10), "audio/pcm", { stallAt: 96_000 }));
    await leave({ model: "minutes", response_format: "pcm" });
    const record = await waitFor("the record", () =>
      gateway.records.find(({ route, end }) => route.endsWith("minutes") && end === "CD"),
    );
    const { audioMilliseconds = 0 } = record.units ?? {};
    assert.ok(audioMilliseconds >= 1_000 && audioMilliseconds <= 2_000, `${audioMilliseconds} ms`);
    assert.equal(record.costNanos, BigInt(audioMilliseconds) * 10_000n);
  });

  it("the sound of events that passed until they were cut, or their client left", async () => {
    const pieces = Array.from({ length: 20 }, () => samplesOf(0.5));
    const body = { model: "tokens", input: "Hi", response_format: "pcm", stream_format: "sse" };
    const script = reply(eventsOf(pieces, null), "text/event-stream");
    upstream.replyWith(script);
    const answer = await speak(gateway.origin, body);
    const cut = await gateway.recordOf(String(answer.header("x-request-id")));
    // Ten seconds came; the words of events count as a little more.
    const { audioOutput = 0 } = cut.usage ?? {};
    assert.ok(audioOutput >= 250 && audioOutput <= 252, `${audioOutput} tokens`);
    assert.equal(cut.isEstimated, true);
    upstream.forget();
    upstream.replyWith({ ...script, stallAt: Buffer.byteLength(String(script.body)) - 5 });
    await leave(body);
    const record = await waitFor("the record", () =>
      gateway.records.find(({ route, end }) => route.endsWith("tokens") && end === "CD"),
    );
    const { audioOutput: left = 0 } = record.usage ?? {};
    assert.ok(left >= 25 && left <= 240, `${left} tokens`);
    assert.equal(record.costNanos, BigInt(record.usage?.input ?? 0) * 1_000n + BigInt(left) * 12_000n);
  });
});
