import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { generateContentClient as clientFormat } from "#proxy/formats/generate-content/native/client-format";
import { GenerateContentStreamFilter } from "#proxy/formats/generate-content/native/stream-filter";
import { generateContentUpstream as format } from "#proxy/formats/generate-content/native/upstream-format";
import { dataEvents, runFilter } from "#test/support/calls/run-filter";
import { callOf } from "#test/support/digest/stream-call";

const cap = 1_024 * 1_024;
const first = {
  candidates: [{ content: { role: "model", parts: [{ text: "he" }] } }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 },
};
const second = {
  candidates: [{ content: { role: "model", parts: [{ text: "llo" }] }, finishReason: "STOP" }],
  usageMetadata: { candidatesTokenCount: 2, thoughtsTokenCount: 4 },
};
const frames = dataEvents(first, second).replaceAll("\n\n", "\r\n\r\n");
const error = { error: { code: 503, message: "m", status: "UNAVAILABLE" } };

describe("generateContent: stream filter", () => {
  it("passes frames, completes when the body ends and takes the last value of each count", () => {
    const filter = new GenerateContentStreamFilter("sse", cap);
    assert.equal(filter.push(Buffer.from(frames)).map(String).join(""), frames);
    assert.equal(filter.isComplete, false);
    assert.deepEqual(filter.end(), []);
    assert.equal(filter.isComplete, true);
    assert.deepEqual([filter.usage?.input, filter.usage?.output, filter.usage?.reasoning], [3, 2, 4]);
    assert.equal(filter.produced().text, "hello");
  });

  it("does not complete without a finish reason", () => {
    const filter = new GenerateContentStreamFilter("sse", cap);
    runFilter(filter, [dataEvents(first)]);
    assert.equal(filter.isComplete, false);
  });

  for (const row of [
    { name: "one of two candidates unfinished", frames: [[0], [1], [0, "STOP"]], complete: false },
    {
      name: "a reason that says nothing",
      frames: [[0], [1], [0, "STOP"], [1, "FINISH_REASON_UNSPECIFIED"]],
      complete: false,
    },
    { name: "both candidates finished", frames: [[0], [1], [1, "MAX_TOKENS"], [0], [0, "STOP"]], complete: true },
    { name: "the first one's index left out", frames: [[undefined], [1, "STOP"], [0, "STOP"]], complete: true },
  ]) {
    for (const shape of ["sse", "array"] as const) {
      it(`${row.complete ? "completes" : "does not complete"} a stream with ${row.name}, written as ${shape}`, () => {
        const filter = new GenerateContentStreamFilter(shape, cap);
        const frames = row.frames.map(([index, finishReason]) => ({
          candidates: [{ index, content: { role: "model", parts: [{ text: "a" }] }, finishReason }],
        }));
        const passed = runFilter(filter, [dataEvents(...frames)]);
        assert.equal(filter.isComplete, row.complete);
        if (shape === "array") assert.equal(passed.endsWith("]"), row.complete);
      });
    }
  }

  it("completes a blocked prompt", () => {
    const filter = new GenerateContentStreamFilter("sse", cap);
    runFilter(filter, [dataEvents({ promptFeedback: { blockReason: "SAFETY" } })]);
    assert.equal(filter.isComplete, true);
  });

  it("writes an array for a client that asked without alt=sse, its first element at once", () => {
    const filter = new GenerateContentStreamFilter("array", cap);
    assert.equal(
      filter
        .push(Buffer.from(dataEvents(first)))
        .map(String)
        .join(""),
      `[${JSON.stringify(first)}`,
    );
    assert.equal(
      filter
        .push(Buffer.from(dataEvents(second)))
        .map(String)
        .join(""),
      `,\r\n${JSON.stringify(second)}`,
    );
    assert.equal(filter.end().map(String).join(""), "]");
  });

  for (const row of [
    { shape: "sse" as const, want: dataEvents(first, second).replaceAll("\n\n", "\r\n\r\n") },
    { shape: "array" as const, want: `[${JSON.stringify(first)},\r\n${JSON.stringify(second)}]` },
  ]) {
    it(`reads an upstream that replies with an array and writes ${row.shape}`, () => {
      const filter = new GenerateContentStreamFilter(row.shape, cap);
      assert.equal(runFilter(filter, [...JSON.stringify([first, second])]), row.want);
      assert.equal(filter.isComplete, true);
    });
  }

  it("does not complete an array that was cut behind its last element", () => {
    const filter = new GenerateContentStreamFilter("array", cap);
    runFilter(filter, [`[${JSON.stringify(first)},${JSON.stringify(second)}`]);
    assert.equal(filter.isComplete, false);
  });

  for (const row of [
    { name: "an error frame", chunk: dataEvents(error) },
    { name: "a bare JSON error, as Google sends it", chunk: `${JSON.stringify(error, null, 2)}\n` },
  ]) {
    it(`holds ${row.name} back`, () => {
      const filter = new GenerateContentStreamFilter("sse", cap);
      assert.equal(runFilter(filter, [dataEvents(first), row.chunk]), dataEvents(first));
      assert.equal(filter.error?.kind, "overloaded");
    });
  }

  for (const row of [
    {
      name: "a frame",
      endpoint: { geminiStream: "sse" as const },
      chunks: [dataEvents(first)],
      want: /^data: \{"error":\{"code":502,.*\}\}\n\n$/,
    },
    {
      name: "a last element",
      endpoint: { geminiStream: "array" as const },
      chunks: [dataEvents(first)],
      want: /^,\r\n\{"error":\{"code":502,.*\}\}\]$/,
    },
    {
      name: "the only element",
      endpoint: { geminiStream: "array" as const },
      chunks: [],
      want: /^\[\{"error":\{"code":502,.*\}\}\]$/,
    },
  ]) {
    it(`ends a failed stream with ${row.name}`, () => {
      const call = callOf(format, {}, row.endpoint);
      const filter = format.createStreamFilter(call, cap);
      runFilter(filter, row.chunks);
      const bytes = clientFormat.renderStreamError(
        new GatewayError("upstream_error", "M"),
        { requestId: "r" },
        filter,
        call,
      );
      assert.match(bytes.toString(), row.want);
    });
  }
});
