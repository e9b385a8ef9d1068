import assert from "node:assert/strict";
import { readReply } from "#proxy/formats/generate-content/translate/reply/read-reply";
import type { JsonObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { type Finish, InvalidReply } from "#proxy/neutral/reply";
import { readFrames } from "#test/unit/proxy/formats/generate-content/translate/replay";

function frame(...parts: readonly JsonObject[]): JsonObject {
  return { candidates: [{ content: { role: "model", parts } }] };
}

const stop = { candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }] };

describe("the stream reader of generateContent: why a reply ended", () => {
  for (const [finishReason, want] of [
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content-filter"],
    ["RECITATION", "content-filter"],
    ["BLOCKLIST", "content-filter"],
    ["PROHIBITED_CONTENT", "content-filter"],
    ["SPII", "content-filter"],
    ["IMAGE_SAFETY", "content-filter"],
    ["IMAGE_PROHIBITED_CONTENT", "content-filter"],
    ["IMAGE_RECITATION", "content-filter"],
    ["LANGUAGE", "content-filter"],
    ["CONTINUATION", "continuation"],
    ["MALFORMED_FUNCTION_CALL", "malformed-call"],
    ["UNEXPECTED_TOOL_CALL", "malformed-call"],
    ["TOO_MANY_TOOL_CALLS", "malformed-call"],
    ["MALFORMED_RESPONSE", "malformed-call"],
    ["OTHER", "other"],
    ["NO_IMAGE", "other"],
    ["A_REASON_OF_TOMORROW", "other"],
    ["toString", "other"],
  ] as const) {
    it(`pitfall 126: ${finishReason} is ${want}`, () => {
      const [candidate] = aggregateReply(readFrames([{ candidates: [{ finishReason }] }])).candidates;
      assert.deepEqual(candidate?.finish, { reason: want });
    });
  }

  it("a reply that was cut stays cut, calls or not", () => {
    const parts = [{ functionCall: { name: "f" } }];
    const events = readFrames([{ candidates: [{ content: { parts }, finishReason: "MAX_TOKENS" }] }]);
    assert.equal(aggregateReply(events).candidates[0]?.finish.reason, "length");
  });

  it("keeps what the provider says about it", () => {
    const events = readFrames([{ candidates: [{ finishReason: "SAFETY", finishMessage: "because" }] }]);
    assert.deepEqual(aggregateReply(events).candidates[0]?.finish, {
      reason: "content-filter",
      explanation: "because",
    });
  });

  it("G6: a refused prompt has no output", () => {
    const want: Finish = { reason: "content-filter", isPromptBlocked: true, explanation: "no" };
    const [candidate] = aggregateReply(
      readFrames([{ promptFeedback: { blockReason: "SAFETY", blockReasonMessage: "no" } }]),
    ).candidates;
    assert.deepEqual(candidate, { blocks: [], finish: want });
  });

  for (const [name, first] of [
    ["was cut", [{ index: 0, content: { parts: [{ text: "half of" }] } }]],
    ["never came", []],
  ] as const) {
    it(`a reply is none when one candidate ended and another ${name}`, () => {
      const other = { index: 1, content: { parts: [{ text: "whole" }] }, finishReason: "STOP" };
      assert.throws(() => readFrames([{ candidates: [...first, other] }]), InvalidReply);
    });
  }
  it("pitfall 8: a reply that never said why it ended is none", () => {
    assert.throws(() => readFrames([frame({ text: "a" })]), InvalidReply);
    assert.throws(() => readFrames([]), InvalidReply);
  });

  for (const body of [
    { candidates: [], usageMetadata: { promptTokenCount: 3 } },
    { usageMetadata: { promptTokenCount: 3 }, modelVersion: "g" },
  ]) {
    it(`pitfall 34: a whole reply with ${Object.keys(body).join(" and ")} alone is none, as its stream is`, () => {
      assert.throws(() => readReply(body), InvalidReply);
      assert.throws(() => readFrames([body]), InvalidReply);
    });
  }

  it("takes the last of several reasons, and reads on behind them", () => {
    const events = readFrames([
      { ...stop },
      { ...frame({ text: "a" }) },
      { candidates: [{ finishReason: "MAX_TOKENS" }] },
    ]);
    assert.equal(aggregateReply(events).candidates[0]?.finish.reason, "length");
  });

  for (const row of [
    { first: "MAX_TOKENS", later: "STOP", want: { reason: "length", explanation: "why" } },
    { first: "SAFETY", later: "STOP", want: { reason: "content-filter", explanation: "why" } },
    { first: "MALFORMED_FUNCTION_CALL", later: "STOP", want: { reason: "malformed-call", explanation: "why" } },
    { first: "MAX_TOKENS", later: "SAFETY", want: { reason: "content-filter" } },
  ]) {
    it(`a reply that was cut stays cut: ${row.first}, then ${row.later} is ${row.want.reason}`, () => {
      const events = readFrames([
        frame({ text: "half of" }),
        { candidates: [{ finishReason: row.first, finishMessage: "why" }] },
        { candidates: [{ finishReason: row.later }] },
      ]);
      assert.deepEqual(aggregateReply(events).candidates[0]?.finish, row.want);
    });
  }
});
