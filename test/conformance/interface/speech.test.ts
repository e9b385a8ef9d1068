/** `/v1/audio/speech` to upstreams that serve the same: sound passes as it comes, restricted, charged and limited. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, afterEach, before, describe, it } from "mocha";
import type { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import { channelSecret, clientKey } from "#test/support/conformance/manifests";
import { speak, startSpeechGateway } from "#test/support/conformance/speech-gateway";
import { at } from "#test/support/digest/facts";
import { FakeUpstream, type ScriptedReply } from "#test/support/fake-upstream";
import { aacOf, flacOf, mp3Of, opusOf, samplesOf, wavOf } from "#test/support/sounds";
import { waitFor } from "#test/support/wait-for";

const sound = mp3Of(100);
const usage = { input_tokens: 14, output_tokens: 101, total_tokens: 115 };

function reply(body: Buffer, type = "audio/mpeg", script: Partial<ScriptedReply> = {}): ScriptedReply {
  return { body, headers: { "content-type": type }, ...script };
}

function eventsOf(pieces: readonly Buffer[], done: object | null = { type: "speech.audio.done", usage }): Buffer {
  const deltas = pieces.map((piece) => ({ type: "speech.audio.delta", audio: piece.toString("base64") }));
  const events = done === null ? deltas : [...deltas, done];
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
}

function dataOf(stream: Buffer): readonly unknown[] {
  const lines = stream.toString().split("\n");
  return lines.filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6)));
}

function heardOf(stream: Buffer): Buffer {
  return Buffer.concat(dataOf(stream).map((event) => Buffer.from(String(at(event, "audio") ?? ""), "base64")));
}

describe("speech", () => {
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

  for (const path of ["/v1/audio/speech", "/audio/speech", "/v1/v1/audio/speech"]) {
    it(`POST ${path} passes the call on under the upstream's name, and the sound back`, async () => {
      upstream.replyWith(reply(sound, "audio/mpeg", { fragmentBytes: 1_000 }));
      const members = { speed: 1.5, instructions: "softly", vendor_field: { deep: 1.0 } };
      const answer = await speak(gateway.origin, members, { path });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.header("content-type"), "audio/mpeg");
      assert.ok(answer.isComplete && answer.body.equals(sound));
      const [sent] = upstream.requests;
      assert.equal(sent?.target, "/v1/audio/speech");
      assert.equal(sent?.headers["authorization"], `Bearer ${channelSecret}`);
      assert.equal(sent?.headers["accept"], "*/*");
      const body = { model: "letters-upstream", input: "Hello you", voice: "alloy", ...members };
      assert.deepEqual(sent?.json(), body);
    });
  }

  for (const row of [
    { format: "mp3", body: sound, upstreamType: "audio/mpeg", type: "audio/mpeg" },
    { format: "opus", body: opusOf(1), upstreamType: "", type: "audio/ogg" },
    { format: "aac", body: aacOf(3), upstreamType: "application/octet-stream", type: "audio/aac" },
    { format: "flac", body: flacOf(1), upstreamType: "audio/flac", type: "audio/flac" },
    { format: "wav", body: wavOf(0.1), upstreamType: "audio/x-wav", type: "audio/x-wav" },
    { format: "pcm", body: samplesOf(0.1), upstreamType: "application/octet-stream", type: "audio/pcm" },
    { format: "vendors_own", body: samplesOf(0.1), upstreamType: "audio/basic", type: "audio/basic" },
    { format: undefined, body: wavOf(0.1), upstreamType: "audio/wav", type: "audio/wav" },
  ]) {
    it(`names the type of ${row.format ?? "the model's own format"} where its upstream says '${row.upstreamType}'`, async () => {
      upstream.replyWith(reply(row.body, row.upstreamType));
      const answer = await speak(gateway.origin, { response_format: row.format });
      assert.equal(answer.header("content-type"), row.type);
      assert.ok(answer.body.equals(row.body));
    });
  }

  it("takes a speed at both edges of its range, metadata and style, and a call without a voice", async () => {
    for (const members of [
      { speed: 0.25 },
      { speed: 4, metadata: { trace: "7" } },
      { instructions: "softly" },
      { voice: undefined },
    ]) {
      upstream.forget();
      upstream.replyWith(reply(sound));
      assert.equal((await speak(gateway.origin, members)).status, 200);
      const usual = { model: "letters-upstream", input: "Hello you", voice: "alloy" };
      assert.deepEqual(upstream.requests[0]?.json(), JSON.parse(JSON.stringify({ ...usual, ...members })));
    }
  });

  it("passes a vendor's JSON where the call asked for that", async () => {
    upstream.replyWith({ body: '{"audio":"UklGRg=="}' });
    const answer = await speak(gateway.origin, { response_format: "json" });
    assert.deepEqual([answer.status, answer.header("content-type")], [200, "application/json"]);
    assert.equal(answer.body.toString(), '{"audio":"UklGRg=="}');
  });

  it("passes events as they are, cut anywhere", async () => {
    const body = eventsOf([sound.subarray(0, 500), sound.subarray(500)]);
    for (const fragmentBytes of [7, 4_000]) {
      upstream.replyWith(reply(body, "text/event-stream", { fragmentBytes }));
      const answer = await speak(gateway.origin, { stream_format: "sse" });
      assert.equal(answer.header("content-type"), "text/event-stream; charset=utf-8");
      assert.ok(answer.isComplete && answer.body.equals(body));
    }
    assert.equal(at(upstream.requests[0]?.json(), "stream_format"), "sse");
  });

  it("wraps the bytes of an upstream that knows no events", async () => {
    upstream.replyWith(reply(sound, "audio/mpeg", { fragmentBytes: 1_001 }));
    const answer = await speak(gateway.origin, { stream_format: "sse" });
    assert.ok(heardOf(answer.body).equals(sound));
    const done = dataOf(answer.body).at(-1);
    assert.deepEqual(at(done, "type"), "speech.audio.done");
    assert.deepEqual(at(done, "usage", "total_tokens"), 0);
  });

  it("unwraps the events of an upstream that knows no bytes", async () => {
    const body = eventsOf([sound.subarray(0, 500), sound.subarray(500)]);
    upstream.replyWith(reply(body, "text/event-stream", { fragmentBytes: 333 }));
    const answer = await speak(gateway.origin, { model: "tokens" });
    assert.equal(answer.header("content-type"), "audio/mpeg");
    assert.ok(answer.isComplete && answer.body.equals(sound));
    const record = await gateway.recordOf(String(answer.header("x-request-id")));
    assert.equal(record.costNanos, 14n * 1_000n + 101n * 12_000n);
  });

  it("takes a sound that is shorter than what is looked at for a response that has begun", async () => {
    const record = await billOf({}, reply(Buffer.alloc(9, 0x81)));
    assert.deepEqual([typeof record.firstByteMs, record.responseBytes], ["number", 9]);
  });

  describe("charges", () => {
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
  });

  describe("refuses before any upstream is called", () => {
    for (const row of [
      { name: "a call without input", body: { input: null }, code: null, param: "input" },
      { name: "input that is no text", body: { input: ["a"] }, code: "invalid_type", param: "input" },
      { name: "empty input", body: { input: "" }, code: "invalid_value", param: "input" },
      { name: "a call without a model", body: { model: null }, code: null, param: "model" },
      { name: "a voice that is a number", body: { voice: 3 }, code: "invalid_type", param: "voice" },
      { name: "a voice without an id", body: { voice: { name: "x" } }, code: "invalid_type", param: "voice" },
      {
        name: "a voice of the account",
        body: { voice: { id: "voice_1" } },
        code: "unsupported_parameter",
        param: "voice",
      },
      { name: "a speed below 0.25", body: { speed: 0.2 }, code: "invalid_value", param: "speed" },
      { name: "a speed above 4", body: { speed: 4.1 }, code: "invalid_value", param: "speed" },
      { name: "a speed that is no number", body: { speed: "fast" }, code: "invalid_type", param: "speed" },
      {
        name: "a speed that the route does not allow",
        body: { model: "pair", speed: 3 },
        code: "invalid_value",
        param: "speed",
      },
      {
        name: "a format that is no text",
        body: { response_format: {} },
        code: "invalid_type",
        param: "response_format",
      },
      { name: "a model for chat", body: { model: "chatter" }, code: null, param: "model" },
    ]) {
      it(row.name, async () => {
        const answer = await speak(gateway.origin, row.body);
        assert.equal(answer.status, 400, answer.body.toString());
        const error = at(answer.json(), "error");
        if (row.code !== null) assert.equal(at(error, "code"), row.code);
        assert.equal(at(error, "param"), row.param);
        assert.equal(upstream.requests.length, 0);
      });
    }

    for (const row of [
      { key: "chat-only", status: 403 },
      { key: "others", status: 403 },
      { key: "elsewhere", status: 403 },
      { key: "poor", status: 429, code: "insufficient_quota" },
    ]) {
      it(`a key that is ${row.key}`, async () => {
        const answer = await speak(gateway.origin, { model: "minutes" }, { key: row.key });
        assert.equal(answer.status, row.status, answer.body.toString());
        if (row.code !== undefined) assert.equal(at(answer.json(), "error", "code"), row.code);
        assert.equal(upstream.requests.length, 0);
      });
    }
  });

  it("takes a call more than a key's rate for none", async () => {
    upstream.replyWith(reply(sound));
    assert.equal((await speak(gateway.origin, {}, { key: "once" })).status, 200);
    assert.equal((await speak(gateway.origin, {}, { key: "once" })).status, 429);
  });

  it("passes a voice of the account where the channel shares its objects", async () => {
    upstream.replyWith(reply(sound));
    assert.equal((await speak(gateway.origin, { model: "shared", voice: { id: "voice_1" } })).status, 200);
    assert.deepEqual(at(upstream.requests[0]?.json(), "voice"), { id: "voice_1" });
  });

  describe("never passes as sound", () => {
    const json = { "content-type": "application/json" };
    for (const row of [
      { name: "an error under a status of success", script: { body: '{"error":{"message":"no"}}', headers: json } },
      { name: "an error that calls itself sound", script: reply(Buffer.from('{"error":{"message":"broken"}}')) },
      {
        name: "an error that calls itself bytes, cut anywhere",
        script: reply(Buffer.from('{"error":{"message":"no"}}'), "", { fragmentBytes: 1 }),
      },
      { name: "JSON that nobody asked for", script: { body: '{"audio":"AAAA"}', headers: json } },
      { name: "a page of HTML", script: reply(Buffer.from("<html>oops</html>"), "text/html") },
      { name: "a page that calls itself sound", script: reply(Buffer.from("<!DOCTYPE html><html>")) },
      { name: "nothing", script: reply(Buffer.alloc(0)) },
      { name: "a status of 500", script: { status: 500, body: "oops" } },
      { name: "events that never come", script: reply(Buffer.alloc(0), "text/event-stream") },
      {
        name: "an error event",
        script: reply(Buffer.from('event: error\ndata: {"error":{"message":"no"}}\n\n'), "text/event-stream"),
      },
    ] satisfies readonly { name: string; script: ScriptedReply }[]) {
      it(row.name, async () => {
        for (const members of [{}, { stream_format: "sse" }]) {
          upstream.replyWith(row.script);
          const answer = await speak(gateway.origin, members);
          assert.ok(answer.status >= 400, `${answer.status} ${answer.body}`);
          assert.equal(answer.header("content-type"), "application/json");
          assert.equal(typeof at(answer.json(), "error", "message"), "string");
        }
      });
    }
  });

  for (const cutWith of ["fin", "reset"] as const) {
    for (const framing of ["length", "chunked"] as const) {
      it(`lets no sound look complete that ends with ${cutWith} before its ${framing} framing does`, async () => {
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

  it("tells clients of events when their sound is cut, and of bytes by a broken end", async () => {
    const cut = eventsOf([sound.subarray(0, 500)], null);
    upstream.replyWith(reply(cut, "text/event-stream"));
    const events = await speak(gateway.origin, { stream_format: "sse" });
    assert.equal(at(dataOf(events.body).at(-1), "type"), "error");
    const bytes = await speak(gateway.origin, {});
    assert.equal(bytes.isComplete, false);
    assert.ok(bytes.body.equals(sound.subarray(0, 500)));
  });

  it("tries the next target until the first byte, and never behind it", async () => {
    const failing = ({ target }: { target: string }): ScriptedReply =>
      target.endsWith("/second/speech") ? reply(sound) : { status: 503, body: "{}" };
    upstream.replyWith(failing);
    const answer = await speak(gateway.origin, { model: "pair" });
    assert.equal(answer.status, 200);
    assert.ok(answer.body.equals(sound));
    assert.deepEqual(
      upstream.requests.map(({ target }) => target),
      ["/v1/audio/speech", "/v1/second/speech"],
    );
    upstream.forget();
    upstream.replyWith(reply(sound, "audio/mpeg", { cutAt: 5_000 }));
    assert.equal((await speak(gateway.origin, { model: "pair" })).isComplete, false);
    assert.equal(upstream.requests.length, 1);
  });

  /** Leaves with the first bytes of the response. */
  async function leave(body: object): Promise<void> {
    const { hostname, port } = new URL(gateway.origin);
    const headers = { authorization: `Bearer ${clientKey("k")}`, "content-type": "application/json" };
    const sent = request({ hostname, port, path: "/v1/audio/speech", method: "POST", headers });
    sent.on("error", () => undefined);
    sent.on("response", (response) => response.once("data", () => sent.destroy()).on("error", () => undefined));
    sent.end(JSON.stringify(body));
    await waitFor("the upstream sees the end", () => upstream.requests[0]?.abortedAtMs);
  }

  it("closes the upstream when its client leaves, and charges what came", async () => {
    upstream.replyWith(reply(samplesOf(10), "audio/pcm", { stallAt: 96_000 }));
    await leave({ model: "minutes", input: "Hello you", response_format: "pcm" });
    const record = await waitFor("the record", () =>
      gateway.records.find(({ route, end }) => route.endsWith("minutes") && end === "CD"),
    );
    const { audioMilliseconds = 0 } = record.units ?? {};
    assert.ok(audioMilliseconds >= 1_000 && audioMilliseconds <= 2_000, `${audioMilliseconds} ms`);
    assert.equal(record.costNanos, BigInt(audioMilliseconds) * 10_000n);
  });

  it("charges the sound of events that passed until their client left, or they were cut", async () => {
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
