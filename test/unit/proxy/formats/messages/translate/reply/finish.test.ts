import assert from "node:assert/strict";
import { heldEnding, readFinish, writeFinish } from "#proxy/formats/messages/translate/reply/finish";
import type { Finish } from "#proxy/neutral/reply";

describe("readFinish() of messages", () => {
  for (const row of [
    { stop: "end_turn", want: { reason: "stop" } },
    { stop: "end_turn", calls: true, want: { reason: "tool-calls" } },
    { stop: "tool_use", calls: true, want: { reason: "tool-calls" } },
    { stop: "tool_use", want: { reason: "stop" } },
    { stop: "max_tokens", calls: true, want: { reason: "length" } },
    { stop: "stop_sequence", sequence: "END", want: { reason: "stop-sequence", stopSequence: "END" } },
    { stop: "pause_turn", want: { reason: "pause" } },
    { stop: "compaction", want: { reason: "pause" } },
    { stop: "model_context_window_exceeded", want: { reason: "context" } },
    { stop: "something_new", want: { reason: "other" } },
    { stop: "constructor", want: { reason: "other" } },
  ]) {
    it(`pitfall 126: reads ${row.stop}${row.calls === true ? " with calls" : ""} as ${row.want.reason}`, () => {
      const finish = readFinish(
        { stop_reason: row.stop, stop_sequence: row.sequence ?? null },
        row.calls === true,
        true,
      );
      assert.deepEqual(JSON.parse(JSON.stringify(finish)), row.want);
    });
  }
  it("reads a refusal with its explanation, and tells one of the prompt itself", () => {
    const ending = { stop_reason: "refusal", stop_details: { type: "refusal", explanation: "no" } };
    const read = readFinish(ending, false, false);
    assert.deepEqual(read, { reason: "content-filter", explanation: "no", isPromptBlocked: true });
    assert.equal(readFinish(ending, false, true).isPromptBlocked, undefined);
  });
});

describe("heldEnding() of messages", () => {
  for (const row of [
    { first: "max_tokens", later: "end_turn", want: "max_tokens" },
    { first: "refusal", later: "end_turn", want: "refusal" },
    { first: "max_tokens", later: "tool_use", want: "max_tokens" },
    { first: "max_tokens", later: "refusal", want: "refusal" },
    { first: "end_turn", later: "max_tokens", want: "max_tokens" },
    { first: "end_turn", later: "tool_use", want: "tool_use" },
  ]) {
    it(`takes ${row.want} of ${row.first} and ${row.later}`, () => {
      const ending = heldEnding({ stop_reason: row.first }, { stop_reason: row.later });
      assert.deepEqual(ending, { stop_reason: row.want });
    });
  }
});

describe("writeFinish() of messages", () => {
  for (const [reason, want] of [
    ["stop", "end_turn"],
    ["stop-sequence", "stop_sequence"],
    ["length", "max_tokens"],
    ["context", "model_context_window_exceeded"],
    ["tool-calls", "tool_use"],
    ["content-filter", "refusal"],
    ["refusal", "refusal"],
    ["pause", "pause_turn"],
    ["malformed-call", "end_turn"],
    ["other", "end_turn"],
  ] as const) {
    it(`pitfall 126: writes ${reason} as ${want}`, () => assert.equal(writeFinish({ reason })["stop_reason"], want));
  }
  it("names the sequence that was found, and explains a refusal", () => {
    const found: Finish = { reason: "stop-sequence", stopSequence: "END" };
    assert.deepEqual(writeFinish(found), { stop_reason: "stop_sequence", stop_sequence: "END" });
    assert.deepEqual(writeFinish({ reason: "content-filter", explanation: "no" }), {
      stop_reason: "refusal",
      stop_sequence: null,
      stop_details: { type: "refusal", category: null, explanation: "no" },
    });
  });
});
