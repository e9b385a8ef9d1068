import assert from "node:assert/strict";
import fc from "fast-check";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import type { OpenedBlock, ReplyEvent } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";
import { type Digest, digest } from "#test/support/digest/digest";
import { checkGrammar } from "#test/support/digest/grammar";
import { anthropicGenerations } from "#test/support/official-clients";
import { readStream, writeStream, writeWhole } from "#test/support/translation/messages-exchange";

interface GivenPart {
  readonly block: OpenedBlock;
  readonly pieces: readonly string[];
  readonly isSigned: boolean;
}

// Not the separators that some programs take for the end of a line: the check of grammar is one of them.
const piece = fc.string({ minLength: 1, unit: "grapheme" }).map((text) => text.replace(/[\u2028\u2029]/g, "-"));
const pieces = fc.array(piece, { maxLength: 4 });
const argumentPieces = fc
  .tuple(fc.object({ maxDepth: 2 }), fc.array(fc.nat(), { maxLength: 3 }))
  .map(([value, cuts]) => {
    const text = JSON.stringify(value);
    const points = [...new Set(cuts.map((cut) => cut % text.length))]
      .filter((point) => point > 0)
      .sort((a, b) => a - b);
    return [...points, text.length].map((point, index) => text.slice(points[index - 1] ?? 0, point));
  });
const part: fc.Arbitrary<GivenPart> = fc.oneof(
  fc.record({
    block: fc.constantFrom<OpenedBlock>({ kind: "text" }, { kind: "refusal" }),
    pieces,
    isSigned: fc.constant(false),
  }),
  fc.record({ block: fc.constant<OpenedBlock>({ kind: "reasoning" }), pieces, isSigned: fc.boolean() }),
  fc.record({
    block: fc.record({
      kind: fc.constant("call" as const),
      id: fc.option(fc.string(), { nil: undefined }),
      name: fc.stringMatching(/^[a-z]{1,8}$/),
      tool: fc.constant("function" as const),
    }),
    pieces: argumentPieces,
    isSigned: fc.boolean(),
  }),
);

function eventsOf(number: number, { block, pieces: texts, isSigned }: GivenPart): ReplyEvent[] {
  const at = { candidate: 0, part: number };
  const state: ReplyEvent = { type: "state", ...at, state: { kind: "thought-signature", data: `S${number}` } };
  const source: ReplyEvent = { type: "citation", ...at, citation: { url: `https://example.com/${number}` } };
  return [
    { type: "open", ...at, block },
    ...(isSigned && block.kind === "call" ? [state] : []),
    ...(block.kind === "text" ? [source] : []),
    ...texts.map((text): ReplyEvent => ({ type: "delta", ...at, text })),
    ...(block.kind === "text" ? [source] : []),
    ...(isSigned && block.kind === "reasoning" ? [state] : []),
    { type: "close", ...at },
  ];
}

/** Parts opened in their order, everything else mixed by the choices. */
function mixed(parts: readonly GivenPart[], choices: readonly number[]): ReplyEvent[] {
  const waiting = parts.map((given, number) => eventsOf(number, given));
  const open: ReplyEvent[][] = [];
  const events: ReplyEvent[] = [];
  for (let step = 0; waiting.length > 0 || open.length > 0; step += 1) {
    const choice = (choices[step % Math.max(1, choices.length)] ?? 0) % (open.length + 1);
    const queue = open[choice] ?? waiting.shift() ?? open[0];
    if (queue === undefined) break;
    if (!open.includes(queue)) open.push(queue);
    const event = queue.shift();
    if (event !== undefined) events.push(event);
    if (queue.length === 0) open.splice(open.indexOf(queue), 1);
  }
  return events;
}

function wholeStream(parts: readonly GivenPart[], choices: readonly number[]): ReplyEvent[] {
  return [
    { type: "start", id: "up", model: "up" },
    ...mixed(parts, choices),
    { type: "usage", usage: { ...zeroUsage, input: 3, output: 2 } },
    { type: "finish", candidate: 0, finish: { reason: "stop" } },
    { type: "end" },
  ];
}

const streams = fc.tuple(fc.array(part, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 12 }));

function argumentsOf(parts: readonly GivenPart[]): unknown[] {
  return parts.flatMap(({ block, pieces: texts }) => (block.kind === "call" ? [JSON.parse(texts.join(""))] : []));
}
function sorted(values: readonly string[]): string[] {
  return [...values].sort();
}

describe("messages translator: any legal reply", () => {
  it("pitfall 43: becomes a clean stream that keeps every call whole, however its parts were mixed", () => {
    fc.assert(
      fc.property(streams, ([parts, choices]) => {
        const stream = Buffer.from(writeStream(wholeStream(parts, choices)));
        assert.deepEqual(checkGrammar("anthropic-messages", stream), []);
        const facts = digest("anthropic-messages", stream);
        assert.deepEqual(
          sorted(facts.tools.map(({ args }) => JSON.stringify(args))),
          sorted(argumentsOf(parts).map((args) => JSON.stringify(args))),
        );
        assert.equal(new Set(facts.tools.map(({ id }) => id)).size, facts.tools.length);
        const textsOf = (...kinds: string[]) =>
          parts.flatMap(({ block, pieces: texts }) => (kinds.includes(block.kind) ? texts : [])).join("").length;
        assert.equal(facts.text.length, textsOf("text", "refusal"));
        assert.equal(facts.reasoning.length, textsOf("reasoning"));
      }),
    );
  });

  it("says the same whole as streamed when its parts come one after another", () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const events = wholeStream(parts, [1_000_000]).sort((one, other) => placeOf(one) - placeOf(other));
        const streamed = digest("anthropic-messages", Buffer.from(writeStream(events)));
        const whole = digest("anthropic-messages", Buffer.from(JSON.stringify(writeWhole(aggregateReply(events)))));
        assert.deepEqual(withoutIds(streamed), withoutIds(whole));
      }),
    );
  });

  it("is read from its own stream as it was written", () => {
    fc.assert(
      fc.property(streams, ([parts, choices]) => {
        const written = writeStream(wholeStream(parts, choices));
        const again = digest("anthropic-messages", Buffer.from(writeStream(readStream(Buffer.from(written)))));
        const facts = digest("anthropic-messages", Buffer.from(written));
        // What was sealed once is sealed again.
        assert.deepEqual({ ...withoutIds(again), signatures: [] }, { ...withoutIds(facts), signatures: [] });
      }),
    );
  });
});

/** Ids that the gateway gave out itself differ. */
function withoutIds(facts: Digest): Digest {
  return { ...facts, tools: facts.tools.map((tool) => ({ ...tool, id: null })) };
}

/** Parts in a row: start first, end last. */
function placeOf(event: ReplyEvent): number {
  if (event.type === "start") return -1;
  return "part" in event ? event.part : 1_000_000;
}

for (const { name, load } of anthropicGenerations) {
  describe(`messages translator: streams in the hands of ${name}`, () => {
    const Client = load();

    async function accumulated(stream: string): Promise<{ content: readonly object[]; stop_reason: string | null }> {
      const client = new Client({
        apiKey: "sk-test",
        baseURL: "http://gateway.invalid",
        maxRetries: 0,
        fetch: async () => new Response(stream, { headers: { "content-type": "text/event-stream" } }),
      });
      const messages = [{ role: "user" as const, content: "hi" }];
      return client.messages.stream({ model: "m", max_tokens: 16, messages }).finalMessage();
    }

    it("become the message that the whole reply is", async () => {
      await fc.assert(
        fc.asyncProperty(streams, async ([parts, choices]) => {
          const stream = writeStream(wholeStream(parts, choices));
          const message = await accumulated(stream);
          const again = aggregateReply(readStream(Buffer.from(stream)));
          const facts = digest("anthropic-messages", Buffer.from(JSON.stringify(message)));
          const streamed = digest("anthropic-messages", Buffer.from(stream));
          assert.deepEqual(facts, streamed);
          assert.equal(message.content.length, again.candidates[0]?.blocks.length);
        }),
        { numRuns: 40 },
      );
    });
  });
}
