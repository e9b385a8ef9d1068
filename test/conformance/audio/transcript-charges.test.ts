/** What a transcript is charged: what its upstream reports, else the length of the recording, whatever that says of itself. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { after, afterEach, before, describe, it } from "mocha";
import type { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import { leaveHttpCall } from "#test/support/conformance/leave-call";
import { partsOf } from "#test/support/conformance/sent-parts";
import {
  byTokens,
  events,
  file,
  json,
  minutes,
  recording,
  startTranscriptGateway,
  type TestPart,
  text,
  tokens,
  transcribe,
  transcriptCall,
  usual,
} from "#test/support/conformance/transcript-gateway";
import { FakeUpstream, type ScriptedReply } from "#test/support/fake-upstream";
import { flacOf, m4aOf, mp3Of, opusOf, wavOf, webmOf } from "#test/support/sounds";
import { waitFor } from "#test/support/wait-for";

const fixtures = process.env["TOLLGATE_FIXTURES"] ?? path.resolve(import.meta.dirname, "../../../../shared/fixtures");
/** Undefined where the recorded traffic is not beside the repository. */
const recorded = existsSync(fixtures) ? fixtures : undefined;
const longM4A = m4aOf(2_000, { isMovieLast: true, told: 1 });
const hastyWav = wavOf(3);
hastyWav.writeUInt32LE(0xffff_ffff, 28);

describe("a transcript is charged", () => {
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

  it("output of which the upstream reports nothing by its text, as an estimate, and none of silence", async () => {
    const usage = { type: "tokens", input_tokens: 70 };
    const record = await billOf([tokens, file], json({ text: "Hello you, how are you today?", usage }));
    const { output = 0 } = record.usage ?? {};
    assert.ok(output >= 6 && output <= 12, `${output} tokens`);
    assert.deepEqual([record.costNanos, record.isEstimated], [70n * 6_000n + BigInt(output) * 10_000n, true]);
    const silence = await billOf([tokens, file], json({ text: "", usage }));
    assert.deepEqual([silence.costNanos, silence.isEstimated], [70n * 6_000n, false]);
  });

  it("the output that the upstream reports, also where it leaves out what it heard", async () => {
    const usage = { type: "tokens", output_tokens: 10 };
    const record = await billOf([tokens, file], json({ text: "Hello", usage: { ...usage, input_tokens: 0 } }));
    assert.deepEqual([record.usage?.audioInput, record.usage?.output], [70, 10]);
    assert.deepEqual([record.costNanos, record.isEstimated], [70n * 6_000n + 10n * 10_000n, true]);
  });

  it("the sound that is counted in the total alone", async () => {
    for (const more of [{}, { prompt_audio_seconds: null }, { prompt_audio_seconds: 7 }]) {
      const usage = { prompt_tokens: 4, completion_tokens: 6, total_tokens: 30, ...more };
      const record = await billOf([tokens, file], json({ text: "Hello", usage }));
      assert.deepEqual([record.usage?.input, record.usage?.audioInput, record.usage?.output], [4, 20, 6]);
      assert.equal(record.costNanos, 4n * 1_000n + 20n * 6_000n + 6n * 10_000n);
    }
  });

  describe("where the route has a price for minutes and one for tokens", () => {
    const parts: readonly TestPart[] = [["model", "both"], file];

    for (const row of [
      { name: "seconds that are reported", reply: { text: "Hello", duration: 8 }, milliseconds: 8_000n },
      { name: "the recording where nothing is reported", reply: { text: "Hello" }, milliseconds: 7_000n },
    ]) {
      it(`minutes alone, by ${row.name}`, async () => {
        assert.equal((await billOf(parts, json(row.reply))).costNanos, row.milliseconds * 10_000n);
      });
    }

    it("minutes alone, of a stream that is cut", async () => {
      const cut = { type: "transcript.text.delta", delta: "Hello" };
      const record = await billOf([...parts, ["stream", "true"]], events(cut));
      assert.deepEqual([record.costNanos, record.isEstimated], [7_000n * 10_000n, true]);
    });

    it("minutes, and the output that is reported", async () => {
      const record = await billOf(parts, json({ text: "Hello", usage: byTokens }));
      assert.equal(record.costNanos, 7_000n * 10_000n + 12n * 10_000n);
    });
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
    { name: "a long MP3", bytes: mp3Of(2_000), milliseconds: 52_245 },
    { name: "Opus", bytes: opusOf(5), milliseconds: 5_000 },
    { name: "a long Opus", bytes: opusOf(100), milliseconds: 100_000 },
    { name: "FLAC", bytes: flacOf(3), milliseconds: 3_000 },
    { name: "WebM of a browser", bytes: webmOf(5), milliseconds: 5_000 },
    { name: "M4A whose movie stands last and tells of a millisecond", bytes: longM4A, milliseconds: 42_667 },
    { name: "WAV that declares many bytes a second", bytes: hastyWav, milliseconds: 3_000 },
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

  it("what was heard, where its client left, and closes the upstream", async () => {
    upstream.replyWith({ ...json({ text: "Hello" }), stallAt: 3 });
    const call = await transcriptCall(gateway.origin, usual);
    await leaveHttpCall(call, () => waitFor("the upstream has the call", () => upstream.requests[0]));
    await waitFor("the upstream sees the end", () => upstream.requests[0]?.abortedAtMs);
    const record = await waitFor("the record", () => gateway.records.find(({ end }) => end === "CH"));
    assert.deepEqual([record.costNanos, record.isEstimated], [7_000n * 10_000n, true]);
  });

  it("a recording that only the upstream sees, where the channel shares its objects, and never for no time", async () => {
    upstream.replyWith(json({ text: "Hello" }));
    for (const more of [[], [file]]) {
      const parts: readonly TestPart[] = [["model", "shared"], ["file_url", "https://example.com/long.mp3"], ...more];
      const answer = await transcribe(gateway.origin, parts);
      assert.equal(answer.status, 200, answer.body.toString());
      const record = await gateway.recordOf(String(answer.header("x-request-id")));
      assert.deepEqual([record.units?.audioMilliseconds, record.isEstimated], [600_000, true]);
    }
    const [sent] = upstream.requests;
    assert.ok(sent !== undefined);
    assert.deepEqual((await partsOf(sent)).at(-1), ["file_url", "https://example.com/long.mp3"]);
    upstream.replyWith(json({ text: "Hello", usage: { type: "duration", seconds: 31 } }));
    const told = await transcribe(gateway.origin, [
      ["model", "shared"],
      ["file_id", "file-1"],
    ]);
    const record = await gateway.recordOf(String(told.header("x-request-id")));
    assert.deepEqual([record.units?.audioMilliseconds, record.isEstimated], [31_000, false]);
  });
});
