/** A call whose arguments Vertex streams, in a reply that ends before the call does, told whole. */
import assert from "node:assert/strict";
import { InvalidReply } from "#proxy/neutral/reply";
import { at } from "#test/support/digest/facts";
import { aggregated } from "#test/support/translation/own-format-exchange";

function streamOf(finishReason: string, ...following: readonly object[]): string {
  const calls = [
    { name: "f", willContinue: true },
    { partialArgs: [{ jsonPath: "$.a", numberValue: 1 }], willContinue: true },
  ];
  const frames = [
    ...calls.map((functionCall) => ({ content: { role: "model", parts: [{ functionCall }] } })),
    ...following.map((part) => ({ content: { role: "model", parts: [part] } })),
    { content: { role: "model", parts: [] }, finishReason },
  ];
  return frames.map((candidate) => `data: ${JSON.stringify({ candidates: [candidate] })}\n\n`).join("");
}

describe("half a streamed call, told whole", () => {
  it("is refused where the reply claims to be whole", () =>
    assert.throws(
      () => aggregated("GenerateContent", streamOf("STOP")),
      new InvalidReply("a tool call was never completed"),
    ));

  for (const { name, part } of [
    { name: "another call", part: { functionCall: { name: "g", args: { a: 1 } } } },
    { name: "another that is streamed", part: { functionCall: { name: "g", willContinue: true } } },
    { name: "a text", part: { text: "Done." } },
    { name: "a signature", part: { text: "", thoughtSignature: "T" } },
  ]) {
    it(`is refused where ${name} follows it`, () => {
      const want = new InvalidReply("a tool call was never completed");
      assert.throws(() => aggregated("GenerateContent", streamOf("MAX_TOKENS", part, { functionCall: {} })), want);
    });
  }

  it("goes on behind an empty text", () => {
    const { reply } = aggregated("GenerateContent", streamOf("STOP", { text: "" }, { functionCall: {} }));
    assert.deepEqual(at(reply, "candidates", 0, "content", "parts"), [{ functionCall: { name: "f", args: { a: 1 } } }]);
  });

  it("stays half a one where the reply was cut off", () => {
    const { reply } = aggregated("GenerateContent", streamOf("MAX_TOKENS"));
    assert.deepEqual(at(reply, "candidates", 0, "content", "parts"), [
      { functionCall: { name: "f", args: { a: 1 }, willContinue: true } },
    ]);
  });
});
