import assert from "node:assert/strict";
import { formats, translationOf } from "#test/support/translation/pure-translation";

const chunk = (delta: object): Buffer =>
  Buffer.from(
    `data: ${JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: null }],
    })}\n\n`,
  );
const bodies = {
  Responses: { model: "m", input: "x" },
  Messages: { model: "m", max_tokens: 100, messages: [{ role: "user", content: "x" }] },
  GenerateContent: { contents: [{ role: "user", parts: [{ text: "x" }] }] },
} as const;

const ending = Buffer.from(
  'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\ndata: [DONE]\n\n',
);
const behindTheEnd = [
  ["what is no JSON", Buffer.from("data: }\n\n")],
  ["an error", Buffer.from('data: {"error":{"message":"x"}}\n\n')],
  ["what is no UTF-8", Buffer.from([0x64, 0x3a, 0xff, 0x0a, 0x0a])],
  ["an event over the cap", Buffer.from(`data: ${"x".repeat(1 << 21)}`)],
  ["another answer", chunk({ content: "again" })],
] as const;

describe("StreamTranslator", () => {
  for (const to of formats) {
    if (to === "ChatCompletions") continue;
    const meterOf = (responseBytesMax?: number) =>
      translationOf("ChatCompletions", to, bodies[to], true).createStreamFilter(1 << 20, responseBytesMax);

    for (const [name, delta] of [
      ["text", { content: "x".repeat(1_000) }],
      ["hidden thinking", { reasoning_content: "x".repeat(1_000) }],
      ["very small pieces", { content: "x" }],
    ] as const) {
      it(`ends a ${to} client's reply of endless ${name}`, () => {
        const filter = meterOf(20_000);
        let pushed = 0;
        while (filter.violation === undefined && pushed < 1_000) {
          filter.push(chunk(delta));
          pushed += 1;
        }
        assert.match(String(filter.violation), /longer/);
        assert.equal(filter.isComplete, false);
        assert.deepEqual(filter.push(chunk(delta)), []);
      });
    }

    it(`counts the text that waits for the end of a ${to} client's reply, and no other`, () => {
      const filter = meterOf();
      for (let pushed = 0; pushed < 1_000; pushed += 1) filter.push(chunk({ content: "some" }));
      assert.equal(filter.heldBytes, to === "Responses" ? 4_000 : 0);
    });

    it(`pitfall 165: passes neither late line ends nor comments of its upstream on to a ${to} client`, () => {
      const filter = meterOf();
      filter.push(chunk({ role: "assistant", content: "hi" }));
      assert.deepEqual(filter.push(Buffer.from("\r\n\r\n")), []);
      assert.deepEqual(filter.push(Buffer.from(": processing\n\n")), []);
    });

    for (const [name, behind] of behindTheEnd) {
      it(`leaves a ${to} client's reply whole when ${name} stands behind its end`, () => {
        const filter = meterOf();
        const told = [...filter.push(Buffer.concat([chunk({ content: "hi" }), ending]))];
        told.push(...filter.push(behind), ...filter.end());
        assert.equal(filter.isComplete, true);
        assert.equal(filter.error, undefined);
        assert.equal(filter.violation, undefined);
        const alone = meterOf();
        const expected = [...alone.push(Buffer.concat([chunk({ content: "hi" }), ending])), ...alone.end()];
        assert.equal(Buffer.concat(told).toString(), Buffer.concat(expected).toString());
      });
    }
  }
});
