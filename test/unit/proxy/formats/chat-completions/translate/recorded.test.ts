import assert from "node:assert/strict";
import { chatCompletionsUpstreamTranslator } from "#proxy/formats/chat-completions/translate/upstream-translator";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { replayReply } from "#proxy/neutral/replay-reply";
import { compare } from "#test/support/digest/compare";
import { type Digest, digest } from "#test/support/digest/digest";
import { checkGrammar } from "#test/support/digest/grammar";
import { explainAbsence, readRecorded } from "#test/support/digest/recorded";
import { readStream, replyContext, writeStream, writeWhole } from "#test/support/translation/chat-exchange";

const recorded = readRecorded();

/** What the upstream broke itself is no fact that could be kept; a title is a text in every annotation. */
function lost(upstream: Digest, client: Digest): readonly unknown[] {
  const citations = upstream.citations.map(({ url, title }) => ({ url, title: title ?? "" }));
  return compare({ ...upstream, citations, warnings: [] }, client, { sameProtocol: false });
}

describe("chat completions translator: recorded traffic", () => {
  if (recorded === undefined) {
    it(explainAbsence("chat completions translator"), function () {
      this.skip();
    });
    return;
  }
  const replies = recorded.filter(
    ({ protocol, httpStatus, expected }) =>
      protocol === "openai-chat" && httpStatus < 400 && expected["status"] !== "error",
  );
  assert.ok(replies.length >= 36, "there is less recorded traffic than there should be");

  for (const { id, isStream, bytes } of replies) {
    it(`${id} keeps its facts as a stream and as a whole`, () => {
      const upstream = digest("openai-chat", bytes());
      const events = isStream
        ? readStream(bytes())
        : [...replayReply(chatCompletionsUpstreamTranslator.readReply(JSON.parse(bytes().toString("utf8"))))];
      const stream = Buffer.from(writeStream(events));
      assert.deepEqual(checkGrammar("openai-chat", stream), []);
      assert.deepEqual(lost(upstream, digest("openai-chat", stream)), []);
      const whole = writeWhole(aggregateReply(events));
      assert.deepEqual(lost(upstream, digest("openai-chat", Buffer.from(JSON.stringify(whole)))), []);
    });

    it(`${id} means the same when what was written is read again`, () => {
      const events = isStream
        ? readStream(bytes())
        : [...replayReply(chatCompletionsUpstreamTranslator.readReply(JSON.parse(bytes().toString("utf8"))))];
      const again = readStream(Buffer.from(writeStream(events)));
      assert.deepEqual(
        digest("openai-chat", Buffer.from(writeStream(again))),
        digest("openai-chat", Buffer.from(writeStream(events))),
      );
      assert.deepEqual(
        writeWhole(aggregateReply(again), replyContext()),
        writeWhole(aggregateReply(events), replyContext()),
      );
    });
  }
});
