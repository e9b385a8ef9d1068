/** A call whose arguments Vertex streams, in an answer that ends before the call does, told whole. */
import assert from "node:assert/strict";
import { InvalidReply } from "../../../../../proxy/translate/reply.ts";
import { at } from "../../../../support/digest/facts.ts";
import { folded } from "../../../../support/translation/own-format-exchange.ts";

function streamOf(finishReason: string): string {
  const calls = [
    { name: "f", willContinue: true },
    { partialArgs: [{ jsonPath: "$.a", numberValue: 1 }], willContinue: true },
  ];
  const frames = [
    ...calls.map((functionCall) => ({ content: { role: "model", parts: [{ functionCall }] } })),
    { content: { role: "model", parts: [] }, finishReason },
  ];
  return frames.map((candidate) => `data: ${JSON.stringify({ candidates: [candidate] })}\n\n`).join("");
}

describe("half a streamed call, told whole", () => {
  it("is refused where the answer claims to be whole", () =>
    assert.throws(() => folded("GenerateContent", streamOf("STOP")), new InvalidReply("a call was never completed")));

  it("stays half a one where the answer was cut off", () => {
    const { reply } = folded("GenerateContent", streamOf("MAX_TOKENS"));
    assert.deepEqual(at(reply, "candidates", 0, "content", "parts"), [
      { functionCall: { name: "f", args: { a: 1 }, willContinue: true } },
    ]);
  });
});
