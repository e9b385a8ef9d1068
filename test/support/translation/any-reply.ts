/** Arbitrary neutral answers and conversations' pieces, for properties that hold for all of them. */
import fc from "fast-check";
import type { Candidate, Reply, ReplyBlock } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";

const plain = { noNullPrototype: true } as const;
const words = fc.string({ unit: "grapheme", maxLength: 12 });
const someWords = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
const toolName = fc.stringMatching(/^[a-z][a-z0-9_]{0,10}$/);
const callId = fc.stringMatching(/^call_[A-Za-z0-9]{6}$/);

const text = fc.record(
  {
    kind: fc.constant("text" as const),
    text: someWords,
    citations: fc.constant([]),
    logprobs: fc.constant([]),
    states: fc.constant([]),
  },
  plain,
);
const reasoning = fc.record(
  { kind: fc.constant("reasoning" as const), text: someWords, states: fc.constant([]) },
  plain,
);
const call = fc.record(
  {
    kind: fc.constant("call" as const),
    id: callId,
    name: toolName,
    tool: fc.constant("function" as const),
    arguments: fc
      .dictionary(toolName, fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null)))
      .map((args) => JSON.stringify({ ...args })),
    states: fc.constant([]),
  },
  plain,
);

/** Calls with ids of their own. */
function distinctCalls(blocks: ReplyBlock[]): ReplyBlock[] {
  return blocks.map((block, index) => (block.kind === "call" ? { ...block, id: `${block.id ?? ""}${index}` } : block));
}

/** One candidate that thinks, says something and calls tools, in an order that every format can say. */
export const anyCandidate: fc.Arbitrary<Candidate> = fc
  .tuple(
    fc.option(reasoning, { nil: undefined }),
    fc.option(text, { nil: undefined }),
    fc.array(call, { maxLength: 3 }),
  )
  .map(([thought, said, calls]) => {
    const blocks = distinctCalls([
      ...(thought === undefined ? [] : [thought]),
      ...(said === undefined ? [] : [said]),
      ...calls,
    ]);
    return { blocks, finish: { reason: calls.length > 0 ? ("tool-calls" as const) : ("stop" as const) } };
  });

export const anyReply: fc.Arbitrary<Reply> = fc
  .tuple(anyCandidate, fc.nat(1_000), fc.nat(1_000))
  .map(([candidate, input, output]) => ({
    id: "r1",
    model: "m",
    serviceTier: undefined,
    candidates: [candidate],
    usage: { ...zeroUsage, input, output },
  }));
