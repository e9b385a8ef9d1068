/** Answers of any legal kind for property tests, whole and as the events of a stream cut and mixed in any legal way. */
import fc from "fast-check";
import { replayReply } from "#proxy/neutral/replay-reply";
import type { Candidate, Citation, Finish, Reply, ReplyBlock, ReplyEvent } from "#proxy/neutral/reply";

const text = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" });
const jsonObject = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
const name = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_-]{0,10}$/);

const citation: fc.Arbitrary<Citation> = fc.record({
  url: fc.webUrl(),
  title: fc.option(text, { nil: undefined }),
});

const textBlock: fc.Arbitrary<ReplyBlock> = fc.record({
  kind: fc.constant("text" as const),
  text,
  citations: fc.array(citation, { maxLength: 2 }),
  logprobs: fc.constant([]),
  states: fc.constant([]),
});

const plainBlock: fc.Arbitrary<ReplyBlock> = fc.record({
  kind: fc.constantFrom("refusal" as const, "reasoning" as const),
  text,
  states: fc.constant([]),
});

const callBlock: fc.Arbitrary<ReplyBlock> = fc.record({
  kind: fc.constant("call" as const),
  id: fc.option(fc.uuid(), { nil: undefined }),
  name,
  tool: fc.constant("function" as const),
  arguments: jsonObject.map((value) => JSON.stringify(value)),
  states: fc.constant([]),
});

const customBlock: fc.Arbitrary<ReplyBlock> = fc.record({
  kind: fc.constant("call" as const),
  id: fc.uuid(),
  name,
  tool: fc.constant("custom" as const),
  arguments: text,
  states: fc.constant([]),
});

const image: fc.Arbitrary<ReplyBlock> = fc.record({
  kind: fc.constant("media" as const),
  mime: fc.constant("image/png"),
  base64: fc.constant("iVBORw0KGgo="),
});

const hosted: fc.Arbitrary<ReplyBlock> = fc.record({
  kind: fc.constant("hosted" as const),
  tool: fc.constant("web-search" as const),
  type: fc.constant("web_search_call"),
});

const usual = [textBlock, plainBlock, callBlock, image, hosted];

function candidateOf(blocks: readonly fc.Arbitrary<ReplyBlock>[]): fc.Arbitrary<Candidate> {
  const reason = fc.constantFrom<Finish["reason"]>("stop", "length", "content-filter", "other");
  return fc.tuple(fc.array(fc.oneof(...blocks), { maxLength: 5 }), reason).map(([listed, ended]) => {
    const hasCalls = listed.some(({ kind }) => kind === "call");
    return { blocks: listed, finish: { reason: hasCalls && ended !== "length" ? "tool-calls" : ended } };
  });
}

const count = fc.nat({ max: 1_000 });
const usage = fc.record({
  input: count,
  cacheRead: count,
  cacheWrite: count,
  cacheWrite1h: fc.constant(0),
  output: count,
  reasoning: count,
  audioInput: fc.constant(0),
  audioOutput: fc.constant(0),
  imageInput: fc.constant(0),
  imageOutput: fc.constant(0),
  searches: fc.constant(0),
});

export interface ReplyKind {
  /** Most candidates of one answer. */
  readonly candidatesMax?: number;
  /** With calls of custom tools, which older clients do not know in streams. */
  readonly hasCustomCalls?: boolean;
}

export function anyReply({ candidatesMax = 3, hasCustomCalls = true }: ReplyKind = {}): fc.Arbitrary<Reply> {
  const candidate = candidateOf(hasCustomCalls ? [...usual, customBlock] : usual);
  return fc.record({
    id: fc.constant("up"),
    model: fc.constant("m"),
    candidates: fc.array(candidate, { minLength: 1, maxLength: candidatesMax }),
    usage: fc.option(usage, { nil: undefined }),
  });
}

/**
 * The events of an answer with deltas cut into pieces, and the candidates' events mixed by the choices given.
 * @param choices numbers by which the next candidate is chosen
 */
export function mixedEvents(reply: Reply, choices: readonly number[]): ReplyEvent[] {
  const cut = [...replayReply(reply)].flatMap(cutDelta);
  const queues = reply.candidates.map((_, index) =>
    cut.filter((event) => "candidate" in event && event.candidate === index),
  );
  const mixed: ReplyEvent[] = cut.filter(({ type }) => type === "start");
  for (let turn = 0; queues.some((queue) => queue.length > 0); turn += 1) {
    const waiting = queues.filter((queue) => queue.length > 0);
    const next = waiting[(choices[turn % Math.max(1, choices.length)] ?? 0) % waiting.length]?.shift();
    if (next !== undefined) mixed.push(next);
  }
  return [...mixed, ...cut.filter(({ type }) => type === "usage" || type === "end")];
}

function cutDelta(event: ReplyEvent): ReplyEvent[] {
  if (event.type !== "delta") return [event];
  // Between whole characters: half of one is no text.
  return [...event.text].map((piece) => ({ ...event, text: piece }));
}
