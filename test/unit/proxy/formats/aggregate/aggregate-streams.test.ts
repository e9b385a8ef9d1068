/** What a stream says in the ways of many vendors, as the whole reply that it tells. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { InvalidReply } from "#proxy/neutral/reply";
import { at } from "#test/support/digest/facts";
import { aggregated } from "#test/support/translation/own-format-exchange";

type Row = {
  readonly name: string;
  readonly said: readonly object[];
  readonly path: readonly (string | number)[];
  readonly want: unknown;
};

const chunk = (delta: object, more: object = {}) => ({
  id: "c",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const chatEnd = chunk({}, { finish_reason: "stop" });
const call = (piece: object) => chunk({ tool_calls: [piece] });
const message = ["choices", 0, "message"] as const;

const chatRows: readonly Row[] = [
  {
    name: "an opening {} before the real arguments is none of them (pitfall 27)",
    said: [
      call({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }),
      call({ index: 0, function: { arguments: '{"x":1}' } }),
    ],
    path: [...message, "tool_calls"],
    want: [{ id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } }],
  },
  {
    name: "a call without arguments has none (pitfall 28)",
    said: [call({ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } })],
    path: [...message, "tool_calls", 0, "function", "arguments"],
    want: "{}",
  },
  {
    name: "calls without indexes are told apart by their ids",
    said: [
      call({ id: "a", function: { name: "f", arguments: "{}" } }),
      call({
        id: "b",
        function: { name: "g", arguments: '{"x":1}' },
        extra_content: { google: { thought_signature: "s" } },
      }),
    ],
    path: [...message, "tool_calls"],
    want: [
      { id: "a", type: "function", function: { name: "f", arguments: "{}" } },
      {
        id: "b",
        type: "function",
        function: { name: "g", arguments: '{"x":1}' },
        extra_content: { google: { thought_signature: "s" } },
      },
    ],
  },
  {
    name: "parts of one kind go on with each other (Mistral)",
    said: [
      chunk({ role: "assistant", content: "" }),
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "a" }] }] }),
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "b" }], closed: true }] }),
      chunk({ content: "c" }),
      chunk({ content: "d" }),
    ],
    path: [...message, "content"],
    want: [
      { type: "thinking", thinking: [{ type: "text", text: "ab" }], closed: true },
      { type: "text", text: "cd" },
    ],
  },
  {
    name: "details of one index go on with each other (OpenRouter)",
    said: [
      chunk({ reasoning_details: [{ type: "reasoning.text", text: "a", index: 0 }] }),
      chunk({ reasoning_details: [{ type: "reasoning.text", text: "b", index: 0 }] }),
      chunk({ reasoning_details: [{ type: "reasoning.text", signature: "s", index: 0 }] }),
      chunk({ reasoning_details: [{ type: "reasoning.encrypted", data: "e", index: 1 }] }),
    ],
    path: [...message, "reasoning_details"],
    want: [
      { type: "reasoning.text", text: "ab", index: 0, signature: "s" },
      { type: "reasoning.encrypted", data: "e", index: 1 },
    ],
  },
  {
    name: "sound is joined by its bytes",
    said: [
      chunk({ audio: { id: "s", data: "QQ==" } }),
      chunk({ audio: { data: "Qg==", transcript: "a" } }),
      chunk({ audio: { transcript: "b", expires_at: 1 } }),
    ],
    path: [...message, "audio"],
    want: { id: "s", data: "QUI=", transcript: "ab", expires_at: 1 },
  },
  {
    name: "probabilities are those of all pieces",
    said: [
      chunk({ content: "a" }, { logprobs: { content: [{ token: "a" }], refusal: null } }),
      chunk({ content: "b" }, { logprobs: { content: [{ token: "b" }], refusal: null } }),
    ],
    path: ["choices", 0, "logprobs"],
    want: { content: [{ token: "a" }, { token: "b" }], refusal: null },
  },
  {
    name: "a name that is a prototype's is a name",
    said: [
      JSON.parse('{"id":"c","__proto__":{"polluted":1},"choices":[{"index":0,"delta":{"__proto__":{"polluted":1}}}]}'),
    ],
    path: [...message, "content"],
    want: null,
  },
];

const started = {
  type: "message_start",
  message: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    usage: { input_tokens: 3, output_tokens: 1, service_tier: null },
  },
};
const blockStart = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block });
const delta = (index: number, piece: object) => ({ type: "content_block_delta", index, delta: piece });
const stopped = (stop_reason: string, more: object = {}) => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 9 }, ...more },
  { type: "message_stop" },
];

const messagesRows: readonly Row[] = [
  {
    name: "usage is cumulative, and nulls stay",
    said: [started, ...stopped("end_turn")],
    path: ["usage"],
    want: { input_tokens: 3, output_tokens: 9, service_tier: null },
  },
  {
    name: "a signature in pieces is one (pitfall 44)",
    said: [
      started,
      blockStart(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "signature_delta", signature: "a" }),
      delta(0, { type: "signature_delta", signature: "b" }),
      ...stopped("end_turn"),
    ],
    path: ["content", 0, "signature"],
    want: "ab",
  },
  {
    name: "a delta that nobody knows adds to the members that it names",
    said: [
      started,
      blockStart(0, { type: "future", log: "a", n: 1 }),
      delta(0, { type: "future_delta", log: "b", n: 2 }),
      ...stopped("end_turn"),
    ],
    path: ["content", 0],
    want: { type: "future", log: "ab", n: 2 },
  },
  {
    name: "what stands beside the reason concerns the message",
    said: [started, ...stopped("end_turn", { context_management: { applied_edits: [] } })],
    path: ["context_management"],
    want: { applied_edits: [] },
  },
  {
    name: "long integers of an input keep their digits",
    said: [
      started,
      blockStart(0, { type: "server_tool_use", id: "s", name: "n", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: '{"n":1' }),
      delta(0, { type: "input_json_delta", partial_json: ',"s":"\\ud83d\\ude00"}' }),
      ...stopped("pause_turn"),
    ],
    path: ["content", 0, "input"],
    want: { n: 1, s: "😀" },
  },
];

const frame = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
});
const geminiEnd = frame([{ text: "" }], { finishReason: "STOP" });
const parts = ["candidates", 0, "content", "parts"] as const;
const chunkOf = (uri: string) => ({ web: { uri } });

const geminiRows: readonly Row[] = [
  {
    name: "texts are joined, and never across a signature",
    said: [
      frame([{ text: "a" }]),
      frame([{ text: "b" }]),
      frame([{ text: "", thoughtSignature: "s" }]),
      frame([{ text: "c" }]),
      geminiEnd,
    ],
    path: parts,
    want: [{ text: "ab" }, { text: "", thoughtSignature: "s" }, { text: "c" }],
  },
  {
    name: "arguments by paths become one object (Vertex)",
    said: [
      frame([{ functionCall: { name: "f", willContinue: true }, thoughtSignature: "s" }]),
      frame([
        {
          functionCall: {
            partialArgs: [{ jsonPath: "$.a", stringValue: "x", willContinue: true }],
            willContinue: true,
          },
        },
      ]),
      frame([{ functionCall: { partialArgs: [{ jsonPath: "$.a", stringValue: "y" }], willContinue: true } }]),
      frame([{ functionCall: {} }], { finishReason: "STOP" }),
    ],
    path: parts,
    want: [{ functionCall: { name: "f", args: { a: "xy" } }, thoughtSignature: "s" }],
  },
  {
    name: "sources of later frames follow the earlier ones",
    said: [
      frame([{ text: "a" }], { groundingMetadata: { groundingChunks: [chunkOf("1")], webSearchQueries: ["q"] } }),
      frame([{ text: "b" }], { groundingMetadata: { groundingChunks: [chunkOf("2")] } }),
      geminiEnd,
    ],
    path: ["candidates", 0, "groundingMetadata"],
    want: { groundingChunks: [chunkOf("1"), chunkOf("2")], webSearchQueries: ["q"] },
  },
  {
    name: "sources that are said again are there once",
    said: [
      frame([{ text: "a" }], { groundingMetadata: { groundingChunks: [chunkOf("1")] } }),
      frame([{ text: "b" }], { groundingMetadata: { groundingChunks: [chunkOf("1"), chunkOf("2")] } }),
      geminiEnd,
    ],
    path: ["candidates", 0, "groundingMetadata", "groundingChunks"],
    want: [chunkOf("1"), chunkOf("2")],
  },
  {
    name: "a reply that was cut stays cut",
    said: [frame([{ text: "a" }], { finishReason: "MAX_TOKENS" }), geminiEnd],
    path: ["candidates", 0, "finishReason"],
    want: "MAX_TOKENS",
  },
];

const created = {
  type: "response.created",
  response: { id: "r", object: "response", status: "in_progress", output: [] },
};
const completed = (output: readonly object[]) => ({
  type: "response.completed",
  response: { id: "r", object: "response", status: "completed", output },
});
const added = (output_index: number, item: object) => ({ type: "response.output_item.added", output_index, item });
const done = (output_index: number, item: object) => ({ type: "response.output_item.done", output_index, item });
const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } };

const responsesRows: readonly Row[] = [
  {
    name: "items that the end leaves out are those that were done (pitfall 55)",
    said: [created, added(0, { ...search, status: "in_progress" }), done(0, search), completed([])],
    path: ["output"],
    want: [search],
  },
  {
    name: "items that only the end shows follow those that were done",
    said: [created, done(0, search), completed([{ type: "message", id: "msg_1", role: "assistant", content: [] }])],
    path: ["output"],
    want: [search, { type: "message", id: "msg_1", role: "assistant", content: [] }],
  },
  {
    name: "of relays that send nothing but deltas, what those said",
    said: [
      created,
      {
        type: "response.output_text.delta",
        output_index: 0,
        item_id: "msg_1",
        content_index: 0,
        delta: "a",
        logprobs: [],
      },
      {
        type: "response.output_text.delta",
        output_index: 0,
        item_id: "msg_1",
        content_index: 0,
        delta: "b",
        logprobs: [],
      },
      {
        type: "response.output_text.annotation.added",
        output_index: 0,
        content_index: 0,
        annotation_index: 0,
        annotation: { type: "file_path", file_id: "f" },
      },
      added(1, { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: "", status: "in_progress" }),
      { type: "response.function_call_arguments.delta", output_index: 1, item_id: "fc_1", delta: '{"x":' },
      { type: "response.function_call_arguments.delta", output_index: 1, item_id: "fc_1", delta: "1}" },
      { type: "response.reasoning_summary_text.delta", output_index: 2, item_id: "rs_1", summary_index: 0, delta: "T" },
      completed([]),
    ],
    path: ["output"],
    want: [
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        content: [
          { type: "output_text", text: "ab", annotations: [{ type: "file_path", file_id: "f" }], logprobs: [] },
        ],
      },
      { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: '{"x":1}', status: "completed" },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "T" }] },
    ],
  },
  {
    name: "previews of a picture are no part of the reply",
    said: [
      created,
      added(0, { type: "image_generation_call", id: "ig_1", status: "in_progress" }),
      {
        type: "response.image_generation_call.partial_image",
        output_index: 0,
        item_id: "ig_1",
        partial_image_index: 0,
        partial_image_b64: "AA==",
      },
      done(0, { type: "image_generation_call", id: "ig_1", status: "completed", result: "AAAA" }),
      completed([{ type: "image_generation_call", id: "ig_1", status: "completed", result: "AAAA" }]),
    ],
    path: ["output"],
    want: [{ type: "image_generation_call", id: "ig_1", status: "completed", result: "AAAA" }],
  },
];

const data = (events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

describe("streams in the ways of many vendors, told whole", () => {
  for (const [format, rows, end] of [
    ["ChatCompletions", chatRows, `${data([chatEnd])}data: [DONE]\n\n`],
    ["Messages", messagesRows, ""],
    ["GenerateContent", geminiRows, ""],
    ["Responses", responsesRows, ""],
  ] as const) {
    for (const { name, said, path, want } of rows) {
      it(`${format}: ${name}`, () => {
        const { reply, lost } = aggregated(format, data(said) + end);
        assert.deepEqual(at(reply, ...path), want);
        assert.deepEqual(lost, []);
        assert.equal(Reflect.get({}, "polluted"), undefined);
      });
    }
  }

  it("Messages: events that nobody knows are declared", () => {
    const { lost } = aggregated(
      "Messages",
      data([started, { type: "future_event", x: 1 }, { type: "ping" }, ...stopped("end_turn")]),
    );
    assert.deepEqual(lost, ["future_event"]);
  });

  for (const { name, format, said } of [
    {
      name: "a piece of a block that never began",
      format: "Messages",
      said: [started, delta(3, { type: "text_delta", text: "a" }), ...stopped("end_turn")],
    },
    { name: "an end without a reason", format: "Messages", said: [started, { type: "message_stop" }] },
    {
      name: "an input that is no object",
      format: "Messages",
      said: [
        started,
        blockStart(0, { type: "tool_use", id: "a", name: "f", input: {} }),
        delta(0, { type: "input_json_delta", partial_json: "{" }),
        ...stopped("tool_use"),
      ],
    },
    { name: "a choice that never finished", format: "ChatCompletions", said: [chunk({ content: "a" })] },
    { name: "a response that never ended", format: "Responses", said: [created, done(0, search)] },
  ] as const) {
    it(`${format}: refuses ${name}`, () => assert.throws(() => aggregated(format, data(said)), InvalidReply));
  }
});
