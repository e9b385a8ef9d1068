/** The next turn of a client after OpenAI reasoned: its reasoning item goes back before the item it belongs to. */
import assert from "node:assert/strict";
import { isObject } from "#proxy/json/json-value";
import { answerOf, sendTo, smallestCalls } from "#test/support/translation/pure-translation";

const usage = { input_tokens: 1, output_tokens: 3, total_tokens: 4 };
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "ENC" };
const message = {
  type: "message",
  id: "m1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Hello", annotations: [] }],
};
const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "f", arguments: "{}", status: "completed" };

const user = (text: string) => ({ role: "user", parts: [{ text }] });

/** Types of the items that the upstream gets after this reply of its own. */
function typesAfter(output: readonly object[], isSplit: boolean): unknown {
  const asked = { contents: [user("hi")] };
  const answer = answerOf("Responses", "GenerateContent", asked, { id: "r", status: "completed", output, usage });
  const parts = partsOf(answer);
  // The SDK's chat keeps every chunk of a stream as a content of its own.
  const said = isSplit ? parts.map((part) => ({ role: "model", parts: [part] })) : [{ role: "model", parts }];
  return typesOf(sendTo("Responses", "GenerateContent", { contents: [...asked.contents, ...said, user("next")] }));
}

function partsOf(answer: unknown): readonly unknown[] {
  const [first]: unknown[] = isObject(answer) && Array.isArray(answer["candidates"]) ? answer["candidates"] : [];
  const content = isObject(first) ? first["content"] : undefined;
  return isObject(content) && Array.isArray(content["parts"]) ? content["parts"] : [];
}

function typesOf(sent: ReturnType<typeof sendTo>): unknown {
  const input = "body" in sent && isObject(sent.body) ? sent.body["input"] : undefined;
  return Array.isArray(input) ? input.map(({ type }) => type) : sent;
}

describe("a reasoning item that comes back from a client of another format", () => {
  const text = [reasoning, message];
  for (const { name, output, isSplit = false, want } of [
    { name: "text alone", output: text, want: ["message", "reasoning", "message", "message"] },
    { name: "text in pieces", output: text, isSplit: true, want: ["message", "reasoning", "message", "message"] },
    {
      name: "text and a call",
      output: [...text, call],
      want: ["message", "message", "reasoning", "function_call", "function_call_output", "message"],
    },
    { name: "reasoning alone", output: [reasoning], want: ["message", "message"] },
  ]) {
    it(`precedes an item of its turn: ${name}`, () => assert.deepEqual(typesAfter(output, isSplit), want));
  }

  it("is left out where the reply was cut before the item it belongs to", () => {
    const cut = { id: "r", status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, usage };
    const answer = answerOf("Responses", "Messages", smallestCalls.Messages, { ...cut, output: [reasoning] });
    const content = isObject(answer) ? answer["content"] : undefined;
    const messages = [
      { role: "user", content: "hi" },
      { role: "assistant", content },
      { role: "user", content: "go on" },
    ];
    const next = { ...smallestCalls.Messages, messages };
    assert.deepEqual(typesOf(sendTo("Responses", "Messages", next)), ["message", "message"]);
  });
});
