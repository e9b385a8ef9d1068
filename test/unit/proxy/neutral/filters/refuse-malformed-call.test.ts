import assert from "node:assert/strict";
import { RefuseMalformedCall } from "#proxy/neutral/filters/refuse-malformed-call";
import { InvalidReply, type ReplyEvent } from "#proxy/neutral/reply";

const start: ReplyEvent = { type: "start", id: "r", model: "m" };
const end: ReplyEvent = { type: "end" };
const malformed: ReplyEvent = { type: "finish", candidate: 0, finish: { reason: "malformed-call" } };
const withheld: ReplyEvent = { type: "finish", candidate: 0, finish: { reason: "content-filter" } };
const open = (kind: "text" | "reasoning", candidate = 0): ReplyEvent => ({
  type: "open",
  candidate,
  part: 0,
  block: { kind },
});

/** How many events each one lets out. */
function counts(events: readonly ReplyEvent[]): number[] {
  const filter = new RefuseMalformedCall();
  return events.map((event) => filter.apply(event).length);
}

describe("RefuseMalformedCall", () => {
  for (const [name, events, want] of [
    ["holds the beginning until something opens", [start, open("text"), end], [0, 2, 1]],
    ["shows at once what is thought", [start, open("reasoning"), open("text"), end], [0, 2, 1, 1]],
    ["lets an empty answer out that ends in another way", [start, withheld, end], [0, 0, 3]],
    ["lets out what was said before", [start, open("text"), malformed, end], [0, 2, 1, 1]],
    ["lets out what another candidate says", [start, malformed, open("text", 1), end], [0, 0, 3, 1]],
  ] as const) {
    it(name, () => assert.deepEqual(counts(events), want));
  }

  for (const events of [
    [start, malformed, end],
    [start, open("reasoning"), malformed, end],
  ]) {
    it(`refuses a reply of nothing but ${events.length === 3 ? "the call" : "a thought and the call"}`, () => {
      assert.throws(() => counts(events), InvalidReply);
    });
  }
});
