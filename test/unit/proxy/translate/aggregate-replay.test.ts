import assert from "node:assert/strict";
import fc from "fast-check";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { replayReply } from "#proxy/neutral/replay-reply";
import { InvalidReply, type Reply, type ReplyEvent } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";
import { anyReply } from "#test/support/translation/any-reply";

const reply: Reply = {
  id: "r1",
  model: "m",
  serviceTier: undefined,
  candidates: [
    {
      blocks: [
        { kind: "reasoning", text: "T", states: [{ kind: "thinking", text: "T", signature: "s" }] },
        { kind: "text", text: "Hi", citations: [{ url: "https://a.example" }], logprobs: [], states: [] },
        { kind: "call", id: "call_a", name: "f", tool: "function", arguments: "{}", states: [] },
      ],
      finish: { reason: "tool-calls" },
    },
  ],
  usage: { ...zeroUsage, input: 3, output: 2 },
};

describe("aggregateReply() and replayReply()", () => {
  it("gives back the reply that was replayed", () => assert.deepEqual(aggregateReply(replayReply(reply)), reply));

  it("gives back every reply", () => {
    fc.assert(fc.property(anyReply, (any) => assert.deepEqual(aggregateReply(replayReply(any)), any)));
  });

  it("gathers parts that grow side by side", () => {
    const at = (part: number) => ({ candidate: 0, part });
    const events: ReplyEvent[] = [
      { type: "start", id: undefined, model: undefined },
      { type: "open", ...at(0), block: { kind: "call", id: "a", name: "f", tool: "function" } },
      { type: "open", ...at(1), block: { kind: "call", id: "b", name: "g", tool: "function" } },
      { type: "delta", ...at(1), text: '{"x"' },
      { type: "delta", ...at(0), text: "{" },
      { type: "delta", ...at(1), text: ":1}" },
      { type: "delta", ...at(0), text: "}" },
      { type: "close", ...at(0) },
      { type: "close", ...at(1) },
      { type: "finish", candidate: 0, finish: { reason: "tool-calls" } },
      { type: "end" },
    ];
    const [candidate] = aggregateReply(events).candidates;
    assert.deepEqual(
      candidate?.blocks.map((block) => block.kind === "call" && [block.name, block.arguments]),
      [
        ["f", "{}"],
        ["g", '{"x":1}'],
      ],
    );
  });

  for (const row of [
    { name: "a reply without its end", events: [{ type: "start", id: undefined, model: undefined }] },
    {
      name: "a piece of a part that was never opened",
      events: [{ type: "delta", candidate: 0, part: 0, text: "x" }, { type: "end" }],
    },
  ] as const) {
    it(`refuses ${row.name}`, () => assert.throws(() => aggregateReply(row.events), InvalidReply));
  }
});
