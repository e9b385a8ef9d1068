/**
 * Google's signature of a call, given by a chat upstream: clients that have no place for it get it in a reasoning part
 * before the call, and what they send back brings it to the call again (docs/design/translation.md 6.2).
 */
import assert from "node:assert/strict";
import { answerOf, sendTo, smallestCalls } from "#test/support/translation/pure-translation";

const signed = {
  id: "call_f",
  type: "function",
  function: { name: "f", arguments: '{"a":1}' },
  extra_content: { google: { thought_signature: "SIGNED" } },
};
const unsigned = { id: "call_g", type: "function", function: { name: "g", arguments: "{}" } };
const reply = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [
    {
      index: 0,
      finish_reason: "tool_calls",
      message: { role: "assistant", content: "Now.", tool_calls: [signed, unsigned] },
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

type Answer = { readonly output: object[]; readonly content: object[] };

const nextBodies = {
  Responses: ({ output }: Answer): object => ({
    ...smallestCalls.Responses,
    input: [
      { role: "user", content: "hi" },
      ...output,
      { type: "function_call_output", call_id: "call_f", output: "1" },
      { type: "function_call_output", call_id: "call_g", output: "2" },
    ],
  }),
  Messages: ({ content }: Answer): object => ({
    ...smallestCalls.Messages,
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content },
      {
        role: "user",
        content: ["call_f", "call_g"].map((id) => ({ type: "tool_result", tool_use_id: id, content: "1" })),
      },
    ],
  }),
};

describe("chat completions upstreams: signatures of calls", () => {
  for (const client of ["Responses", "Messages"] as const) {
    it(`go back with the call that a ${client} client got them before, and with no other`, () => {
      const answer = answerOf("ChatCompletions", client, smallestCalls[client], reply) as Answer;
      const sent = sendTo("ChatCompletions", client, nextBodies[client](answer));
      assert.ok("body" in sent, JSON.stringify(sent));
      const { messages } = sent.body as { messages: { role: string; tool_calls?: object[] }[] };
      const calls = messages.find(({ role }) => role === "assistant")?.tool_calls;
      assert.deepEqual(calls, [signed, unsigned]);
    });
  }
});
