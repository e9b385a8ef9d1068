import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { generateContent as format } from "#proxy/formats/generate-content/native/format";
import { GenerateContentStreamMeter } from "#proxy/formats/generate-content/native/stream-filter";
import { dataEvents, runMeter } from "#test/support/calls/run-meter";
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

describe("generateContent: stream meter", () => {
  it("passes frames, completes when the body ends and takes the last value of each count", () => {
    const meter = new GenerateContentStreamMeter("sse", cap);
    assert.equal(meter.push(Buffer.from(frames)).map(String).join(""), frames);
    assert.equal(meter.isComplete, false);
    assert.deepEqual(meter.end(), []);
    assert.equal(meter.isComplete, true);
    assert.deepEqual([meter.usage?.input, meter.usage?.output, meter.usage?.reasoning], [3, 2, 4]);
    assert.equal(meter.produced().text, "hello");
  });

  it("does not complete without a finish reason", () => {
    const meter = new GenerateContentStreamMeter("sse", cap);
    runMeter(meter, [dataEvents(first)]);
    assert.equal(meter.isComplete, false);
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
        const meter = new GenerateContentStreamMeter(shape, cap);
        const frames = row.frames.map(([index, finishReason]) => ({
          candidates: [{ index, content: { role: "model", parts: [{ text: "a" }] }, finishReason }],
        }));
        const passed = runMeter(meter, [dataEvents(...frames)]);
        assert.equal(meter.isComplete, row.complete);
        if (shape === "array") assert.equal(passed.endsWith("]"), row.complete);
      });
    }
  }

  it("completes a blocked prompt", () => {
    const meter = new GenerateContentStreamMeter("sse", cap);
    runMeter(meter, [dataEvents({ promptFeedback: { blockReason: "SAFETY" } })]);
    assert.equal(meter.isComplete, true);
  });

  it("writes an array for a client that asked without alt=sse, its first element at once", () => {
    const meter = new GenerateContentStreamMeter("array", cap);
    assert.equal(
      meter
        .push(Buffer.from(dataEvents(first)))
        .map(String)
        .join(""),
      `[${JSON.stringify(first)}`,
    );
    assert.equal(
      meter
        .push(Buffer.from(dataEvents(second)))
        .map(String)
        .join(""),
      `,\r\n${JSON.stringify(second)}`,
    );
    assert.equal(meter.end().map(String).join(""), "]");
  });

  for (const row of [
    { shape: "sse" as const, want: dataEvents(first, second).replaceAll("\n\n", "\r\n\r\n") },
    { shape: "array" as const, want: `[${JSON.stringify(first)},\r\n${JSON.stringify(second)}]` },
  ]) {
    it(`reads an upstream that answers with an array and writes ${row.shape}`, () => {
      const meter = new GenerateContentStreamMeter(row.shape, cap);
      assert.equal(runMeter(meter, [...JSON.stringify([first, second])]), row.want);
      assert.equal(meter.isComplete, true);
    });
  }

  it("does not complete an array that was cut behind its last element", () => {
    const meter = new GenerateContentStreamMeter("array", cap);
    runMeter(meter, [`[${JSON.stringify(first)},${JSON.stringify(second)}`]);
    assert.equal(meter.isComplete, false);
  });

  for (const row of [
    { name: "an error frame", chunk: dataEvents(error) },
    { name: "a bare JSON error, as Google sends it", chunk: `${JSON.stringify(error, null, 2)}\n` },
  ]) {
    it(`holds ${row.name} back`, () => {
      const meter = new GenerateContentStreamMeter("sse", cap);
      assert.equal(runMeter(meter, [dataEvents(first), row.chunk]), dataEvents(first));
      assert.equal(meter.error?.kind, "overloaded");
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
      const meter = format.createStreamMeter(call, cap);
      runMeter(meter, row.chunks);
      const bytes = format.renderStreamError(new GatewayError("upstream_error", "M"), { requestId: "r" }, meter, call);
      assert.match(bytes.toString(), row.want);
    });
  }
});
