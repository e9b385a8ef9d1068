/** Providers use ids of calls again; clients pair results by them , so that each stands once. */
import assert from "node:assert/strict";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { answerOf, smallestCalls } from "#test/support/translation/pure-translation";

const replies: readonly (readonly [ChatWireFormat, object])[] = [
  [
    "ChatCompletions",
    {
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            content: null,
            tool_calls: [1, 2].map(() => ({ id: "x", type: "function", function: { name: "f", arguments: "{}" } })),
          },
        },
      ],
    },
  ],
  [
    "GenerateContent",
    {
      candidates: [
        {
          content: { role: "model", parts: [1, 2].map(() => ({ functionCall: { id: "x", name: "f", args: {} } })) },
          finishReason: "STOP",
        },
      ],
    },
  ],
];

const idsOf: Partial<Record<ChatWireFormat, (answer: unknown) => readonly string[]>> = {
  ChatCompletions: (answer) => Object(answer).choices[0].message.tool_calls.map(({ id }: { id: string }) => id),
  Responses: (answer) => Object(answer).output.map(({ call_id: id }: { call_id: string }) => id),
  GenerateContent: (answer) =>
    Object(answer).candidates[0].content.parts.map((part: { functionCall: { id: string } }) => part.functionCall.id),
  Messages: (answer) => Object(answer).content.map(({ id }: { id: string }) => id),
};

describe("calls of one id", () => {
  for (const [upstream, reply] of replies) {
    for (const [client, read] of Object.entries(idsOf)) {
      if (client === upstream) continue;
      it(`of ${upstream} are told apart by ${client} clients`, () => {
        const format = client as ChatWireFormat;
        assert.deepEqual(read(answerOf(upstream, format, smallestCalls[format], reply)), ["x", "x_2"]);
      });
    }
  }
});
