import assert from "node:assert/strict";
import { formats, translationOf } from "../../../support/translation/pure-translation.ts";

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

describe("TranslatingMeter", () => {
  for (const to of formats) {
    if (to === "ChatCompletions") continue;
    const meterOf = (answerBytesMax?: number) =>
      translationOf("ChatCompletions", to, bodies[to], true).createStreamMeter(1 << 20, answerBytesMax);

    for (const [name, delta] of [
      ["text", { content: "x".repeat(1_000) }],
      ["hidden thinking", { reasoning_content: "x".repeat(1_000) }],
      ["very small pieces", { content: "x" }],
    ] as const) {
      it(`ends a ${to} client's answer of endless ${name}`, () => {
        const meter = meterOf(20_000);
        let pushed = 0;
        while (meter.violation === undefined && pushed < 1_000) {
          meter.push(chunk(delta));
          pushed += 1;
        }
        assert.match(String(meter.violation), /longer/);
        assert.equal(meter.isComplete, false);
        assert.deepEqual(meter.push(chunk(delta)), []);
        assert.deepEqual(meter.ping(), []);
      });
    }

    it(`tells a ${to} client that its answer lives, once it has begun`, () => {
      const meter = meterOf();
      assert.deepEqual(meter.ping(), []);
      meter.push(chunk({ role: "assistant", content: "hi" }));
      assert.notDeepEqual(meter.ping(), []);
    });
  }
});
