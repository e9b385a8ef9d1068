/** What a reply says once may not be said on each of a thousand events: the stream would outgrow all memory. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { InvalidReply } from "#proxy/neutral/reply";
import { aggregated, replayed } from "#test/support/translation/own-format-exchange";

const longText = "tier ".repeat(2_000);
const manyChoices = Array.from({ length: 100 }, (_, index) => ({
  index,
  finish_reason: "stop",
  message: { role: "assistant", content: "yes", refusal: null },
}));
const completion = { id: "chatcmpl-1", object: "chat.completion", created: 1_790_000_000, model: "m" };
const response = { id: "resp_1", object: "response", status: "completed", model: "m" };

describe("what streams of whole replies repeat", () => {
  it("says a long member of a completion once", () => {
    const stream = replayed("ChatCompletions", { ...completion, service_tier: longText, choices: manyChoices });
    assert.equal(stream.toString().split(longText).length - 1, 1);
    assert.equal(aggregated("ChatCompletions", stream).reply["service_tier"], longText);
  });

  it("says its short members on every chunk", () => {
    const stream = replayed("ChatCompletions", { ...completion, service_tier: "default", choices: manyChoices });
    assert.equal(stream.toString().split('"service_tier":"default"').length - 1, 3 * manyChoices.length);
  });

  it("says only so many members on every chunk", () => {
    const others = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`x_${index}`, index]));
    const stream = replayed("ChatCompletions", { ...completion, ...others, choices: manyChoices });
    assert.ok(stream.length < 200_000, `${stream.length} bytes`);
    const { reply } = aggregated("ChatCompletions", stream);
    for (const [name, value] of Object.entries(others)) assert.equal(reply[name], value);
  });

  it("refuses a response whose stream would be a multiple of it", () => {
    const part = { type: "output_text", text: "a", annotations: [] };
    const content = Array.from({ length: 2_000 }, () => part);
    const item = { id: "msg_".padEnd(20_000, "1"), type: "message", role: "assistant", status: "completed", content };
    assert.throws(
      () => replayed("Responses", { ...response, output: [item] }),
      (error: unknown) => error instanceof InvalidReply && /times/.test(error.message),
    );
    assert.ok(replayed("Responses", { ...response, output: [{ ...item, id: "msg_1" }] }).length > 0);
  });
});
