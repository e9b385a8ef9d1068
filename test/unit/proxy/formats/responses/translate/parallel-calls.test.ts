import assert from "node:assert/strict";
import { digest } from "#test/support/digest/digest";
import { answerOf, streamOf } from "#test/support/translation/pure-translation";

const wrapped = (name: string) => ({
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name,
  arguments: '{"tool_uses":[{"recipient_name":"functions.f","parameters":{"a":1}}]}',
  status: "completed",
});
const response = (output: object[], status = "completed") => ({
  id: "r",
  object: "response",
  status,
  model: "m",
  output,
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});
const clientBody = (declared: string) => ({
  model: "m",
  messages: [{ role: "user", content: "hi" }],
  tools: [{ type: "function", function: { name: declared, parameters: { type: "object" } } }],
});

/** Names of the calls that a client of chat completions gets. */
function calledBy(name: string, declared: string, stream: boolean): unknown {
  const events = [
    { type: "response.created", response: response([], "in_progress") },
    { type: "response.output_item.added", output_index: 0, item: { ...wrapped(name), arguments: "" } },
    { type: "response.output_item.done", output_index: 0, item: wrapped(name) },
    { type: "response.completed", response: response([wrapped(name)]) },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const answer = stream
    ? streamOf("Responses", "ChatCompletions", clientBody(declared), text)
    : JSON.stringify(answerOf("Responses", "ChatCompletions", clientBody(declared), response([wrapped(name)])));
  return digest("openai-chat", Buffer.from(answer)).tools.map((tool) => tool.name);
}

describe("responses: calls that are wrapped into one", () => {
  for (const stream of [true, false]) {
    const how = stream ? "streamed" : "whole";
    it(`are taken out of a call that nobody declared, ${how}`, () => {
      assert.deepEqual(calledBy("parallel", "f", stream), ["f"]);
      assert.deepEqual(calledBy("multi_tool_use.parallel", "f", stream), ["f"]);
    });

    it(`stay in the call of a tool that the client declared by that name, ${how}`, () => {
      assert.deepEqual(calledBy("parallel", "parallel", stream), ["parallel"]);
    });
  }
});
