import assert from "node:assert/strict";
import { chatCompletionsClientTranslator } from "#proxy/formats/chat-completions/translate/client-translator";

const { removeSealedState } = chatCompletionsClientTranslator;
const sealed = "tg1.AAAA.BBBB";
const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
const signed = (thought_signature: string) => ({ ...call, extra_content: { google: { thought_signature } } });

describe("removeSealedState()", () => {
  it("is the same object where there is none", () => {
    for (const messages of [
      undefined,
      null,
      "x",
      [],
      [{ role: "user", content: sealed }],
      [{ role: "assistant", tool_calls: [signed("NATIVE")] }],
    ]) {
      const body = { model: "m", messages };
      assert.equal(removeSealedState(body), body);
    }
  });

  it("takes our signature off a call and leaves the provider's own", () => {
    const messages = [{ role: "assistant", content: "x", tool_calls: [signed(sealed), signed("NATIVE")], name: "n" }];
    assert.deepEqual(removeSealedState({ model: "m", messages }), {
      model: "m",
      messages: [{ role: "assistant", content: "x", tool_calls: [call, signed("NATIVE")], name: "n" }],
    });
  });

  it("takes our blocks of thinking out, and the list with the last one", () => {
    const blocks = [{ type: "thinking", thinking: "T", signature: sealed }];
    const details = [
      { type: "reasoning.text", text: "T", signature: "NATIVE" },
      { type: "reasoning.encrypted", data: sealed },
    ];
    const message = { role: "assistant", content: "x" };
    assert.deepEqual(
      removeSealedState({ messages: [{ ...message, thinking_blocks: blocks, reasoning_details: details }] }),
      {
        messages: [{ ...message, reasoning_details: [details[0]] }],
      },
    );
  });

  it("does not change what it was given", () => {
    const body = { messages: [{ role: "assistant", tool_calls: [signed(sealed)] }] };
    const before = structuredClone(body);
    removeSealedState(body);
    assert.deepEqual(body, before);
  });
});
