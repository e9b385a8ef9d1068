/** The worked examples of the translation reference, as far as this format's side goes: G1 to G4 and G6. */
import assert from "node:assert/strict";
import { messagesUpstreamTranslator } from "#proxy/formats/messages/translate/upstream-translator";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import type { Conversation, Turn } from "#proxy/neutral/conversation";
import { replayReply } from "#proxy/neutral/replay-reply";
import type { Reply } from "#proxy/neutral/reply";
import type { TokenUsage } from "#proxy/settle/usage";
import { zeroUsage } from "#proxy/settle/usage";
import { OpenStates } from "#test/support/translation/exchange";
import {
  assistant,
  call,
  conversation,
  framesOf,
  readBody,
  readStream,
  replyContext,
  result,
  system,
  text,
  tool,
  user,
  writeBody,
  writeStream,
  writeWhole,
} from "#test/support/translation/messages-exchange";

const png = "iVBORw0KGgo=";
const gSchema = {
  type: "object",
  properties: { x: { type: "integer", minimum: 0 } },
  required: ["x"],
  additionalProperties: false,
};

const first: Conversation = conversation({
  stream: true,
  turns: [
    system(text("S")),
    user(text("look"), {
      kind: "media",
      media: "image",
      mime: "image/png",
      source: { type: "data", base64: png },
    }),
  ],
  tools: [
    { kind: "function", name: "f", description: "F" },
    { kind: "function", name: "g", schema: gSchema },
  ],
  toolChoice: { type: "auto" },
  sampling: { temperature: 0.5, stop: ["END"] },
  outputCap: 2000,
  reasoning: { mode: "on", effort: "medium", show: true },
});

const firstBody = {
  model: "m",
  max_tokens: 2000,
  system: "S",
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
      ],
    },
  ],
  tools: [
    { name: "f", description: "F", input_schema: { type: "object", properties: {} } },
    { name: "g", input_schema: gSchema },
  ],
  tool_choice: { type: "auto" },
  stop_sequences: ["END"],
  thinking: { type: "adaptive", display: "summarized" },
  output_config: { effort: "medium" },
  stream: true,
};

/** Without paths, and without members that are undefined. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, member) => (name === "where" ? undefined : member)));
}

describe("messages: the worked examples", () => {
  it("G1: writes the first request, and declares the temperature that thinking forbids", () => {
    const { body, dropped } = writeBody(first);
    assert.deepEqual(body, firstBody);
    assert.deepEqual(dropped, ["temperature"]);
  });

  it("G1: asks a model of budgets by a budget", () => {
    const { output_config: _config, ...others } = firstBody;
    assert.deepEqual(writeBody(first, { model: "claude-sonnet-4-5" }).body, {
      ...others,
      model: "claude-sonnet-4-5",
      thinking: { type: "enabled", budget_tokens: 1500 },
    });
  });

  it("G1: reads the first request", () => {
    const schema = { type: "object", properties: {} };
    assert.deepEqual(
      plain(readBody(firstBody)),
      plain({
        ...first,
        tools: [{ ...first.tools[0], schema }, first.tools[1]],
        sampling: { stop: ["END"] },
        reasoning: { mode: "on", effort: "medium", show: true, carriesBlocks: true },
      }),
    );
  });

  const usage: TokenUsage = { ...zeroUsage, input: 10, cacheRead: 90, cacheWrite: 5, output: 37 };
  const calls = [
    { kind: "call", id: "call_a", name: "f", tool: "function", arguments: "{}", states: [] },
    { kind: "call", id: "call_b", name: "g", tool: "function", arguments: '{"x":1}', states: [] },
  ] as const;
  const reply: Reply = {
    id: "msg_1",
    model: "m",
    candidates: [
      {
        blocks: [
          { kind: "reasoning", text: "T", states: [{ kind: "thinking", text: "T", signature: "SIG" }] },
          { kind: "text", text: "Hi", citations: [], logprobs: [], states: [] },
          ...calls,
        ],
        finish: { reason: "tool-calls" },
      },
    ],
    usage,
  };
  const content = [
    { type: "thinking", thinking: "T", signature: "SIG" },
    { type: "text", text: "Hi" },
    { type: "tool_use", id: "call_a", name: "f", input: {} },
    { type: "tool_use", id: "call_b", name: "g", input: { x: 1 } },
  ];
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content,
    stop_reason: "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 10, cache_read_input_tokens: 90, cache_creation_input_tokens: 5, output_tokens: 37 },
  };
  /** Signs what would be sealed with a word, so that the examples can be compared. */
  class SignedStates extends OpenStates {
    override seal(): string {
      return "SIG";
    }
  }
  const signing = () => replyContext({ states: new SignedStates() });

  it("G2: reads and writes the whole reply", () => {
    assert.deepEqual(plain(messagesUpstreamTranslator.readReply(message)), plain(reply));
    assert.deepEqual(writeWhole(reply, signing()), message);
  });

  const begun = { ...message, content: [], stop_reason: null };
  const starts = [
    { type: "thinking", thinking: "", signature: "" },
    { type: "text", text: "" },
    { type: "tool_use", id: "call_a", name: "f", input: {} },
    { type: "tool_use", id: "call_b", name: "g", input: {} },
  ];
  const deltas = [
    [
      { type: "thinking_delta", thinking: "T" },
      { type: "signature_delta", signature: "SIG" },
    ],
    [{ type: "text_delta", text: "Hi" }],
    [{ type: "input_json_delta", partial_json: "{}" }],
    [{ type: "input_json_delta", partial_json: '{"x":1}' }],
  ];
  const events = [
    ...starts.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block },
      ...(deltas[index] ?? []).map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: message.usage },
    { type: "message_stop" },
  ];

  it("G3: writes the reply as a stream", () => {
    const [start, ...rest] = framesOf(writeStream(replayReply(reply), signing()));
    const estimated = { input_tokens: 7, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
    assert.deepEqual(start, { type: "message_start", message: { ...begun, usage: estimated } });
    assert.deepEqual(rest, events);
  });

  it("G3: reads the stream as the reply", () => {
    const all = [
      { type: "message_start", message: { ...begun, usage: { ...message.usage, output_tokens: 1 } } },
      ...events,
    ];
    const stream = all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    assert.deepEqual(plain(aggregateReply(readStream(Buffer.from(stream)))), plain(reply));
  });

  const states = new OpenStates();
  const signed = {
    kind: "reasoning",
    text: "T",
    states: [{ type: "sealed", envelope: states.seal([{ kind: "thinking", text: "T", signature: "SIG" }]) }],
  } as const;
  const answered: Turn[] = [
    assistant(signed, text("Hi"), call("call_a"), call("call_b", { name: "g", arguments: '{"x":1}' })),
    tool(result("call_a", "1"), result("call_b", "boom", { isError: true })),
  ];
  const history = [
    { role: "assistant", content },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "call_a", content: "1" },
        { type: "tool_result", tool_use_id: "call_b", content: "boom", is_error: true },
      ],
    },
  ];

  it("G4: writes the second request, with the state that is this channel's", () => {
    const { body } = writeBody({ ...first, turns: [...first.turns, ...answered] });
    assert.deepEqual(body, { ...firstBody, messages: [...firstBody.messages, ...history] });
  });

  it("G4: leaves thinking out without its state, and with it the budget", () => {
    const turns = [...first.turns, assistant(...(answered[0]?.parts.slice(1) ?? [])), ...answered.slice(1)];
    const { body, dropped } = writeBody({ ...first, turns }, { model: "claude-sonnet-4-5" });
    assert.equal(Object.hasOwn(body, "thinking"), false);
    assert.deepEqual(Object(body["messages"])[1].content, content.slice(1));
    assert.ok(dropped.includes("thinking"));
  });

  it("G4: reads the second request", () => {
    const read = readBody({ ...firstBody, messages: [...firstBody.messages, ...history] });
    const state = { kind: "thinking", text: "T", signature: "SIG" };
    const native = { kind: "reasoning", text: "T", states: [{ type: "native", state }] };
    const [said, results] = answered;
    assert.deepEqual(
      plain(read.turns),
      plain([...first.turns, { role: "assistant", parts: [native, ...(said?.parts.slice(1) ?? [])] }, results]),
    );
  });

  it("G6: says a reply that was cut, and a prompt that was refused", () => {
    const cut = { ...reply, candidates: [{ blocks: [], finish: { reason: "length" } as const }] };
    assert.deepEqual(writeWhole(cut)["stop_reason"], "max_tokens");
    const refused = { reason: "content-filter", isPromptBlocked: true } as const;
    const written = writeWhole({ ...reply, candidates: [{ blocks: [], finish: refused }] });
    assert.deepEqual([written["content"], written["stop_reason"]], [[], "refusal"]);
    assert.deepEqual(plain(messagesUpstreamTranslator.readReply(written).candidates), [
      { blocks: [], finish: refused },
    ]);
  });
});
