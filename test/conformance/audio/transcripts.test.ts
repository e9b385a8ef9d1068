/** `/v1/audio/transcriptions` and `/v1/audio/translations`: forms pass on, restricted, charged and limited like every call. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import type { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import { channelSecret } from "#test/support/conformance/manifests";
import { itRefusesRestrictedKeys } from "#test/support/conformance/restricted-keys";
import { partsOf } from "#test/support/conformance/sent-parts";
import {
  file,
  json,
  minutes,
  recording,
  startTranscriptGateway,
  type TestPart,
  text,
  transcribe,
  usual,
} from "#test/support/conformance/transcript-gateway";
import { at } from "#test/support/digest/facts";
import { FakeUpstream, type ScriptedReply } from "#test/support/fake-upstream";
import { aacOf, mp3Of, wavOf } from "#test/support/sounds";
import { waitFor } from "#test/support/wait-for";

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
      ...["file_id", "file_url", "url"].flatMap((param) => [
        {
          name: `${param} beside a file`,
          parts: [...usual, [param, "https://example.com/long.mp3"]] as const,
          code: "unsupported_parameter",
          param,
        },
        { name: `${param} alone`, parts: [minutes, [param, "x"]] as const, code: "unsupported_parameter", param },
      ]),
      {
        name: "a list of references",
        parts: [...usual, ["file_url[]", "https://example.com/long.mp3"]],
        code: "unsupported_parameter",
        param: "file_url",
      },
      {
        name: "a file under the name of a reference",
        parts: [...usual, ["url", recording]],
        code: "unsupported_parameter",
        param: "url",
      },
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
  });

  describe("of restricted keys", () => {
    itRefusesRestrictedKeys(
      (key) => {
        upstream.replyWith(json({ text: "Hello" }));
        return transcribe(gateway.origin, usual, { key });
      },
      () => upstream,
    );
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

  it("holds nothing of the forms that are over", async () => {
    await waitFor("all is released", () => gateway.inFlightBytes === 0);
  });
});
