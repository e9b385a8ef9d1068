/**
 * Random neutral streams that keep every promise of a reader (`proxy/neutral/reply.ts`): what writers of every format
 * must be able to say.
 */
import fc from "fast-check";
import type { Finish, OpenedBlock, ReplyEvent } from "#proxy/neutral/reply";

interface PlannedPart {
  readonly block: OpenedBlock;
  /** Pieces between its open and its close. */
  readonly pieces: readonly (string | "cite" | "state")[];
  /** Opens before the part before it closes. */
  readonly overlaps: boolean;
}

const words = fc.string({ minLength: 1, maxLength: 6, unit: "binary" });

type Arbitraries = readonly fc.Arbitrary<PlannedPart>[];

/** @param overlaps whether parts may be open together */
function partsOf(overlaps: fc.Arbitrary<boolean>): Arbitraries {
  const textPart: fc.Arbitrary<PlannedPart> = fc.record({
    block: fc.constantFrom<OpenedBlock>({ kind: "text" }, { kind: "refusal" }, { kind: "reasoning" }),
    pieces: fc.array(words, { maxLength: 3 }),
    overlaps,
  });

  const callPart: fc.Arbitrary<PlannedPart> = fc.record({
    block: fc.record({
      kind: fc.constant("call" as const),
      id: fc.option(fc.uuid(), { nil: undefined }),
      name: fc.constantFrom("f", "g"),
      tool: fc.constant("function" as const),
    }),
    pieces: fc.constantFrom<readonly string[]>([], ["{}"], ['{"x"', ":1}"]),
    overlaps,
  });

  const wholePart: fc.Arbitrary<PlannedPart> = fc.record({
    block: fc.constantFrom<OpenedBlock>(
      { kind: "media", mime: "image/png", base64: "AAAA" },
      { kind: "hosted", tool: "code", type: "x", code: "1" },
      { kind: "hosted", tool: "code", type: "x", output: "2" },
      { kind: "hosted", tool: "web-search", type: "x" },
      { kind: "hosted", tool: "other", type: "x" },
    ),
    pieces: fc.constant<readonly string[]>([]),
    overlaps: fc.constant(false),
  });
  return [textPart, callPart, wholePart];
}

const finishes = fc.constantFrom<Finish["reason"]>(
  "stop",
  "length",
  "tool-calls",
  "content-filter",
  "refusal",
  "other",
);

function eventsWith(overlaps: fc.Arbitrary<boolean>): fc.Arbitrary<readonly ReplyEvent[]> {
  return fc
    .tuple(fc.array(fc.oneof(...partsOf(overlaps)), { maxLength: 6 }), finishes, fc.boolean())
    .map(([parts, reason, hasState]) => [...eventsOf(parts, reason, hasState)]);
}

/** Several parts may be open together. */
export const legalEvents = eventsWith(fc.boolean());

/** One part after another, as most formats have them. */
export const sequentialEvents = eventsWith(fc.constant(false));

function* eventsOf(parts: readonly PlannedPart[], reason: Finish["reason"], hasState: boolean): Iterable<ReplyEvent> {
  yield { type: "start", id: "up_1", model: "up" };
  let waiting: ReplyEvent[] = [];
  for (const [part, { block, pieces, overlaps }] of parts.entries()) {
    const at = { candidate: 0, part };
    if (!overlaps) {
      yield* waiting;
      waiting = [];
    }
    yield { type: "open", ...at, block };
    if (hasState && block.kind === "call")
      yield { type: "state", ...at, state: { kind: "thought-signature", data: "S" } };
    const [first, ...rest] = pieces;
    if (first !== undefined) yield { type: "delta", ...at, text: first };
    // The part before this one goes on, and ends, while this one is open.
    yield* waiting;
    waiting = rest.map((text) => ({ type: "delta", ...at, text }));
    if (hasState && block.kind === "reasoning") {
      waiting.push({ type: "state", ...at, state: { kind: "thinking", text: "", signature: "S" } });
    }
    waiting.push({ type: "close", ...at });
  }
  yield* waiting;
  yield { type: "finish", candidate: 0, finish: { reason } };
  yield { type: "end" };
}
