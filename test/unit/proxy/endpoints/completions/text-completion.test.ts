import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "mocha";
import { completionOfChat, completionOfChunks, eventsOfCompletion } from "#proxy/endpoints/completions/text-completion";
import { readEvents } from "#proxy/formats/aggregate/read-events";

const base = { id: "cmpl-1", object: "text_completion", created: 1, model: "m" };
const logprobs = fc.option(
  fc.record({ tokens: fc.array(fc.string()), text_offset: fc.array(fc.nat()) }, { noNullPrototype: true }),
);
const choices = fc
  .array(fc.record({ text: fc.string(), logprobs, finish_reason: fc.constantFrom("stop", "length") }), { minLength: 1 })
  .map((list) => list.map(({ text, ...rest }, index) => ({ text, index, ...rest })));
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };

describe("eventsOfCompletion() and completionOfChunks()", () => {
  it("are each other's inverse", () => {
    fc.assert(
      fc.property(choices, (list) => {
        const whole = { ...base, choices: list, usage };
        const stream = Buffer.concat([...eventsOfCompletion(whole, true)]);
        const chunks = [...readEvents(stream)].map(({ json }) => json);
        assert.deepEqual(completionOfChunks(chunks), whole);
        assert.ok(stream.toString().endsWith("data: [DONE]\n\n"));
      }),
    );
  });

  it("show usage only where it was asked for", () => {
    const whole = { ...base, choices: [], usage };
    assert.equal(Buffer.concat([...eventsOfCompletion(whole, false)]).toString(), "data: [DONE]\n\n");
  });
});

describe("completionOfChat()", () => {
  for (const { name, choice, want } of [
    {
      name: "a text",
      choice: { index: 1, message: { content: "a" }, finish_reason: "length" },
      want: ["a", 1, "length"],
    },
    { name: "a piece", choice: { delta: { content: "a" }, finish_reason: null }, want: ["a", 0, null] },
    {
      name: "parts",
      choice: { message: { content: [{ text: "a" }, { type: "x" }, { text: "b" }] } },
      want: ["ab", 0, null],
    },
    {
      name: "a refusal",
      choice: { message: { content: null, refusal: "No." }, finish_reason: "stop" },
      want: ["No.", 0, "stop"],
    },
    { name: "thinking as no text", choice: { delta: { reasoning_content: "hm" } }, want: ["", 0, null] },
    {
      name: "an end of its own",
      choice: { message: { content: "a" }, finish_reason: "tool_calls" },
      want: ["a", 0, "stop"],
    },
    { name: "nothing", choice: {}, want: ["", 0, null] },
  ]) {
    it(`reads ${name}`, () => {
      const [text, index, finish_reason] = want;
      const chat = { id: "chatcmpl-1", object: "chat.completion", choices: [choice], system_fingerprint: "fp" };
      assert.deepEqual(completionOfChat(chat), {
        id: "chatcmpl-1",
        object: "text_completion",
        system_fingerprint: "fp",
        choices: [{ text, index, logprobs: null, finish_reason }],
      });
    });
  }
});
