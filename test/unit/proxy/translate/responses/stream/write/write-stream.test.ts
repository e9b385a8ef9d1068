import assert from "node:assert/strict";
import { GatewayError } from "../../../../../../../proxy/errors.ts";
import type { JsonObject } from "../../../../../../../proxy/protocols/json-value.ts";
import type { TokenUsage } from "../../../../../../../proxy/settle/usage.ts";
import { foldReply } from "../../../../../../../proxy/translate/fold-reply.ts";
import type { OpenedBlock, ReplyEvent } from "../../../../../../../proxy/translate/reply.ts";
import { responsesTranslator } from "../../../../../../../proxy/translate/responses/translator.ts";
import { checkGrammar } from "../../../../../../support/digest/grammar.ts";
import { OpenStates } from "../../../../../../support/translation/exchange.ts";
import {
  framesOf,
  replyContext,
  writeStream,
  writeWhole,
} from "../../../../../../support/translation/responses-exchange.ts";

const usage: TokenUsage = {
  input: 10,
  cacheRead: 90,
  cacheWrite: 5,
  cacheWrite1h: 0,
  output: 17,
  reasoning: 20,
  audioInput: 0,
  audioOutput: 0,
  imageInput: 0,
  imageOutput: 0,
  searches: 0,
};

const state = { kind: "thinking", text: "T", signature: "SIG" } as const;
const start: ReplyEvent = { type: "start", id: "up", model: "up" };
const end: readonly ReplyEvent[] = [{ type: "finish", candidate: 0, finish: { reason: "stop" } }, { type: "end" }];

function open(part: number, block: OpenedBlock): ReplyEvent {
  return { type: "open", candidate: 0, part, block };
}
function delta(part: number, text: string): ReplyEvent {
  return { type: "delta", candidate: 0, part, text };
}
function close(part: number): ReplyEvent {
  return { type: "close", candidate: 0, part };
}
function call(part: number, id: string | undefined, name: string): ReplyEvent {
  return open(part, { kind: "call", id, name, tool: "function" });
}

/** The answer of golden.md. */
const golden: readonly ReplyEvent[] = [
  start,
  open(0, { kind: "reasoning" }),
  delta(0, "T"),
  { type: "state", candidate: 0, part: 0, state },
  close(0),
  open(1, { kind: "text" }),
  delta(1, "Hi"),
  close(1),
  call(2, "call_a", "f"),
  delta(2, "{}"),
  close(2),
  call(3, "call_b", "g"),
  delta(3, '{"x":1}'),
  close(3),
  { type: "finish", candidate: 0, finish: { reason: "tool-calls" } },
  { type: "usage", usage },
  { type: "end" },
];

const envelope = new OpenStates().seal([state]);

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

  it("G3: the events of an answer", () => {
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

  it("G2: the whole answer, and the same at the end of its stream", () => {
    const context = { instructions: "S", max_output_tokens: 2000, temperature: 0.5, store: false };
    const whole = writeWhole(
      foldReply(golden),
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
    assert.deepEqual(last, writeWhole(foldReply(golden), replyContext({ instructions: "S", stream: true })));
  });

  for (const row of [
    { name: "G6: a cut answer", reason: "length", status: "incomplete", details: { reason: "max_output_tokens" } },
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
      const stream = writeStream([
        start,
        { type: "finish", candidate: 0, finish: { reason: row.reason } },
        { type: "end" },
      ]);
      const last = framesOf(stream).at(-1);
      const response = Object(last?.["response"]);
      assert.equal(last?.["type"], `response.${row.status}`);
      assert.deepEqual([response.status, response.incomplete_details, response.output], [row.status, row.details, []]);
    });
  }
});

function types(events: readonly ReplyEvent[], body: object = {}): unknown[] {
  return framesOf(writeStream(events, replyContext({ ...body }))).map(({ type }) => type);
}

function outputOf(events: readonly ReplyEvent[], context = replyContext()): JsonObject[] {
  return Object(framesOf(writeStream(events, context)).at(-1)?.["response"]).output;
}

describe("responses: stream writer", () => {
  it("pitfall 47: numbers every event without a gap", () => {
    const numbers = framesOf(writeStream(golden)).map((frame) => frame["sequence_number"]);
    assert.deepEqual(numbers, [...numbers.keys()]);
  });

  it("pitfall 47: has what strict clients decode in every response, whatever the call said", () => {
    const responses = framesOf(writeStream(golden)).flatMap((frame) => frame["response"] ?? []);
    assert.equal(responses.length, 3);
    for (const response of responses) {
      const { text, tools, tool_choice, parallel_tool_calls } = Object(response);
      assert.deepEqual([text.format, tools, tool_choice, parallel_tool_calls], [{ type: "text" }, [], "auto", true]);
    }
    const { usage } = Object(responses.at(-1));
    assert.equal(typeof usage.input_tokens_details.cached_tokens, "number");
    assert.equal(typeof usage.output_tokens_details.reasoning_tokens, "number");
  });

  it("pitfall 46: an item is announced before anything of it is said", () => {
    const announced = new Set<unknown>();
    for (const frame of framesOf(writeStream(golden))) {
      if (frame["type"] === "response.output_item.added") announced.add(Object(frame["item"]).id);
      if (frame["item_id"] !== undefined) assert.ok(announced.has(frame["item_id"]));
    }
  });

  it("pitfall 48: a part is announced before its text, and ended after it", () => {
    const seen = types([start, open(0, { kind: "text" }), delta(0, "a"), close(0), ...end]);
    assert.deepEqual(seen, [
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
  });

  it("pitfall 49: no index is used again", () => {
    const indexes = framesOf(writeStream(golden)).flatMap((frame) =>
      frame["type"] === "response.output_item.added" ? [frame["output_index"]] : [],
    );
    assert.equal(new Set(indexes).size, indexes.length);
  });

  it("pitfall 148: indexes are dense from 0", () => {
    const added = framesOf(writeStream(golden)).filter(({ type }) => type === "response.output_item.added");
    assert.deepEqual(
      added.map((frame) => frame["output_index"]),
      [0, 1, 2, 3],
    );
  });

  it("pitfall 50: the end of a text has all of it", () => {
    const ended = framesOf(writeStream(golden)).find(({ type }) => type === "response.output_text.done");
    assert.equal(ended?.["text"], "Hi");
  });

  it("pitfall 147: every item has an id, and every event of it the same one", () => {
    const ids = new Map<unknown, unknown>();
    for (const frame of framesOf(writeStream(golden))) {
      const item = Object(frame["item"]);
      if (frame["type"] === "response.output_item.added") ids.set(frame["output_index"], item.id);
      if (frame["item_id"] !== undefined) assert.equal(frame["item_id"], ids.get(frame["output_index"]));
    }
    assert.equal(ids.size, 4);
  });

  it("pitfall 51: finished items say so, and have their annotations", () => {
    const [, message, ...calls] = outputOf(golden);
    assert.deepEqual(
      [message, ...calls].map((item) => item?.["status"]),
      ["completed", "completed", "completed"],
    );
    assert.deepEqual(Object(message?.["content"])[0].annotations, []);
  });

  it("pitfall 55: the final response holds every finished item as it was", () => {
    const frames = framesOf(writeStream(golden));
    const done = frames.filter(({ type }) => type === "response.output_item.done").map((frame) => frame["item"]);
    assert.deepEqual(Object(frames.at(-1)?.["response"]).output, done);
  });

  it("pitfall 32: times are whole seconds", () => {
    assert.equal(Object(framesOf(writeStream(golden))[0]?.["response"]).created_at, 1_790_000_000);
  });

  it("joins neighbouring texts into one part, with citations where they stand", () => {
    const [item] = outputOf([
      start,
      open(0, { kind: "text" }),
      delta(0, "one "),
      close(0),
      open(1, { kind: "text" }),
      delta(1, "two"),
      { type: "citation", candidate: 0, part: 1, citation: { url: "https://a.example/" } },
      close(1),
      ...end,
    ]);
    assert.deepEqual(item?.["content"], [
      {
        type: "output_text",
        text: "one two",
        annotations: [{ type: "url_citation", url: "https://a.example/", title: "", start_index: 4, end_index: 7 }],
        logprobs: [],
      },
    ]);
  });

  it("makes no message of a model that only called tools", () => {
    const output = outputOf([start, open(0, { kind: "text" }), close(0), call(1, "c", "f"), close(1), ...end]);
    assert.deepEqual(
      output.map(({ type }) => type),
      ["function_call"],
    );
  });

  it("pitfall 28: a call without arguments ends with an empty object", () => {
    const [item] = outputOf([start, call(0, "c", "f"), close(0), ...end]);
    assert.equal(item?.["arguments"], "{}");
  });

  it("keeps calls apart that are open together", () => {
    const output = outputOf([
      start,
      call(0, "a", "f"),
      delta(0, '{"x"'),
      call(1, "b", "g"),
      delta(1, "{}"),
      delta(0, ":1}"),
      close(0),
      close(1),
      ...end,
    ]);
    assert.deepEqual(
      output.map((item) => [item["call_id"], item["arguments"]]),
      [
        ["a", '{"x":1}'],
        ["b", "{}"],
      ],
    );
  });

  it("never mixes texts that are open together", () => {
    const output = outputOf([
      start,
      open(0, { kind: "text" }),
      delta(0, "a"),
      open(1, { kind: "text" }),
      delta(1, "b"),
      delta(0, "a"),
      close(0),
      close(1),
      ...end,
    ]);
    assert.deepEqual(
      output.map((item) => Object(item["content"])[0].text),
      ["aa", "b"],
    );
  });

  it("puts a call's state into a reasoning item before it", () => {
    const signed = { kind: "thought-signature", data: "TSIG" } as const;
    const output = outputOf([
      start,
      call(0, "c", "f"),
      { type: "state", candidate: 0, part: 0, state: signed },
      delta(0, "{}"),
      close(0),
      ...end,
    ]);
    assert.deepEqual(output[0], {
      type: "reasoning",
      id: output[0]?.["id"],
      summary: [],
      encrypted_content: new OpenStates().seal([signed]),
    });
    assert.equal(output[1]?.["type"], "function_call");
  });

  it("keeps a state here that came after the call had begun", () => {
    const states = new OpenStates({ native: true });
    const signed = { kind: "thought-signature", data: "TSIG" } as const;
    const events: readonly ReplyEvent[] = [
      start,
      call(0, "c", "f"),
      delta(0, "{}"),
      { type: "state", candidate: 0, part: 0, state: signed },
      close(0),
      ...end,
    ];
    assert.equal(outputOf(events, replyContext({}, { states })).length, 1);
    assert.deepEqual(states.remembered.get("c"), [signed]);
  });

  it("marks reasoning without state as the gateway's own, so that it never goes to a provider", () => {
    const events = [start, open(0, { kind: "reasoning" }), delta(0, "T"), close(0), ...end];
    const input = outputOf(events);
    assert.deepEqual(responsesTranslator.removeSealedState({ model: "m", input })["input"], []);
  });

  it("has no reasoning item for reasoning that says nothing", () => {
    assert.deepEqual(outputOf([start, open(0, { kind: "reasoning" }), close(0), ...end]), []);
  });

  it("gives a tool of a namespace its own name back", () => {
    const tools = [{ type: "namespace", name: "ns", tools: [{ type: "function", name: "f" }] }];
    const [item] = outputOf([start, call(0, "c", "ns__f"), close(0), ...end], replyContext({ tools }));
    assert.deepEqual([item?.["namespace"], item?.["name"]], ["ns", "f"]);
  });

  it("streams the text of a custom tool", () => {
    const events: readonly ReplyEvent[] = [
      start,
      open(0, { kind: "call", id: "c", name: "sql", tool: "custom" }),
      delta(0, "SELECT "),
      delta(0, "1"),
      close(0),
      ...end,
    ];
    const [item] = outputOf(events);
    assert.deepEqual([item?.["type"], item?.["input"]], ["custom_tool_call", "SELECT 1"]);
    assert.equal(types(events).filter((type) => type === "response.custom_tool_call_input.delta").length, 2);
  });

  it("shows pictures, and drops what the format has no place for", () => {
    const output = outputOf([
      start,
      open(0, { kind: "media", mime: "image/webp", base64: "AAAA" }),
      close(0),
      open(1, { kind: "media", mime: "audio/wav", base64: "AAAA" }),
      close(1),
      open(2, { kind: "hosted", tool: "other", type: "x" }),
      close(2),
      ...end,
    ]);
    assert.deepEqual(
      output.map(({ type, result }) => [type, result]),
      [["image_generation_call", "AAAA"]],
    );
  });

  it("joins code and its output, though they come apart", () => {
    const output = outputOf([
      start,
      open(0, { kind: "hosted", tool: "code", type: "executableCode", code: "1+1" }),
      close(0),
      open(1, { kind: "hosted", tool: "code", type: "codeExecutionResult", output: "2" }),
      close(1),
      ...end,
    ]);
    assert.deepEqual(
      output.map(({ type, code, outputs }) => [type, code, outputs]),
      [["code_interpreter_call", "1+1", [{ type: "logs", logs: "2" }]]],
    );
  });

  it("marks the item that the length cut", () => {
    const output = outputOf([
      start,
      call(0, "a", "f"),
      delta(0, "{}"),
      close(0),
      call(1, "b", "f"),
      delta(1, '{"x'),
      close(1),
      { type: "finish", candidate: 0, finish: { reason: "length" } },
      { type: "end" },
    ]);
    assert.deepEqual(
      output.map(({ status }) => status),
      ["completed", "incomplete"],
    );
  });

  it("gives log probabilities only to who asked", () => {
    const events: readonly ReplyEvent[] = [
      start,
      open(0, { kind: "text" }),
      { type: "logprobs", candidate: 0, part: 0, tokens: [{ token: "é", logprob: -1, top: [] }] },
      delta(0, "é"),
      close(0),
      ...end,
    ];
    const asked = outputOf(events, replyContext({ include: ["message.output_text.logprobs"] }));
    assert.deepEqual(Object(asked[0]?.["content"])[0].logprobs, [
      { token: "é", logprob: -1, bytes: [195, 169], top_logprobs: [] },
    ]);
    assert.deepEqual(Object(outputOf(events)[0]?.["content"])[0].logprobs, []);
  });

  it("ignores other candidates than the first", () => {
    const other: ReplyEvent = { type: "open", candidate: 1, part: 0, block: { kind: "text" } };
    assert.deepEqual(outputOf([start, other, { type: "close", candidate: 1, part: 0 }, ...end]), []);
  });

  it("pitfall 7: says that the upstream lives", () => assert.match(writeStream([{ type: "ping" }]), /^: /));

  it("never echoes the credentials of a tool", () => {
    const tools = [{ type: "mcp", server_label: "s", authorization: "secret-1", headers: { "x-key": "secret-2" } }];
    const stream = writeStream([start], replyContext({ tools }));
    assert.match(stream, /server_label/);
    assert.doesNotMatch(stream, /secret/);
  });

  it("echoes what was asked", () => {
    const asked = {
      tools: { type: "function", name: "f" },
      tool_choice: { type: "function", name: "f" },
      parallel_tool_calls: false,
      reasoning: { effort: "low" },
      text: { verbosity: "low" },
      metadata: { a: "b" },
      user: "u",
      truncation: "auto",
      service_tier: "flex",
      top_p: 0,
    };
    const response = Object(framesOf(writeStream([start], replyContext(asked)))[0]?.["response"]);
    assert.deepEqual(Object.fromEntries(Object.keys(asked).map((name) => [name, response[name]])), {
      ...asked,
      tools: [{ type: "function", name: "f", description: null, parameters: null, strict: null }],
      reasoning: { effort: "low", summary: null },
      text: { format: { type: "text" }, verbosity: "low" },
    });
  });
});

describe("responses: stream writer, failures", () => {
  const error = new GatewayError("upstream_error", "The provider broke off.");
  const failed = (events: readonly ReplyEvent[]): string => {
    const writer = responsesTranslator.createStreamWriter(replyContext({ stream: true }));
    let text = "";
    for (const event of events) text += writer.write(event);
    return text + writer.fail(error, { requestId: "r1" });
  };

  for (let upTo = 0; upTo < golden.length; upTo += 1) {
    it(`pitfall 149: cut after ${upTo} events it never looks complete`, () => {
      const text = failed(golden.slice(0, upTo));
      assert.deepEqual(checkGrammar("openai-responses", Buffer.from(text)), []);
      const frames = framesOf(text);
      assert.deepEqual(
        frames.slice(-2).map(({ type }) => type),
        ["error", "response.failed"],
      );
      assert.ok(!frames.some(({ type }) => type === "response.completed" || type === "response.incomplete"));
      assert.equal(Object(frames.at(-1)?.["response"]).status, "failed");
    });
  }

  it("pitfall 10: the error stands where each SDK looks, and the text so far is kept", () => {
    const frames = framesOf(failed(golden.slice(0, 7)));
    const event = frames.find(({ type }) => type === "error");
    assert.equal(event?.["code"], "upstream_error");
    assert.deepEqual(event?.["error"], {
      type: "server_error",
      code: "upstream_error",
      message: "The provider broke off.",
      param: null,
    });
    const response = Object(frames.at(-1)?.["response"]);
    assert.deepEqual(response.error, { code: "server_error", message: "The provider broke off." });
    assert.equal(response.output[1].content[0].text, "Hi");
    assert.equal(response.output[1].status, "incomplete");
  });
});
