/** Bodies within the gateway's limits that would take a careless translator seconds: the event loop serves others too. */
import assert from "node:assert/strict";
import type { JsonObject } from "#proxy/json/json-value";
import { conversationOf, readChunks, writtenRequest } from "#test/support/translation/chat-exchange";

/** More messages with a call each do not pass the bound on keys. */
const many = 6_000;
/** Of this process's own time: far above what any of these take, far below what squares of the count would. */
const limitMs = 2_000;

function costMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function times<Item>(make: (index: number) => Item, count = many): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "1" });
const user = { role: "user", content: "hi" };

describe("chat completions translator: work is bounded", () => {
  const rows: { name: string; body: JsonObject }[] = [
    {
      name: "results in the reverse order of their calls",
      body: {
        messages: [
          { role: "assistant", tool_calls: times((index) => call(`c${index}`)) },
          ...times((index) => result(`c${many - index}`)),
        ],
      },
    },
    {
      name: "calls and results without ids",
      body: { messages: [{ role: "assistant", tool_calls: times(() => call("")) }, ...times(() => result(""))] },
    },
    {
      name: "calls of one id",
      body: { messages: [{ role: "assistant", tool_calls: times(() => call("a")) }, ...times(() => result("a"))] },
    },
    {
      name: "assistant messages in a row",
      body: { messages: [user, ...times(() => ({ role: "assistant", content: "a" }))] },
    },
    {
      name: "system messages between user messages",
      body: { messages: times((index) => ({ role: index % 2 === 0 ? "user" : "system", content: "a" })) },
    },
    {
      name: "parts of one message",
      body: { messages: [{ role: "user", content: times(() => ({ type: "text", text: "a" })) }] },
    },
    {
      name: "tools, all of them allowed",
      body: {
        messages: [user],
        tools: times((index) => ({ type: "custom", custom: { name: `t${index}` } })),
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode: "auto", tools: times((index) => ({ type: "custom", custom: { name: `t${index}` } })) },
        },
      },
    },
  ];
  for (const { name, body } of rows) {
    it(`reads and writes ${name}`, () => {
      const cost = costMs(() => {
        const conversation = conversationOf(body);
        writtenRequest(conversation);
        writtenRequest(conversation, { provider: "OpenAICompatible", model: "qwen3" });
      });
      assert.ok(cost < limitMs, `${cost} ms`);
    });
  }

  it("reads a call whose arguments come in many pieces between pieces of text", () => {
    const delta = (value: object, finish: string | null = null) => ({
      id: "c",
      choices: [{ index: 0, delta: value, finish_reason: finish }],
    });
    const piece = (args: string) => ({ tool_calls: [{ index: 0, function: { arguments: args } }] });
    const chunks = [
      delta({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: '{"x":"' } }] }),
      ...times(() => delta({ ...piece("x".repeat(50)), content: "t" }), 30_000),
      delta(piece('"}')),
      delta({}, "tool_calls"),
    ];
    const cost = costMs(() => readChunks(chunks));
    assert.ok(cost < limitMs, `${cost} ms`);
  });
});
