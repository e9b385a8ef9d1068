/**
 * One conversation in this format's words and in neutral ones (docs/design/translation.md G1 to G6): what is read of
 * the first must be the second, and what is written of the second the first.
 */
import assert from "node:assert/strict";
import { chatCompletionsUpstreamTranslator } from "#proxy/formats/chat-completions/translate/upstream-translator";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import type { Turn } from "#proxy/neutral/conversation";
import { replayReply } from "#proxy/neutral/replay-reply";
import type { Candidate, Reply } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";
import {
  conversationOf,
  readStream,
  writeStream,
  writeWhole,
  writtenRequest,
} from "#test/support/translation/chat-exchange";

const schema = {
  type: "object",
  properties: { x: { type: "integer", minimum: 0 } },
  required: ["x"],
  additionalProperties: false,
};
const firstMessages = [
  { role: "system", content: "S" },
  {
    role: "user",
    content: [
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
    ],
  },
];
const request = {
  model: "m",
  messages: firstMessages,
  tools: [
    { type: "function", function: { name: "f", description: "F" } },
    { type: "function", function: { name: "g", parameters: schema } },
  ],
  tool_choice: "auto",
  max_completion_tokens: 2000,
  temperature: 0.5,
  stop: ["END"],
  reasoning_effort: "medium",
  stream: true,
  stream_options: { include_usage: true },
};
const laterMessages = [
  {
    role: "assistant",
    content: "Hi",
    tool_calls: [
      { id: "call_a", type: "function", function: { name: "f", arguments: "{}" } },
      { id: "call_b", type: "function", function: { name: "g", arguments: '{"x":1}' } },
    ],
  },
  { role: "tool", tool_call_id: "call_a", content: "1" },
  { role: "tool", tool_call_id: "call_b", content: "Error: boom" },
];
const firstTurns: Turn[] = [
  { role: "system", parts: [{ kind: "text", text: "S" }] },
  {
    role: "user",
    parts: [
      { kind: "text", text: "look" },
      { kind: "media", media: "image", mime: "image/png", source: { type: "data", base64: "iVBORw0KGgo=" } },
    ],
  },
];

const calls = [
  { kind: "call", id: "call_a", name: "f", tool: "function", arguments: "{}", states: [] },
  { kind: "call", id: "call_b", name: "g", tool: "function", arguments: '{"x":1}', states: [] },
] as const;
const candidate: Candidate = {
  blocks: [
    {
      kind: "reasoning",
      text: "T",
      states: [{ kind: "reasoning-text", member: "reasoning_content", text: "T" }],
    },
    { kind: "text", text: "Hi", citations: [], logprobs: [], states: [] },
    ...calls,
  ],
  finish: { reason: "tool-calls" },
};
const usage = { ...zeroUsage, input: 10, cacheRead: 90, cacheWrite: 5, output: 17, reasoning: 20 };
const reply: Reply = { id: "chatcmpl-1", model: "m", serviceTier: undefined, candidates: [candidate], usage };

const writtenUsage = {
  prompt_tokens: 105,
  completion_tokens: 37,
  total_tokens: 142,
  prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 5 },
  completion_tokens_details: { reasoning_tokens: 20 },
};
const body = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_790_000_000,
  model: "m",
  choices: [
    {
      index: 0,
      logprobs: null,
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: "Hi",
        refusal: null,
        reasoning_content: "T",
        tool_calls: calls.map(({ id, name, arguments: args }) => ({
          id,
          type: "function",
          function: { name, arguments: args },
        })),
      },
    },
  ],
  usage: writtenUsage,
};

/** Chunks of the reply as a stream, in the words of the page. */
function streamed(): string {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1_790_000_000,
      model: "m",
      choices: [{ index: 0, delta, finish_reason }],
      usage: null,
    })}\n\n`;
  const opening = (index: number, id: string, name: string) =>
    chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
  const growing = (index: number, args: string) => chunk({ tool_calls: [{ index, function: { arguments: args } }] });
  const last = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: "m",
    choices: [],
    usage: writtenUsage,
  };
  return [
    chunk({ role: "assistant", content: "", refusal: null }),
    chunk({ reasoning_content: "T" }),
    chunk({ content: "Hi" }),
    opening(0, "call_a", "f"),
    growing(0, "{}"),
    opening(1, "call_b", "g"),
    growing(1, '{"x":1}'),
    chunk({}, "tool_calls"),
    `data: ${JSON.stringify(last)}\n\n`,
    "data: [DONE]\n\n",
  ].join("");
}

/** Without the paths of errors and without members that are undefined. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, member) => (name === "where" ? undefined : member)));
}

describe("chat completions goldens", () => {
  it("G1: reads the first request", () => {
    assert.deepEqual(plain(conversationOf(request)), {
      model: "m",
      stream: true,
      turns: firstTurns,
      tools: [
        { kind: "function", name: "f", description: "F" },
        { kind: "function", name: "g", schema },
      ],
      toolChoice: { type: "auto" },
      sampling: { temperature: 0.5, stop: ["END"] },
      outputCap: 2000,
      reasoning: { mode: "on", effort: "medium", show: true },
      unmapped: [],
    });
  });

  it("G1: writes the first request", () =>
    assert.deepEqual(plain(writtenRequest(conversationOf(request)).body), request));

  it("G1: writes it for a compatible server, whose cap has the older name", () => {
    const { max_completion_tokens: max_tokens, ...rest } = request;
    const written = writtenRequest(conversationOf(request), { provider: "OpenAICompatible" });
    assert.deepEqual(plain(written.body), { ...rest, max_tokens });
    assert.deepEqual(written.dropped, []);
  });

  it("G2: reads and writes the whole reply", () => {
    assert.deepEqual(chatCompletionsUpstreamTranslator.readReply(body), reply);
    assert.deepEqual(writeWhole(reply), body);
  });

  it("G3: reads and writes the same reply as a stream", () => {
    assert.deepEqual(aggregateReply(readStream(Buffer.from(streamed()))), reply);
    assert.equal(writeStream(replayReply(reply)), streamed());
  });

  it("G4: reads the history with its results", () => {
    const [, , assistant, one, two] = conversationOf({
      ...request,
      messages: [...firstMessages, ...laterMessages],
    }).turns;
    assert.deepEqual(plain([assistant, one, two]), [
      {
        role: "assistant",
        parts: [{ kind: "text", text: "Hi" }, ...calls.map(({ states: _states, ...call }) => call)],
      },
      {
        role: "tool",
        parts: [{ kind: "result", callId: "call_a", name: "f", content: [{ kind: "text", text: "1" }] }],
      },
      {
        role: "tool",
        parts: [{ kind: "result", callId: "call_b", name: "g", content: [{ kind: "text", text: "Error: boom" }] }],
      },
    ]);
  });

  it("G4: writes the history as other formats have it: thinking with state, an error that is a flag", () => {
    const signed = { kind: "thinking", text: "T", signature: "SIG" } as const;
    const turns: Turn[] = [
      ...firstTurns,
      {
        role: "assistant",
        parts: [
          { kind: "reasoning", text: "T", states: [{ type: "native", state: signed }] },
          { kind: "text", text: "Hi" },
          { kind: "call", id: "call_a", name: "f", tool: "function", arguments: "{}" },
          { kind: "call", id: "call_b", name: "g", tool: "function", arguments: '{"x":1}' },
        ],
      },
      {
        role: "user",
        parts: [
          { kind: "result", callId: "call_a", content: [{ kind: "text", text: "1" }] },
          { kind: "result", callId: "call_b", content: [{ kind: "text", text: "boom" }], isError: true },
        ],
      },
    ];
    const { body: written } = writtenRequest({ ...conversationOf(request), turns });
    assert.deepEqual(written["messages"], [...firstMessages, ...laterMessages]);
  });

  it("G5: reads and writes the output format", () => {
    const wanted = {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    };
    const response_format = { type: "json_schema", json_schema: { name: "out", strict: true, schema: wanted } };
    const conversation = conversationOf({ response_format });
    assert.deepEqual(plain(conversation.outputFormat), { kind: "schema", name: "out", schema: wanted, strict: true });
    assert.deepEqual(writtenRequest(conversation).body["response_format"], response_format);
  });

  it("G6: a reply cut for its length, and a prompt that was blocked", () => {
    const cut = writeWhole({ ...reply, candidates: [{ ...candidate, finish: { reason: "length" } }] });
    assert.equal(Object(cut)["choices"][0].finish_reason, "length");
    const blocked = writeWhole({
      ...reply,
      candidates: [{ blocks: [], finish: { reason: "content-filter", isPromptBlocked: true, explanation: "E" } }],
    });
    assert.deepEqual(Object(blocked)["choices"], [
      {
        index: 0,
        message: { role: "assistant", content: null, refusal: null },
        logprobs: null,
        finish_reason: "content_filter",
      },
    ]);
  });
});
