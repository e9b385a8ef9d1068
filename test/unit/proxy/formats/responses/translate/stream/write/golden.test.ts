import assert from "node:assert/strict";
import type { JsonObject } from "#proxy/json/json-value";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { OpenStates } from "#test/support/translation/exchange";
import { end, start } from "#test/support/translation/reply-events";
import { framesOf, replyContext, writeStream, writeWhole } from "#test/support/translation/responses-exchange";
import { golden, goldenState } from "#test/support/translation/responses-golden-reply";

const envelope = new OpenStates().seal([goldenState]);

const goldenOutput = [
  { type: "reasoning", id: "rs_2", summary: [{ type: "summary_text", text: "T" }], encrypted_content: envelope },
  {
    type: "message",
    id: "msg_3",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: "Hi", annotations: [], logprobs: [] }],
  },
  { type: "function_call", id: "fc_4", call_id: "call_a", name: "f", arguments: "{}", status: "completed" },
  { type: "function_call", id: "fc_5", call_id: "call_b", name: "g", arguments: '{"x":1}', status: "completed" },
];

const goldenUsage = {
  input_tokens: 105,
  input_tokens_details: { cached_tokens: 90, cache_write_tokens: 5 },
  output_tokens: 37,
  output_tokens_details: { reasoning_tokens: 20 },
  total_tokens: 142,
};

/** Type and what is not the same in every event. */
function told({ type, sequence_number: _number, response, ...rest }: JsonObject): unknown {
  return response === undefined ? [type, rest] : [type];
}

describe("responses: stream writer, golden", () => {
  const frames = framesOf(writeStream(golden, replyContext({ stream: true, instructions: "S" })));

  it("G3: the events of a reply", () => {
    const summary = { item_id: "rs_2", output_index: 0, summary_index: 0 };
    const text = { item_id: "msg_3", output_index: 1, content_index: 0 };
    const part = (content: string) => ({ type: "output_text", text: content, annotations: [], logprobs: [] });
    const opened = { type: "function_call", arguments: "", status: "in_progress" };
    assert.deepEqual(frames.map(told), [
      ["response.created"],
      ["response.in_progress"],
      ["response.output_item.added", { output_index: 0, item: { type: "reasoning", id: "rs_2", summary: [] } }],
      ["response.reasoning_summary_part.added", { ...summary, part: { type: "summary_text", text: "" } }],
      ["response.reasoning_summary_text.delta", { ...summary, delta: "T" }],
      ["response.reasoning_summary_text.done", { ...summary, text: "T" }],
      ["response.reasoning_summary_part.done", { ...summary, part: { type: "summary_text", text: "T" } }],
      ["response.output_item.done", { output_index: 0, item: goldenOutput[0] }],
      [
        "response.output_item.added",
        {
          output_index: 1,
          item: { type: "message", id: "msg_3", status: "in_progress", role: "assistant", content: [] },
        },
      ],
      ["response.content_part.added", { ...text, part: part("") }],
      ["response.output_text.delta", { ...text, delta: "Hi", logprobs: [] }],
      ["response.output_text.done", { ...text, text: "Hi", logprobs: [] }],
      ["response.content_part.done", { ...text, part: part("Hi") }],
      ["response.output_item.done", { output_index: 1, item: goldenOutput[1] }],
      [
        "response.output_item.added",
        { output_index: 2, item: { ...opened, id: "fc_4", call_id: "call_a", name: "f" } },
      ],
      ["response.function_call_arguments.delta", { item_id: "fc_4", output_index: 2, delta: "{}" }],
      ["response.function_call_arguments.done", { item_id: "fc_4", output_index: 2, name: "f", arguments: "{}" }],
      ["response.output_item.done", { output_index: 2, item: goldenOutput[2] }],
      [
        "response.output_item.added",
        { output_index: 3, item: { ...opened, id: "fc_5", call_id: "call_b", name: "g" } },
      ],
      ["response.function_call_arguments.delta", { item_id: "fc_5", output_index: 3, delta: '{"x":1}' }],
      ["response.function_call_arguments.done", { item_id: "fc_5", output_index: 3, name: "g", arguments: '{"x":1}' }],
      ["response.output_item.done", { output_index: 3, item: goldenOutput[3] }],
      ["response.completed"],
    ]);
  });

  it("G2: the whole reply, and the same at the end of its stream", () => {
    const context = { instructions: "S", max_output_tokens: 2000, temperature: 0.5, store: false };
    const whole = writeWhole(
      aggregateReply(golden),
      replyContext({ ...context, reasoning: { effort: "medium", summary: "auto" } }),
    );
    assert.deepEqual(whole, {
      id: "resp_1",
      object: "response",
      created_at: 1_790_000_000,
      completed_at: 1_790_000_000,
      status: "completed",
      background: false,
      error: null,
      incomplete_details: null,
      instructions: "S",
      max_output_tokens: 2000,
      max_tool_calls: null,
      model: "m",
      output: goldenOutput,
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      reasoning: { effort: "medium", summary: "auto" },
      safety_identifier: null,
      service_tier: "default",
      store: false,
      temperature: 0.5,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      text: { format: { type: "text" }, verbosity: "medium" },
      tool_choice: "auto",
      tools: [],
      truncation: "disabled",
      usage: goldenUsage,
      metadata: {},
    });
    const last = frames.at(-1)?.["response"];
    assert.deepEqual(last, writeWhole(aggregateReply(golden), replyContext({ instructions: "S", stream: true })));
  });

  for (const row of [
    { name: "G6: a cut reply", reason: "length", status: "incomplete", details: { reason: "max_output_tokens" } },
    {
      name: "G6: a blocked one",
      reason: "content-filter",
      status: "incomplete",
      details: { reason: "content_filter" },
    },
    { name: "a full context", reason: "context", status: "incomplete", details: { reason: "max_output_tokens" } },
    { name: "a stop sequence", reason: "stop-sequence", status: "completed", details: null },
    { name: "a refusal", reason: "refusal", status: "completed", details: null },
    { name: "a pause", reason: "pause", status: "completed", details: null },
  ] as const) {
    it(`${row.name} says ${row.status}`, () => {
      const stream = writeStream([start, { type: "finish", candidate: 0, finish: { reason: row.reason } }, end]);
      const last = framesOf(stream).at(-1);
      const response = Object(last?.["response"]);
      assert.equal(last?.["type"], `response.${row.status}`);
      assert.deepEqual([response.status, response.incomplete_details, response.output], [row.status, row.details, []]);
    });
  }
});
