import assert from "node:assert/strict";
import fc from "fast-check";
import type { Conversation } from "../../../../../../proxy/translate/conversation.ts";
import { foldReply } from "../../../../../../proxy/translate/fold-reply.ts";
import { generateContentTranslator } from "../../../../../../proxy/translate/generate-content/translator.ts";
import { unfoldReply } from "../../../../../../proxy/translate/unfold-reply.ts";
import { anyReply } from "../../../../../support/translation/any-reply.ts";
import { contextOf, readFrames, streamOf } from "../replay.ts";

const shown: Partial<Conversation> = { reasoning: { mode: "on", show: true } };

describe("the streams of generateContent", () => {
  it("come back as they were: written, then read", () => {
    fc.assert(
      fc.property(anyReply, fc.boolean(), (reply, isArray) => {
        const text = streamOf(unfoldReply(reply), contextOf(shown, isArray ? "array" : "sse"));
        const frames = isArray ? JSON.parse(text) : framesOf(text);
        const got = foldReply(readFrames(frames));
        assert.deepEqual(got, { ...reply, id: "id1", usage: got.usage });
        assert.equal(got.usage?.input, reply.usage?.input);
      }),
    );
  });

  it("say the same as a whole answer", () => {
    fc.assert(
      fc.property(anyReply, (reply) => {
        const whole = generateContentTranslator.readReply(
          generateContentTranslator.writeReply(reply, contextOf(shown)),
        );
        const streamed = foldReply(readFrames(framesOf(streamOf(unfoldReply(reply), contextOf(shown)))));
        assert.deepEqual(whole, streamed);
      }),
    );
  });
});

function framesOf(text: string): Record<string, unknown>[] {
  return text
    .split("\r\n\r\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => JSON.parse(block.slice("data: ".length)));
}
