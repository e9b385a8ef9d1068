/** `/v1/audio/transcriptions` and `/v1/audio/translations`: forms pass on, restricted, charged and limited like every call. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import path from "node:path";
import { after, afterEach, before, describe, it } from "mocha";
import type { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import { channelSecret, clientKey } from "#test/support/conformance/manifests";
import { partsOf } from "#test/support/conformance/sent-parts";
import {
  formOf,
  recording,
  startTranscriptGateway,
  type TestPart,
  transcribe,
} from "#test/support/conformance/transcript-gateway";
import { at } from "#test/support/digest/facts";
import { FakeUpstream, type ScriptedReply } from "#test/support/fake-upstream";
import { aacOf, flacOf, mp3Of, opusOf, wavOf } from "#test/support/sounds";
import { waitFor } from "#test/support/wait-for";

const fixtures = process.env["TOLLGATE_FIXTURES"] ?? path.resolve(import.meta.dirname, "../../../../shared/fixtures");
/** Undefined where the recorded traffic is not beside the repository. */
const recorded = existsSync(fixtures) ? fixtures : undefined;
const file: TestPart = ["file", recording];
const minutes: TestPart = ["model", "minutes"];
const tokens: TestPart = ["model", "tokens"];
const usual: readonly TestPart[] = [minutes, file];
const byTokens = {
  type: "tokens",
  input_tokens: 74,
  output_tokens: 12,
  total_tokens: 86,
  input_token_details: { text_tokens: 4, audio_tokens: 70 },
};

function json(body: object): ScriptedReply {
  return { body: JSON.stringify(body) };
}

function text(body: string, type = "text/plain; charset=utf-8"): ScriptedReply {
  return { body, headers: { "content-type": type } };
}

function events(...list: readonly object[]): ScriptedReply {
  return text(list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""), "text/event-stream");
}

const delta = { type: "transcript.text.delta", delta: "Hello" };

describe("transcripts", () => {
  let upstream: FakeUpstream;
  let gateway: InProcessGateway;

  before(async () => {
    upstream = await FakeUpstream.start();
    gateway = await startTranscriptGateway(upstream.origin);
  });
  afterEach(() => upstream.forget());
  after(async () => {
    await gateway?.close();
    await upstream?.close();
  });

  async function billOf(parts: readonly TestPart[], script: ScriptedReply) {
    upstream.replyWith(script);
    const answer = await transcribe(gateway.origin, parts);
    assert.equal(answer.status, 200, answer.body.toString());
    return gateway.recordOf(String(answer.header("x-request-id")));
  }

  for (const url of [
    "/v1/audio/transcriptions",
    "/audio/transcriptions",
    "/v1/v1/audio/transcriptions",
    "/v1/audio/translations",
    "/audio/translations",
    "/v1/v1/audio/translations",
  ]) {
    it(`POST ${url} passes the form on under the upstream's name, and the reply back`, async () => {
      upstream.replyWith(json({ text: "Hello", usage: { type: "duration", seconds: 7 } }));
      const answer = await transcribe(gateway.origin, usual, { path: url });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.header("content-type"), "application/json");
      assert.equal(answer.body.toString(), '{"text":"Hello","usage":{"type":"duration","seconds":7}}');
      const [sent] = upstream.requests;
      assert.equal(sent?.target, `/v1/audio/${url.split("/").at(-1)}`);
      assert.equal(sent?.headers["authorization"], `Bearer ${channelSecret}`);
      assert.ok(sent !== undefined);
      assert.deepEqual(await partsOf(sent), [
        ["model", "minutes-upstream"],
        ["file", { name: "speech.wav", type: "audio/wav", bytes: recording }],
      ]);
    });
  }

  it("finds the model behind the file, and leaves every other part in its place", async () => {
    const parts: readonly TestPart[] = [
      ["language", "de"],
      ["file", mp3Of(400), "Gespräch 1.mp3"],
      ["timestamp_granularities[]", "word"],
      ["timestamp_granularities[]", "segment"],
      ["include[]", "logprobs"],
      ["keywords[]", "Tollgate"],
      // As the official SDK spells an object.
      ["chunking_strategy[type]", "server_vad"],
      ["chunking_strategy[threshold]", "0.50"],
      ["known_speaker_names[]", "Ada"],
      ["temperature", "0.30"],
      ["vendor_field", "1"],
      minutes,
      ["prompt", "7"],
    ];
    upstream.replyWith(json({ text: "" }));
    assert.equal((await transcribe(gateway.origin, parts)).status, 200);
    const [sent] = upstream.requests;
    assert.ok(sent !== undefined);
    const got = await partsOf(sent);
    assert.deepEqual(
      got.map(([name, value]) => (typeof value === "string" ? [name, value] : [name, value.bytes, value.name])),
      parts.map((part) => (part === minutes ? ["model", "minutes-upstream"] : [...part])),
    );
  });

  for (const row of [
    { format: "json", reply: json({ text: "Hello" }), type: "application/json" },
    {
      format: "verbose_json",
      reply: json({ text: "Hi", language: "en", duration: 7, segments: [] }),
      type: "application/json",
    },
    {
      format: "diarized_json",
      reply: json({ task: "transcribe", duration: 7, text: "Hi", segments: [] }),
      type: "application/json",
    },
    { format: "text", reply: text("Hello\n"), type: "text/plain; charset=utf-8" },
    { format: "text", reply: text("\n", ""), type: "text/plain; charset=utf-8" },
    { format: "text", reply: { body: '"Hello"' }, type: "application/json" },
    { format: "srt", reply: text("1\n00:00:00,000 --> 00:00:07,000\nHello\n\n"), type: "text/plain; charset=utf-8" },
    {
      format: "srt",
      reply: text("1\n00:00:00,000 --> 00:00:07,000\nHi\n", "application/x-subrip"),
      type: "application/x-subrip",
    },
    { format: "vtt", reply: text("WEBVTT\n\n00:00.000 --> 00:07.000\nHello\n", ""), type: "text/vtt; charset=utf-8" },
    { format: "vendors_own", reply: json({ text: "Hello" }), type: "application/json" },
  ]) {
    it(`passes ${row.format} as it came, as ${row.type}`, async () => {
      upstream.replyWith(row.reply);
      const answer = await transcribe(gateway.origin, [...usual, ["response_format", row.format]]);
      assert.equal(answer.status, 200, answer.body.toString());
      assert.deepEqual([answer.header("content-type"), answer.body.toString()], [row.type, row.reply.body]);
    });
  }

  describe("streams", () => {
    const asked: readonly TestPart[] = [tokens, file, ["stream", "true"]];
    const done = { type: "transcript.text.done", text: "Hello", usage: byTokens };

    it("events as they come, and charges what the last one reports", async () => {
      const script = events(delta, { type: "transcript.text.segment", id: "s1" }, done);
      upstream.replyWith({ ...script, fragmentBytes: 11 });
      const answer = await transcribe(gateway.origin, asked);
      assert.equal(answer.header("content-type"), "text/event-stream; charset=utf-8");
      assert.deepEqual([answer.isComplete, answer.body.toString()], [true, script.body]);
      const record = await gateway.recordOf(String(answer.header("x-request-id")));
      assert.equal(record.costNanos, 4n * 1_000n + 70n * 6_000n + 12n * 10_000n);
      assert.deepEqual([record.isEstimated, record.isStream], [false, true]);
    });

    it("seconds that the last event reports", async () => {
      const told = { ...done, usage: { type: "duration", seconds: 8 } };
      const record = await billOf([minutes, file, ["stream", "true"]], events(delta, told));
      assert.deepEqual([record.costNanos, record.isEstimated], [8_000n * 10_000n, false]);
    });

    it("the reply of an older model that knows no stream", async () => {
      upstream.replyWith(json({ text: "Hello", usage: byTokens }));
      const answer = await transcribe(gateway.origin, asked);
      const found = answer.body
        .toString()
        .split("\n\n")
        .filter((event) => event !== "");
      assert.deepEqual(
        found.map((event) => JSON.parse(event.slice(6))),
        [delta, done],
      );
      const record = await gateway.recordOf(String(answer.header("x-request-id")));
      assert.equal(record.costNanos, 4n * 1_000n + 70n * 6_000n + 12n * 10_000n);
    });

    it("no end where the upstream's never came", async () => {
      upstream.replyWith(events(delta));
      const answer = await transcribe(gateway.origin, asked);
      assert.match(answer.body.toString(), /"type":"error"/);
      const record = await gateway.recordOf(String(answer.header("x-request-id")));
      assert.deepEqual([record.usage?.audioInput, record.isEstimated], [70, true]);
    });
  });

  describe("charges", () => {
    it(`seconds that the upstream reports, as the recorded reply of OpenAI does${recorded === undefined ? " (skipped: no fixtures)" : ""}`, async function () {
      if (recorded === undefined) this.skip();
      const body = readFileSync(path.join(recorded, "other/openai-audio-transcription.json"));
      const record = await billOf(usual, { body });
      assert.deepEqual([record.costNanos, record.isEstimated], [7_000n * 10_000n, false]);
    });

    it("the length of a verbose transcript, also where it is written as text", async () => {
      for (const duration of [8.47, "8.47"]) {
        const record = await billOf(usual, json({ text: "Hello", duration, segments: [] }));
        assert.deepEqual([record.costNanos, record.isEstimated], [8_470n * 10_000n, false]);
      }
    });

    it("tokens that the upstream reports", async () => {
      const record = await billOf([tokens, file], json({ text: "Hello", usage: byTokens }));
      assert.equal(record.costNanos, 4n * 1_000n + 70n * 6_000n + 12n * 10_000n);
      assert.equal(record.isEstimated, false);
    });

    it("tokens that nobody reports by the length of the recording, also beside a length", async () => {
      for (const reply of [{ text: "Hello" }, { text: "Hello", duration: 7 }]) {
        const record = await billOf([tokens, file], json(reply));
        assert.deepEqual([record.usage?.audioInput, record.usage?.output], [70, 28]);
        assert.deepEqual([record.costNanos, record.isEstimated], [70n * 6_000n + 28n * 10_000n, true]);
      }
    });

    for (const row of [
      { name: "WAV", bytes: recording, milliseconds: 7_000 },
      { name: "WAV that says it is short", bytes: wavOf(3, { declaredBytes: 2 }), milliseconds: 3_000 },
      { name: "WAV beyond what is held in memory", bytes: wavOf(20), milliseconds: 20_000 },
      { name: "MP3", bytes: mp3Of(100), milliseconds: 2_613 },
      { name: "a long MP3, by the rate of its start,", bytes: mp3Of(2_000), milliseconds: 52_192 },
      { name: "Opus", bytes: opusOf(5), milliseconds: 5_000 },
      { name: "a long Opus", bytes: opusOf(100), milliseconds: 100_000 },
      { name: "FLAC", bytes: flacOf(3), milliseconds: 3_000 },
    ]) {
      it(`the length of ${row.name} where the upstream reports nothing`, async () => {
        const parts: readonly TestPart[] = [minutes, ["file", row.bytes], ["response_format", "text"]];
        const record = await billOf(parts, text("Hello\n"));
        assert.equal(record.units?.audioMilliseconds, row.milliseconds);
        assert.deepEqual([record.costNanos, record.isEstimated], [BigInt(row.milliseconds) * 10_000n, true]);
      });
    }

    it("a file whose length nobody knows by its size", async () => {
      const unknown = Buffer.concat([Buffer.from("\x1aE\xdf\xa3", "latin1"), Buffer.alloc(79_996, 1)]);
      const record = await billOf([minutes, ["file", unknown], ["response_format", "text"]], text("Hello\n"));
      assert.deepEqual([record.costNanos, record.isEstimated], [10_000n * 10_000n, true]);
    });
  });

  describe("refuses before any upstream is called", () => {
    for (const row of [
      { name: "a form without a file", parts: [minutes], code: null, param: "file" },
      { name: "a file that is a field", parts: [minutes, ["file", "RIFF"]], code: "invalid_type", param: "file" },
      { name: "a form without a model", parts: [file], code: null, param: "model" },
      { name: "an empty model", parts: [["model", ""], file], code: "invalid_value", param: "model" },
      { name: "two models", parts: [minutes, minutes, file], code: null, param: "model" },
      { name: "two files", parts: [minutes, file, file], code: null, param: "file" },
      {
        name: "a picture",
        parts: [minutes, ["file", Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1")]],
        code: "invalid_value",
        param: "file",
      },
      {
        name: "a text",
        parts: [minutes, ["file", Buffer.from("hello hello hello")]],
        code: "invalid_value",
        param: "file",
      },
      { name: "an empty file", parts: [minutes, ["file", Buffer.alloc(0)]], code: "invalid_value", param: "file" },
      {
        name: "bare AAC, which no provider takes",
        parts: [minutes, ["file", aacOf(3)]],
        code: "invalid_value",
        param: "file",
      },
      {
        name: "a temperature that is no number",
        parts: [...usual, ["temperature", "warm"]],
        code: "invalid_type",
        param: "temperature",
      },
      {
        name: "a temperature that the route does not allow",
        parts: [["model", "pair"], file, ["temperature", "0.6"]],
        code: "invalid_value",
        param: "temperature",
      },
      { name: "a stream that is neither", parts: [...usual, ["stream", "yes"]], code: "invalid_type", param: "stream" },
      { name: "a second recording", parts: [...usual, ["file[]", recording]], code: "invalid_value", param: "file" },
      { name: "a model for chat", parts: [["model", "chatter"], file], code: null, param: "model" },
    ] satisfies readonly { name: string; parts: readonly TestPart[]; code: string | null; param: string }[]) {
      it(row.name, async () => {
        const answer = await transcribe(gateway.origin, row.parts);
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
      { key: "poor", status: 429 },
    ]) {
      it(`a key that is ${row.key}`, async () => {
        const answer = await transcribe(gateway.origin, usual, { key: row.key });
        assert.equal(answer.status, row.status, answer.body.toString());
        assert.equal(upstream.requests.length, 0);
      });
    }
  });

  it("takes a call more than a key's rate for none", async () => {
    upstream.replyWith(json({ text: "Hello" }));
    assert.equal((await transcribe(gateway.origin, usual, { key: "once" })).status, 200);
    assert.equal((await transcribe(gateway.origin, usual, { key: "once" })).status, 429);
  });

  describe("never passes as a transcript", () => {
    const html = text("<html><body>oops</body></html>", "text/html");
    for (const row of [
      { name: "an error under a status of success", script: json({ error: { message: "no" } }) },
      { name: "a page of HTML", script: html },
      { name: "a page that calls itself text", script: text("<!DOCTYPE html><html>oops</html>") },
      { name: "nothing", script: text("") },
      { name: "a reply that is cut", script: { body: '{"text":"Hello there"}', framing: "length", cutAt: 9 } },
      { name: "a status of 500", script: { status: 500, body: "oops" } },
    ] satisfies readonly { name: string; script: ScriptedReply }[]) {
      it(row.name, async () => {
        for (const more of [
          ["response_format", "json"],
          ["response_format", "text"],
          ["response_format", "vtt"],
          ["stream", "true"],
        ] as const) {
          upstream.replyWith(row.script);
          const answer = await transcribe(gateway.origin, [...usual, more]);
          assert.ok(answer.status >= 400, `${more}: ${answer.status} ${answer.body}`);
          assert.equal(answer.header("content-type"), "application/json");
          assert.equal(typeof at(answer.json(), "error", "message"), "string");
        }
      });
    }

    it("text where JSON, lines of SRT or VTT were asked for", async () => {
      for (const format of ["json", "verbose_json", "srt", "vtt"]) {
        upstream.replyWith(text("Internal error"));
        const answer = await transcribe(gateway.origin, [...usual, ["response_format", format]]);
        assert.equal(answer.status, 502, format);
      }
    });
  });

  it("sends the whole file to the next target as well", async () => {
    upstream.replyWith(({ target }) =>
      target.endsWith("/second/transcriptions") ? json({ text: "Hello" }) : { status: 503, body: "{}" },
    );
    const long = wavOf(20);
    const answer = await transcribe(gateway.origin, [
      ["model", "pair"],
      ["file", long],
    ]);
    assert.equal(answer.status, 200, answer.body.toString());
    assert.equal(upstream.requests.length, 2);
    for (const sent of upstream.requests) {
      const [, heard] = (await partsOf(sent)).find(([name]) => name === "file") ?? [];
      assert.ok(typeof heard === "object" && heard.bytes.equals(long));
    }
  });

  it("closes the upstream when its client leaves, and charges what was heard", async () => {
    upstream.replyWith({ ...json({ text: "Hello" }), stallAt: 3 });
    const { hostname, port } = new URL(gateway.origin);
    const encoded = new Response(formOf([...usual, ["prompt", "who leaves"]]));
    const type = encoded.headers.get("content-type") ?? "";
    const headers = { authorization: `Bearer ${clientKey("k")}`, "content-type": type };
    const sent = request({ hostname, port, path: "/v1/audio/transcriptions", method: "POST", headers });
    sent.on("error", () => undefined);
    sent.end(Buffer.from(await encoded.arrayBuffer()));
    await waitFor("the upstream has the call", () => upstream.requests[0]);
    sent.destroy();
    await waitFor("the upstream sees the end", () => upstream.requests[0]?.abortedAtMs);
    const record = await waitFor("the record", () => gateway.records.find(({ end }) => end === "CH"));
    assert.deepEqual([record.costNanos, record.isEstimated], [7_000n * 10_000n, true]);
  });

  it("holds nothing of the forms that are over", async () => {
    await waitFor("all is released", () => gateway.inFlightBytes === 0);
  });
});
