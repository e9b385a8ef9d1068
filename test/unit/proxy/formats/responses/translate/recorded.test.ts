import assert from "node:assert/strict";
import { responsesUpstreamTranslator } from "#proxy/formats/responses/translate/upstream-translator";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { replayReply } from "#proxy/neutral/replay-reply";
import type { Candidate } from "#proxy/neutral/reply";
import { compare } from "#test/support/digest/compare";
import { type Digest, digest } from "#test/support/digest/digest";
import { checkGrammar } from "#test/support/digest/grammar";
import { explainAbsence, readRecorded } from "#test/support/digest/recorded";
import { readStream, replyContext, writeStream, writeWhole } from "#test/support/translation/responses-exchange";

const recorded = readRecorded();

/** Raw thoughts become summaries and provider-run tools have no facts: neither is lost between formats. */
function lost(upstream: Digest, client: Digest): readonly unknown[] {
  return compare(upstream, client, { sameProtocol: false });
}

/** The API encrypts a reasoning item anew each time it shows it. */
function withoutData({ blocks, finish }: Candidate): unknown {
  const plain = blocks.map((block) =>
    block.kind === "reasoning" ? { ...block, states: block.states.map((state) => ({ ...state, data: "" })) } : block,
  );
  return { blocks: plain, finish };
}

describe("responses translator: recorded traffic", () => {
  if (recorded === undefined) {
    it(explainAbsence("responses translator"), function () {
      this.skip();
    });
    return;
  }
  const replies = recorded.filter(
    ({ protocol, httpStatus, expected }) =>
      protocol === "openai-responses" && httpStatus < 400 && expected["status"] !== "error",
  );
  assert.ok(replies.length >= 30, "there is less recorded traffic than there should be");

  for (const { id, isStream, bytes } of replies) {
    const upstream = (): Digest => digest("openai-responses", bytes());
    const context = () =>
      replyContext({ stream: isStream, reasoning: { summary: "auto" }, include: ["message.output_text.logprobs"] });

    it(`${id} keeps its facts as a stream and as a whole`, () => {
      const events = isStream
        ? readStream(bytes())
        : [...replayReply(responsesUpstreamTranslator.readReply(JSON.parse(bytes().toString("utf8"))))];
      const stream = Buffer.from(writeStream(events, context()));
      assert.deepEqual(checkGrammar("openai-responses", stream), []);
      const streamed = digest("openai-responses", stream);
      assert.deepEqual(lost(upstream(), streamed), []);
      const whole = writeWhole(aggregateReply(events), context());
      assert.deepEqual(lost(upstream(), digest("openai-responses", Buffer.from(JSON.stringify(whole)))), []);
    });

    if (isStream) {
      it(`${id} as events is what its final response is`, () => {
        const text = bytes().toString("utf8");
        const last = /^data: (\{.*"response\.completed".*\})$/m.exec(text)?.[1];
        if (last === undefined) return;
        const { response } = JSON.parse(last);
        if (response.output.length === 0) return;
        const whole = responsesUpstreamTranslator.readReply(response).candidates;
        assert.deepEqual(aggregateReply(readStream(bytes())).candidates.map(withoutData), whole.map(withoutData));
      });
    }
  }
});
