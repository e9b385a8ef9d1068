/** Transcripts in events: of OpenAI, vLLM and Mistral, whole, cut, and charged. */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "mocha";
import type { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import { leaveHttpCall } from "#test/support/conformance/leave-call";
import {
  byTokens,
  events,
  file,
  json,
  minutes,
  startTranscriptGateway,
  type TestPart,
  text,
  tokens,
  transcribe,
  transcriptCall,
} from "#test/support/conformance/transcript-gateway";
import { FakeUpstream, type ScriptedReply } from "#test/support/fake-upstream";
import { waitFor } from "#test/support/wait-for";

const delta = { type: "transcript.text.delta", delta: "Hello" };

describe("transcripts in events", () => {
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

  describe("of vLLM, as they come", () => {
    const chunk = (content: string, more: object = {}): object => ({
      id: "trsc-1",
      object: "transcription.chunk",
      created: 1,
      model: "whisper",
      choices: [{ delta: { content }, finish_reason: null }],
      ...more,
    });
    const streamOf = (...list: readonly object[]): ScriptedReply => {
      const body = list.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
      return text(`${body}data: [DONE]\n\n`, "text/event-stream");
    };
    const usage = { prompt_tokens: 104, completion_tokens: 3, total_tokens: 107 };

    it("whole with their terminator", async () => {
      const script = streamOf(chunk("Hello"), chunk(" you"), { ...chunk(""), choices: [], usage });
      upstream.replyWith({ ...script, fragmentBytes: 11 });
      const answer = await transcribe(gateway.origin, asked);
      assert.deepEqual([answer.isComplete, answer.body.toString()], [true, script.body]);
      const record = await gateway.recordOf(String(answer.header("x-request-id")));
      assert.deepEqual([record.costNanos, record.isEstimated], [104n * 6_000n + 3n * 10_000n, false]);
    });

    it("charged by the recording and the text where they report nothing", async () => {
      const record = await billOf(asked, streamOf(chunk("Hello"), chunk(" you")));
      assert.deepEqual([record.usage?.audioInput, record.usage?.output, record.isEstimated], [70, 28, true]);
    });

    it("cut without it, and failed where they say so", async () => {
      for (const script of [
        events(chunk("Hello")),
        streamOf(chunk("Hello"), { error: { message: "no", code: 500 } }),
        streamOf(chunk("Hello"), { error: "boom" }),
      ]) {
        upstream.replyWith(script);
        const answer = await transcribe(gateway.origin, asked);
        assert.match(answer.body.toString(), /"type":"error"/);
        assert.doesNotMatch(answer.body.toString(), /DONE/);
      }
    });
  });

  it("those of Mistral in OpenAI's words", async () => {
    const usage = { prompt_audio_seconds: 7, prompt_tokens: 4, completion_tokens: 5, total_tokens: 97 };
    const list = [
      { type: "transcription.language", audio_language: "en" },
      { type: "transcription.text.delta", text: "Hello" },
      { type: "transcription.segment", text: "Hello", start: 0, end: 6.5, speaker_id: "speaker_1" },
      { type: "transcription.done", model: "voxtral", text: "Hello", segments: [], language: "en", usage },
    ];
    const body = list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    upstream.replyWith({ ...text(body, "text/event-stream"), fragmentBytes: 13 });
    const answer = await transcribe(gateway.origin, asked);
    assert.equal(answer.isComplete, true);
    const got = answer.body
      .toString()
      .split("\n\n")
      .filter((event) => event !== "");
    assert.deepEqual(
      got.map((event) => JSON.parse(event.slice(6))),
      [
        delta,
        { type: "transcript.text.segment", id: "seg_0", start: 0, end: 6.5, text: "Hello", speaker: "speaker_1" },
        {
          type: "transcript.text.done",
          text: "Hello",
          usage: {
            type: "tokens",
            input_tokens: 92,
            output_tokens: 5,
            total_tokens: 97,
            input_token_details: { text_tokens: 4, audio_tokens: 88 },
          },
        },
      ],
    );
    const record = await gateway.recordOf(String(answer.header("x-request-id")));
    assert.equal(record.costNanos, 4n * 1_000n + 88n * 6_000n + 5n * 10_000n);
    assert.deepEqual([record.units?.audioMilliseconds, record.isEstimated], [7_000, false]);
  });

  it("no end where the upstream's never came", async () => {
    upstream.replyWith(events(delta));
    const answer = await transcribe(gateway.origin, asked);
    assert.match(answer.body.toString(), /"type":"error"/);
    const record = await gateway.recordOf(String(answer.header("x-request-id")));
    assert.deepEqual([record.usage?.audioInput, record.isEstimated], [70, true]);
  });

  it("charges what was written down until its client left", async () => {
    const words = Array.from({ length: 40 }, () => ({ type: "transcript.text.delta", delta: " hello" }));
    const script = events(...words);
    upstream.replyWith({ ...script, stallAt: String(script.body).length - 5 });
    await leaveHttpCall(await transcriptCall(gateway.origin, asked), (begun) => begun);
    const record = await waitFor("the record", () => gateway.records.find(({ end }) => end === "CD"));
    const { audioInput = 0, output = 0 } = record.usage ?? {};
    assert.ok(output >= 30 && output <= 50, `${output} tokens`);
    const cost = BigInt(audioInput) * 6_000n + BigInt(output) * 10_000n;
    assert.deepEqual([audioInput, record.costNanos, record.isEstimated], [70, cost, true]);
  });
});
