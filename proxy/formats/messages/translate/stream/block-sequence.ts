/**
 * Brings the parts of a reply, of which several may be open at once, into content blocks one after another
 * (docs/design/translation.md 9.2; pitfalls 31, 33, 36, 37, 43, 44).
 *
 * One part owns the wire at a time. Text gives way to the next part and continues in a block of its own; calls and
 * thinking keep the wire until they are closed, and events of other parts wait meanwhile. This one class writes streams
 * and whole replies, through different sinks.
 */

import { CallIds } from "#proxy/formats/messages/translate/call-ids";
import { searchUses } from "#proxy/formats/messages/translate/reply/search-blocks";
import type { ReplyContext } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { ProviderState } from "#proxy/neutral/conversation";
import { omittedText } from "#proxy/neutral/media/omitted-media";
import type { Citation, HostedBlock, OpenedBlock, ReplyEvent } from "#proxy/neutral/reply";
import { customArguments } from "#proxy/neutral/tools/custom-tools";

/** Gets the blocks in their order; between `start` and `stop` only what fits the block. */
export interface BlockSink {
  startText(): void;
  startThinking(): void;
  startCall(id: string, name: string): void;
  startSearch(id: string): void;
  /** A block that has all its content when it starts. */
  startWhole(block: JsonObject): void;
  text(text: string): void;
  thinking(text: string): void;
  signature(signature: string): void;
  json(text: string): void;
  citation(citation: Citation): void;
  stop(): void;
}

interface Part {
  readonly kind: "text" | "reasoning" | "call" | "search";
  readonly call: Extract<OpenedBlock, { kind: "call" }> | undefined;
  readonly search: HostedBlock | undefined;
  readonly states: ProviderState[];
  /** Sources that came before any text. */
  readonly citations: Citation[];
  /** What came while another part had the wire, and a custom tool's text. */
  waiting: string;
  id: string;
  /** Its block is open on the wire. */
  isStarted: boolean;
  /** Something of it has been written. */
  hasContent: boolean;
  isClosed: boolean;
}

function newPart(kind: Part["kind"], members: Partial<Pick<Part, "call" | "search" | "states">> = {}): Part {
  return {
    kind,
    call: undefined,
    search: undefined,
    states: [],
    citations: [],
    waiting: "",
    id: "",
    isStarted: false,
    hasContent: false,
    isClosed: false,
    ...members,
  };
}

/** What a context tells this class. */
type SequenceContext = Pick<ReplyContext, "conversation" | "newId" | "states">;

export class BlockSequence {
  readonly #sink: BlockSink;
  readonly #context: SequenceContext;
  readonly #callIds = new CallIds();
  readonly #parts = new Map<number, Part>();
  /** Parts that wait for the wire, in the order in which they had something to say. */
  readonly #queue: Part[] = [];
  #owner: Part | undefined;
  /** State of thinking that this client gets no blocks for: kept under the next call. */
  readonly #hiddenStates: ProviderState[] = [];
  /** Thinking as plain text, which clients may leave out of what they send back: kept under the next call as well. */
  readonly #plainStates: ProviderState[] = [];

  constructor(sink: BlockSink, context: SequenceContext) {
    this.#sink = sink;
    this.#context = context;
  }

  add(event: ReplyEvent): void {
    if (!("candidate" in event) || event.candidate !== 0) return;
    if (event.type === "open") this.#open(event.part, event.block);
    else if (event.type === "finish") for (const part of [...this.#parts.keys()]) this.#close(part);
    else if (event.type === "close") this.#close(event.part);
    else this.#add(event);
  }

  get #carriesThinking(): boolean {
    return this.#context.conversation.reasoning?.carriesBlocks === true;
  }

  get #showsThinking(): boolean {
    return this.#carriesThinking && this.#context.conversation.reasoning?.show === true;
  }

  /** Files have no block here; of them is told. */
  #open(number: number, block: OpenedBlock): void {
    if (block.kind === "hosted") {
      this.#takeHosted(block);
      return;
    }
    const kind = block.kind === "refusal" || block.kind === "media" ? "text" : block.kind;
    const part = newPart(kind, { call: block.kind === "call" ? block : undefined });
    this.#parts.set(number, part);
    if (block.kind === "media") this.#addText(part, omittedText(block));
    if (kind !== "call") return;
    part.id = this.#callIds.assign(block.kind === "call" && block.id ? block.id : this.#context.newId("toolu_"));
    // The name is worth telling at once, unless state may still come that has to stand before it.
    if (this.#acquire(part) && !this.#carriesThinking) this.#startCall(part);
  }

  /**
   * Of the provider's own tools a search alone has blocks here; none becomes text. State of any of them travels in a
   * thinking block, as that of a call does.
   */
  #takeHosted(block: HostedBlock): void {
    if (block.states !== undefined) this.#end(newPart("reasoning", { states: [...block.states] }));
    const isShown = block.tool === "web-search" && (block.queries?.length ?? 0) > 0;
    if (isShown) this.#end(newPart("search", { search: block }));
  }

  #add(event: Exclude<ReplyEvent, { type: "open" | "close" | "finish" }>): void {
    if (!("part" in event)) return;
    const part = this.#parts.get(event.part);
    if (part === undefined) return;
    if (event.type === "state") this.#addState(part, event.state);
    else if (event.type === "citation") this.#addCitation(part, event.citation);
    else if (event.type === "delta") this.#addText(part, event.text);
  }

  #addState(part: Part, state: ProviderState): void {
    part.states.push(state);
    if (state.kind === "reasoning-text" && this.#carriesThinking) this.#plainStates.push(state);
  }

  #addCitation(part: Part, citation: Citation): void {
    if (part.kind !== "text") return;
    if (part.isStarted) this.#sink.citation(citation);
    else part.citations.push(citation);
  }

  #addText(part: Part, text: string): void {
    if (part.kind === "reasoning" && !this.#showsThinking) return;
    const isWhole = part.call?.tool === "custom";
    if (!isWhole && this.#acquire(part)) this.#write(part, text);
    else part.waiting += text;
  }

  /** @returns whether the part has the wire now; else it stands in the queue */
  #acquire(part: Part): boolean {
    if (this.#owner === part) return true;
    if (this.#owner?.kind === "text") this.#release();
    // The queue is empty whenever nobody has the wire, and behind text.
    if (this.#owner === undefined) {
      this.#owner = part;
      return true;
    }
    if (!this.#queue.includes(part)) this.#queue.push(part);
    return false;
  }

  #release(): void {
    if (this.#owner?.isStarted === true) {
      this.#owner.isStarted = false;
      this.#sink.stop();
    }
    this.#owner = undefined;
  }

  #write(part: Part, text: string): void {
    if (part.kind === "text") this.#writeText(part, text);
    else if (part.kind === "reasoning") {
      if (!part.isStarted) this.#sink.startThinking();
      this.#sink.thinking(text);
    } else {
      this.#startCall(part);
      this.#sink.json(text);
    }
    part.isStarted = true;
    part.hasContent = true;
  }

  #writeText(part: Part, text: string): void {
    if (!part.isStarted) this.#sink.startText();
    for (const citation of part.citations.splice(0)) this.#sink.citation(citation);
    this.#sink.text(text);
  }

  /** State of a call travels in a thinking block before it, and in memory where the client takes no such blocks. */
  #startCall(part: Part): void {
    if (part.isStarted || part.call === undefined) return;
    if (part.states.length > 0 && this.#carriesThinking) {
      this.#sink.startThinking();
      this.#sink.signature(this.#context.states.seal(part.states.splice(0)));
      this.#sink.stop();
    }
    this.#sink.startCall(part.id, part.call.name);
    part.isStarted = true;
  }

  #close(number: number): void {
    const part = this.#parts.get(number);
    if (part === undefined) return;
    this.#parts.delete(number);
    this.#end(part);
  }

  #end(part: Part): void {
    part.isClosed = true;
    if (this.#owner === part || (this.#hasMore(part) && this.#acquire(part))) this.#finish(part);
    else if (part.kind === "reasoning" && !this.#queue.includes(part)) this.#hide(part);
  }

  /** Whether a part without the wire still has something to say. */
  #hasMore(part: Part): boolean {
    if (part.kind === "reasoning") return this.#carriesThinking && (part.states.length > 0 || part.waiting !== "");
    return part.kind === "call" || part.kind === "search" || part.waiting !== "";
  }

  #hide(part: Part): void {
    this.#hiddenStates.push(...part.states.splice(0));
  }

  /** Writes the end of a part that has the wire, then what waited for it. */
  #finish(part: Part): void {
    const { waiting } = part;
    part.waiting = "";
    if (part.call?.tool === "custom") this.#write(part, customArguments(waiting));
    else if (waiting !== "") this.#write(part, waiting);
    if (part.search !== undefined) this.#writeSearch(part.search);
    if (part.kind === "reasoning") this.#sign(part);
    if (part.kind === "call" && !part.hasContent) this.#write(part, "{}");
    if (part.kind === "call") this.#remember(part);
    this.#release();
    this.#drain();
  }

  #writeSearch(search: HostedBlock): void {
    for (const { id, query, result } of searchUses(search, this.#context.newId)) {
      this.#sink.startSearch(id);
      this.#sink.json(JSON.stringify({ query }));
      this.#sink.stop();
      this.#sink.startWhole(result);
      this.#sink.stop();
    }
  }

  /** What no block of this client could carry. */
  #remember({ id, states }: Part): void {
    const kept = [...this.#plainStates.splice(0), ...this.#hiddenStates.splice(0), ...states];
    this.#context.states.remember(id, kept);
  }

  /** Every thinking block is signed; without state the signature only says whose block it is. */
  #sign(part: Part): void {
    if (!part.isStarted && part.states.length === 0) return;
    if (!part.isStarted) this.#sink.startThinking();
    part.isStarted = true;
    this.#sink.signature(this.#context.states.seal(part.states.splice(0)));
  }

  #drain(): void {
    while (this.#owner === undefined || this.#owner.kind === "text") {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#release();
      this.#owner = next;
      if (next.isClosed) {
        this.#finish(next);
        return;
      }
      const { waiting } = next;
      if (waiting === "" || next.call?.tool === "custom") continue;
      next.waiting = "";
      this.#write(next, waiting);
    }
  }
}
