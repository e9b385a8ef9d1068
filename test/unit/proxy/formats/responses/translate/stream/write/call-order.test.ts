/** Calls stand in the order in which the model made them, however late their arguments come. */
import assert from "node:assert/strict";
import { streamOf } from "#test/support/translation/pure-translation";

const callPiece = (index: number, name: string, text: string) => ({
  tool_calls: [{ index, id: `call_${name}`, type: "function", function: { name, arguments: text } }],
});
const textPiece = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] });
const both = { tool_calls: [...callPiece(0, "f", "{}").tool_calls, ...callPiece(1, "g", '{"b":2}').tool_calls] };

/** What the final response holds, and the index that each item was announced with. */
function itemsOf(deltas: readonly object[]): { final: string[]; announced: string[] } {
  const chunks = [...deltas, {}].map((delta, index) => ({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: index === deltas.length ? "tool_calls" : null }],
  }));
  const upstream = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
  const text = streamOf("ChatCompletions", "Responses", { model: "m", input: "hi" }, upstream);
  const events = [...text.matchAll(/^data: (\{.*\})$/gm)].map((match) => JSON.parse(match[1] ?? ""));
  const nameOf = (item: { type: string; name?: string }): string => item.name ?? item.type;
  const added = events.filter((event) => event.type === "response.output_item.added");
  const last = events.find((event) => event.type === "response.completed");
  return {
    final: last.response.output.map(nameOf),
    announced: added.map((event) => `${event.output_index} ${nameOf(event.item)}`),
  };
}

describe("responses stream: the order of calls", () => {
  for (const [name, deltas, expected] of [
    [
      "a call without arguments before another",
      [callPiece(0, "f", ""), textPiece(0, "{}"), callPiece(1, "g", ""), textPiece(1, '{"b":2}')],
      ["f", "g"],
    ],
    ["two whole calls in one chunk", [both], ["f", "g"]],
    ["a call of which nothing but the name came", [callPiece(0, "f", ""), callPiece(1, "g", '{"b":2}')], ["f", "g"]],
    [
      "a second call whose arguments come first",
      [callPiece(0, "f", ""), callPiece(1, "g", '{"b":'), textPiece(1, "2}"), textPiece(0, '{"a":1}')],
      ["f", "g"],
    ],
    ["a call without arguments before text", [callPiece(0, "f", "{}"), { content: "so" }], ["f", "message"]],
    [
      "reasoning behind a call without arguments",
      [callPiece(0, "f", "{}"), { reasoning_content: "so" }],
      ["f", "reasoning"],
    ],
  ] as const) {
    it(`is the model's: ${name}`, () => {
      const { final, announced } = itemsOf(deltas);
      assert.deepEqual(final, expected);
      assert.deepEqual(
        announced,
        expected.map((item, index) => `${index} ${item}`),
      );
    });
  }
});
