import assert from "node:assert/strict";
import fc from "fast-check";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import { generateContentUpstreamTranslator } from "#proxy/formats/generate-content/translate/upstream-translator";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import type { Conversation } from "#proxy/neutral/conversation";
import { replayReply } from "#proxy/neutral/replay-reply";
import type { Reply, ReplyEvent } from "#proxy/neutral/reply";
import { anyReply } from "#test/support/translation/any-reply";
import { contextOf, readFrames, streamOf } from "#test/unit/proxy/formats/generate-content/translate/replay";

const shown: Partial<Conversation> = { reasoning: { mode: "on", show: true } };

describe("the streams of generateContent", () => {
  it("come back as they were: written, then read", () => {
    fc.assert(
      fc.property(anyReply, fc.boolean(), (reply, isArray) => {
        const text = streamOf(replayReply(reply), contextOf(shown, isArray ? "array" : "sse"));
        const frames = isArray ? JSON.parse(text) : framesOf(text);
        const got = aggregateReply(readFrames(frames));
        assert.deepEqual(got, { ...reply, id: "id1", usage: got.usage });
        assert.equal(got.usage?.input, reply.usage?.input);
      }),
    );
  });

  it("come back as they were, however the pieces of their parts are mixed", () => {
    fc.assert(
      fc.property(anyReply, fc.infiniteStream(fc.nat(1000)), (reply, picks) => {
        const got = aggregateReply(
          readFrames(framesOf(streamOf(mixed([...replayReply(reply)], picks), contextOf(shown)))),
        );
        assert.deepEqual(factsOf(got), factsOf(reply));
      }),
    );
  });

  it("say the same as a whole reply", () => {
    fc.assert(
      fc.property(anyReply, (reply) => {
        const whole = generateContentUpstreamTranslator.readReply(
          generateContentClientTranslator.writeReply(reply, contextOf(shown)),
        );
        const streamed = aggregateReply(readFrames(framesOf(streamOf(replayReply(reply), contextOf(shown)))));
        assert.deepEqual(whole, streamed);
      }),
    );
  });
});

/** The events in another legal order: parts begin in their order, and each part's own events keep theirs. */
function* mixed(events: readonly ReplyEvent[], picks: Iterator<number>): Generator<ReplyEvent> {
  const queues: ReplyEvent[][] = [];
  for (const event of events) {
    if (!("part" in event)) continue;
    const queue = queues[event.part] ?? [];
    queues[event.part] = queue;
    queue.push(event);
  }
  yield* events.slice(0, 1);
  let opened = 0;
  for (;;) {
    const ready = queues.filter((queue, part) => queue.length > 0 && part <= opened);
    const next = ready[picks.next().value % Math.max(1, ready.length)]?.shift();
    if (next === undefined) break;
    if (next.type === "open") opened = next.part + 1;
    yield next;
  }
  yield* events.filter((event) => !("part" in event)).slice(1);
}

/** What a reply says, whatever the order of its thinking, text and calls among each other. */
function factsOf(reply: Reply): unknown {
  const [candidate] = reply.candidates;
  const blocks = candidate?.blocks ?? [];
  const texts = (kind: "text" | "reasoning"): string =>
    blocks.map((block) => (block.kind === kind && "text" in block ? block.text : "")).join("");
  const calls = blocks.flatMap((block) => (block.kind === "call" ? [[block.id, block.name, block.arguments]] : []));
  return [texts("reasoning"), texts("text"), calls, candidate?.finish];
}

function framesOf(text: string): Record<string, unknown>[] {
  return text
    .split("\r\n\r\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => JSON.parse(block.slice("data: ".length)));
}
