/** Holds what the frames of one candidate share: its open parts, its state, and the content of its last frame. */

import { writeFinish } from "#proxy/formats/generate-content/translate/reply/finish-reasons";
import { writeLogprobs } from "#proxy/formats/generate-content/translate/reply/logprobs";
import { PendingStates } from "#proxy/formats/generate-content/translate/reply/pending-states";
import { placeCitation, writeGrounding } from "#proxy/formats/generate-content/translate/reply/write-grounding";
import { writeCallPart } from "#proxy/formats/generate-content/translate/reply/write-parts";
import type { ReplyContext } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { ProviderState } from "#proxy/neutral/conversation";
import { UniqueIds } from "#proxy/neutral/ids/unique-ids";
import type { Citation, Finish, OpenedBlock, TokenLogprob } from "#proxy/neutral/reply";

/** Text kept for the offsets of sources; beyond it they have none. */
const textCharactersMax = 1_048_576;

type StreamedBlock = Exclude<OpenedBlock, { kind: "media" | "hosted" }>;

/** A text of the reply, in its visible text as a whole. */
interface WrittenText {
  /** In UTF-16 units, as of its first words. */
  start: number;
  length: number;
  /** May come before the text and behind it. */
  readonly citations: Citation[];
}

interface OpenPart {
  readonly block: StreamedBlock;
  /** Arguments of a call so far. */
  readonly pieces: string[];
  readonly states: ProviderState[];
  isClosed: boolean;
}

export class CandidateWriter {
  readonly #context: ReplyContext;
  readonly #pending: PendingStates;
  readonly #ids = new UniqueIds();
  readonly #open = new Map<number, OpenPart>();
  readonly #texts = new Map<number, WrittenText>();
  readonly #queries: string[] = [];
  readonly #tokens: TokenLogprob[] = [];
  readonly #showsReasoning: boolean;
  #text: string | undefined = "";
  finish: Finish = { reason: "other" };

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#pending = new PendingStates(context);
    this.#showsReasoning = context.conversation.reasoning?.show === true;
  }

  open(part: number, block: StreamedBlock): void {
    this.#open.set(part, { block, pieces: [], states: [], isClosed: false });
    if (block.kind === "text") this.#texts.set(part, { start: 0, length: 0, citations: [] });
  }

  addQueries(queries: readonly string[]): void {
    this.#queries.push(...queries);
  }

  /** @returns parts to send, as JSON texts */
  delta(part: number, text: string): readonly string[] {
    const open = this.#open.get(part);
    switch (open?.block.kind) {
      case "text":
      case "refusal":
        this.#keepText(part, text);
        return [`{"text":${JSON.stringify(text)}}`];
      case "reasoning":
        return this.#showsReasoning ? [`{"text":${JSON.stringify(text)},"thought":true}`] : [];
      case "call":
        open.pieces.push(text);
        return [];
      default:
        return [];
    }
  }

  /** @returns calls that are complete, as JSON texts */
  close(part: number): readonly string[] {
    const open = this.#open.get(part);
    if (open === undefined) return [];
    open.isClosed = true;
    if (open.block.kind === "call") return this.#closedCalls();
    this.#open.delete(part);
    this.#pending.add(...open.states);
    return [];
  }

  /** In the order of their beginnings: one that ended early waits for those before it. */
  #closedCalls(): string[] {
    const calls: string[] = [];
    for (const [part, { block, isClosed, states, pieces }] of this.#open) {
      if (block.kind !== "call") continue;
      if (!isClosed) break;
      this.#open.delete(part);
      this.#pending.add(...states);
      const id = this.#ids.assign(block.id ?? this.#context.newId("call_"));
      calls.push(
        JSON.stringify(writeCallPart({ ...block, arguments: pieces.join("") }, id, this.#pending.consumeForCall())),
      );
    }
    return calls;
  }

  addState(part: number, state: ProviderState): void {
    this.#open.get(part)?.states.push(state);
  }

  cite(part: number, citation: Citation): void {
    this.#texts.get(part)?.citations.push(citation);
  }

  addLogprobs(tokens: readonly TokenLogprob[]): void {
    if (this.#context.conversation.sampling.logprobs !== true) return;
    for (const token of tokens) this.#tokens.push(token);
  }

  /** The candidate in the last frame. */
  last(index: number): JsonObject {
    const signature = this.#pending.takeRest();
    const citations = [...this.#texts.values()].flatMap((text) =>
      text.citations.map((citation) => placeCitation(citation, text.start, text.length)),
    );
    const grounding = writeGrounding([{ text: this.#text, citations }], this.#queries);
    const { explanation } = this.finish;
    return {
      content: {
        role: "model",
        parts: [{ text: "", ...(signature === undefined ? {} : { thoughtSignature: signature }) }],
      },
      finishReason: writeFinish(this.finish),
      ...(explanation === undefined ? {} : { finishMessage: explanation }),
      index,
      ...(grounding === undefined ? {} : { groundingMetadata: grounding }),
      ...(this.#tokens.length === 0 ? {} : { logprobsResult: writeLogprobs(this.#tokens) }),
    };
  }

  #keepText(part: number, text: string): void {
    const written = this.#texts.get(part);
    if (written !== undefined) {
      if (written.length === 0) written.start = this.#text?.length ?? 0;
      written.length += text.length;
    }
    if (this.#text === undefined) return;
    this.#text = this.#text.length + text.length > textCharactersMax ? undefined : this.#text + text;
  }
}
