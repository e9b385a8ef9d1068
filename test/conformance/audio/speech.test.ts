/** `/v1/audio/speech` to upstreams that serve the same: sound passes as it comes, restricted, charged and limited. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import type { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import { channelSecret } from "#test/support/conformance/manifests";
import { itRefusesRestrictedKeys } from "#test/support/conformance/restricted-keys";
import { dataOf, eventsOf, heardOf, reply, speak, startSpeechGateway } from "#test/support/conformance/speech-gateway";
import { at } from "#test/support/digest/facts";
import { FakeUpstream, type ScriptedReply } from "#test/support/fake-upstream";
import { aacOf, flacOf, mp3Of, opusOf, samplesOf, wavOf } from "#test/support/sounds";

const sound = mp3Of(100);
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
    upstream.replyWith(reply(Buffer.alloc(9, 0x81)));
    const answer = await speak(gateway.origin, {});
    const record = await gateway.recordOf(String(answer.header("x-request-id")));
    assert.deepEqual([typeof record.firstByteMs, record.responseBytes], ["number", 9]);
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
  });

  describe("of restricted keys", () => {
    itRefusesRestrictedKeys(
      (key) => {
        upstream.replyWith(reply(sound));
        return speak(gateway.origin, { model: "minutes" }, { key });
      },
      () => upstream,
    );
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
      {
        name: "an error in an event without a name",
        script: reply(Buffer.from('data: {"error":{"message":"no"}}\n\n'), "text/event-stream"),
      },
      {
        name: "an error that is mere text",
        script: reply(Buffer.from('data: {"error":"no"}\n\ndata: [DONE]\n\n'), "text/event-stream"),
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
});
