import assert from "node:assert/strict";
import { removeSealedState } from "#proxy/formats/messages/translate/remove-sealed-state";
import type { JsonObject } from "#proxy/json/json-value";

const sealed = { type: "thinking", thinking: "t", signature: "tg1.W10.mac" };
const native = { type: "thinking", thinking: "t", signature: "SIG" };
const text = { type: "text", text: "hi" };
const use = { type: "tool_use", id: "a", name: "f", input: {} };
const results = { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "1" }] };

function body(content: unknown, more: JsonObject = {}): JsonObject {
  return { model: "m", messages: [{ role: "assistant", content }, results], ...more };
}

describe("removeSealedState() of messages", () => {
  it("gives back the same object when nothing is sealed", () => {
    for (const given of [body("text"), body([native, text]), { messages: "odd" }, {}]) {
      assert.equal(removeSealedState(given), given);
    }
  });
  it("pitfall 91: takes sealed thinking out and leaves the vendor's own", () => {
    assert.deepEqual(removeSealedState(body([native, sealed, text])), body([native, text]));
  });
  it("takes sealed redacted thinking out", () => {
    assert.deepEqual(removeSealedState(body([{ type: "redacted_thinking", data: "tg1.x" }, text])), body([text]));
  });
  it("takes citations out that the gateway made", () => {
    const own = { type: "web_search_result_location", url: "u", encrypted_index: "Eo8" };
    const made = { ...own, encrypted_index: "tg1." };
    assert.deepEqual(removeSealedState(body([{ ...text, citations: [made] }])), body([text]));
    assert.deepEqual(
      removeSealedState(body([{ ...text, citations: [made, own] }])),
      body([{ ...text, citations: [own] }]),
    );
  });
  it("leaves out a message that held nothing else", () => {
    assert.deepEqual(removeSealedState(body([sealed])), { model: "m", messages: [results] });
  });
  it("stops a budget of thinking when the reply it continues has lost its own", () => {
    const enabled = { thinking: { type: "enabled", budget_tokens: 2000 } };
    assert.deepEqual(removeSealedState(body([sealed, use], enabled)), body([use]));
    assert.deepEqual(removeSealedState(body([native, sealed, use], enabled)), body([native, use], enabled));
    const adaptive = { thinking: { type: "adaptive" } };
    assert.deepEqual(removeSealedState(body([sealed, use], adaptive)), body([use], adaptive));
  });
});
