/** What a turn sends is the beginning of what the next one sends: providers bind thinking to it. */
import assert from "node:assert/strict";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { formats, sendTo } from "#test/support/translation/pure-translation";

const long = "l".repeat(70);

/** Calls whose ids and names are no good for the upstream, and later ones that are what those have become. */
const steps: readonly (readonly [id: string, name: string])[] = [
  ["call.1", "files.read"],
  [`${long}.a`, "files.gone"],
  ["call_1", "files_gone"],
  [`${long}_a`, "files_read"],
  ["call:1", "files:gone"],
];

const parameters = { type: "object", properties: { $filter: { type: "string" }, _filter: { type: "string" } } };
const filter = { $filter: "x" };

const conversations: Readonly<Record<ChatWireFormat, (count: number) => object>> = {
  ChatCompletions: (count) => ({
    model: "m",
    messages: [
      { role: "user", content: "hi" },
      ...steps.slice(0, count).flatMap(([id, name]) => [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(filter) } }],
        },
        { role: "tool", tool_call_id: id, content: "ok" },
      ]),
    ],
    tools: [{ type: "function", function: { name: "files.read", parameters } }],
  }),
  Responses: (count) => ({
    model: "m",
    input: [
      { type: "message", role: "user", content: "hi" },
      ...steps.slice(0, count).flatMap(([id, name]) => [
        { type: "function_call", call_id: id, name, arguments: JSON.stringify(filter) },
        { type: "function_call_output", call_id: id, output: "ok" },
      ]),
    ],
    tools: [{ type: "function", name: "files.read", parameters, strict: false }],
  }),
  Messages: (count) => ({
    model: "m",
    max_tokens: 100,
    messages: [
      { role: "user", content: "hi" },
      ...steps.slice(0, count).flatMap(([id, name]) => [
        { role: "assistant", content: [{ type: "tool_use", id, name, input: filter }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] },
      ]),
    ],
    tools: [{ name: "files.read", input_schema: parameters }],
  }),
  GenerateContent: (count) => ({
    contents: [
      { role: "user", parts: [{ text: "hi" }] },
      ...steps.slice(0, count).flatMap(([id, name]) => [
        { role: "model", parts: [{ functionCall: { id, name, args: filter } }] },
        { role: "user", parts: [{ functionResponse: { id, name, response: { output: "ok" } } }] },
      ]),
    ],
    tools: [{ functionDeclarations: [{ name: "files.read", parametersJsonSchema: parameters }] }],
  }),
};

function turnsOf(body: unknown): readonly string[] {
  const { messages, input, contents } = Object(body);
  return (messages ?? input ?? contents).map((turn: unknown) => JSON.stringify(turn));
}

describe("what one turn sends, the next one begins with", () => {
  for (const from of formats) {
    for (const to of formats.filter((format) => format !== from)) {
      it(`preserved thinking: ids, names and keys that are refused stay what they became (${from} to ${to})`, () => {
        let before: { turns: readonly string[]; tools: unknown } | undefined;
        for (let count = 0; count <= steps.length; count += 1) {
          const sent = Object(sendTo(to, from, conversations[from](count)));
          const { tools } = sent.body;
          const turns = turnsOf(sent.body);
          if (before !== undefined) {
            assert.deepEqual(turns.slice(0, before.turns.length), before.turns);
            assert.deepEqual(tools, before.tools);
            assert.ok(turns.length > before.turns.length);
          }
          before = { turns, tools };
        }
      });
    }
  }
});
