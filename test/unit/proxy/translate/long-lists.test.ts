/** A client's list may be longer than what a call takes as arguments, within the bounds on a body. */
import assert from "node:assert/strict";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { sendTo } from "#test/support/translation/pure-translation";

const many = Array.from({ length: 200_000 }, () => "a");
const user = { role: "user", content: "q" };
const model = { role: "model", parts: many };

describe("a body that is within the bounds only as the client's format says it", () => {
  it("is refused by what is wrong with it: it is JSON", () => {
    const parts = many.slice(0, 60_000);
    const sent = sendTo("ChatCompletions", "GenerateContent", { contents: [{ role: "user", parts }] });
    const refused = "refused" in sent ? sent.refused : "";
    assert.doesNotMatch(refused, /not valid JSON/);
    assert.match(refused, /too large for the selected model: .* more than 100000 keys/);
  });
});

describe("a list of a client with more members than a call has arguments", () => {
  const rows: readonly { name: string; from: ChatWireFormat; to: ChatWireFormat; body: object }[] = [
    {
      name: "texts of a later system message",
      from: "ChatCompletions",
      to: "Messages",
      body: {
        model: "m",
        messages: [user, { role: "assistant", content: "w" }, { role: "system", content: many }, user],
      },
    },
    {
      name: "parts of two contents of the model",
      from: "GenerateContent",
      to: "Messages",
      body: { contents: [{ role: "user", parts: ["q"] }, model, model, { role: "user", parts: ["x"] }] },
    },
  ];
  for (const { name, from, to, body } of rows) {
    it(`is no error of ours: ${name}`, () => assert.doesNotThrow(() => sendTo(to, from, body)));
  }
});
