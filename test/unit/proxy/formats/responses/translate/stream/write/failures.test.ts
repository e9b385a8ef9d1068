import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { responsesClientTranslator } from "#proxy/formats/responses/translate/client-translator";
import type { ReplyEvent } from "#proxy/neutral/reply";
import { checkGrammar } from "#test/support/digest/grammar";
import { framesOf, replyContext } from "#test/support/translation/responses-exchange";
import { golden } from "#test/support/translation/responses-golden-reply";

describe("responses: stream writer, failures", () => {
  const error = new GatewayError("upstream_error", "The provider broke off.");
  const failed = (events: readonly ReplyEvent[]): string => {
    const writer = responsesClientTranslator.createStreamWriter(replyContext({ stream: true }));
    let text = "";
    for (const event of events) text += writer.write(event);
    return text + writer.fail(error, { requestId: "r1" });
  };

  for (let upTo = 0; upTo < golden.length; upTo += 1) {
    it(`pitfall 149: cut after ${upTo} events it never looks complete`, () => {
      const text = failed(golden.slice(0, upTo));
      assert.deepEqual(checkGrammar("openai-responses", Buffer.from(text)), []);
      const frames = framesOf(text);
      assert.deepEqual(
        frames.slice(-2).map(({ type }) => type),
        ["error", "response.failed"],
      );
      assert.ok(!frames.some(({ type }) => type === "response.completed" || type === "response.incomplete"));
      assert.equal(Object(frames.at(-1)?.["response"]).status, "failed");
    });
  }

  it("pitfall 10: the error stands where each SDK looks, and the text so far is kept", () => {
    const frames = framesOf(failed(golden.slice(0, 7)));
    const event = frames.find(({ type }) => type === "error");
    assert.equal(event?.["code"], "upstream_error");
    assert.deepEqual(event?.["error"], {
      type: "server_error",
      code: "upstream_error",
      message: "The provider broke off.",
      param: null,
    });
    const response = Object(frames.at(-1)?.["response"]);
    assert.deepEqual(response.error, { code: "server_error", message: "The provider broke off." });
    assert.equal(response.output[1].content[0].text, "Hi");
    assert.equal(response.output[1].status, "incomplete");
  });
});
