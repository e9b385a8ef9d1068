/**
 * Filters an upstream's stream as its own format's filter does, and lets out the client's format instead of its bytes.
 *
 * The inner filter handles usage, errors, the terminator and incomplete events; only whole events that it lets pass are
 * translated, so that a cut never lets half an event out. The stream is complete when both are true: the upstream sent
 * its terminator and the client has got the end.
 */
import type { GatewayError } from "#proxy/errors";
import type { ErrorContext, PassedEvent, StreamFilter, UpstreamError } from "#proxy/formats/format";
import type { Produced } from "#proxy/formats/stream/produced";
import type { StreamReader, StreamWriter } from "#proxy/formats/translator";
import { InvalidReply, type OpenedBlock, type ReplyEvent } from "#proxy/neutral/reply";
import { charactersOfState } from "#proxy/neutral/state/call-states";
import { inputTokens, outputTokens, type TokenUsage } from "#proxy/settle/usage";
import type { ReplyAdapter } from "./adapt-reply.ts";

const nothing: readonly Buffer[] = [];
/** What holding an event costs, beside its text. */
const eventCharacters = 64;

export interface StreamTranslatorParts {
  /** Makes the filter of the upstream's format, which hands on its events. */
  readonly createInner: (onEvent: (event: PassedEvent) => void) => StreamFilter;
  readonly reader: StreamReader;
  readonly adapter: ReplyAdapter;
  readonly writer: StreamWriter;
  /** Some writers hold the whole reply: it ends with an error beyond so many characters, counted about. */
  readonly charactersMax: number;
  /** The client is told usage in any case: without the upstream's numbers the end waits for `writeUsage`. */
  readonly waitsForUsage: boolean;
}

export class StreamTranslator implements StreamFilter {
  readonly #inner: StreamFilter;
  readonly #reader: StreamReader;
  readonly #adapter: ReplyAdapter;
  readonly #writer: StreamWriter;
  readonly #charactersMax: number;
  readonly #waitsForUsage: boolean;
  #characters = 0;
  readonly #gathers: boolean;
  #gathered = 0;
  #isEnded = false;
  /** What the inner filter let pass of the bytes pushed last. */
  #passed: PassedEvent[] = [];
  /** Something of the reply went out. */
  #hasWritten = false;
  /** All is there but numbers for the end. */
  #awaitsUsage = false;
  #violation: string | undefined;
  /** Events of the upstream that were read. */
  #events = 0;

  constructor(parts: StreamTranslatorParts) {
    this.#inner = parts.createInner((event) => this.#passed.push(event));
    this.#reader = parts.reader;
    this.#adapter = parts.adapter;
    this.#writer = parts.writer;
    this.#charactersMax = parts.charactersMax;
    this.#waitsForUsage = parts.waitsForUsage;
    this.#gathers = parts.writer.holdsWholeReply === true || parts.adapter.gathers;
  }

  get events(): number {
    return this.#inner.events;
  }

  get isComplete(): boolean {
    return this.#isEnded && (this.#inner.isComplete || this.#adapter.isCut);
  }

  /** A stop sequence was found: the client has its end, and the upstream may be left. */
  get isCut(): boolean {
    return this.#adapter.isCut;
  }

  /** What comes behind the end, or behind a stop sequence, changes nothing: the client has been told that it has all. */
  get error(): UpstreamError | undefined {
    return this.isComplete ? undefined : this.#inner.error;
  }

  get violation(): string | undefined {
    return this.isComplete ? undefined : (this.#violation ?? this.#inner.violation);
  }

  get position(): string {
    return `event ${this.#events}`;
  }

  get usage(): TokenUsage | undefined {
    return this.#inner.usage;
  }

  /** With what was said so far, where the client's format repeats it at the end or it must be whole to go out. */
  get heldBytes(): number {
    return this.#inner.heldBytes + this.#gathered;
  }

  get hasContent(): boolean {
    return this.#inner.hasContent;
  }

  produced(): Produced {
    return this.#inner.produced();
  }

  push(chunk: Buffer): readonly Buffer[] {
    this.#inner.push(chunk);
    return this.#translate(false);
  }

  end(): readonly Buffer[] {
    this.#inner.end();
    return this.#translate(this.#inner.isComplete && this.#inner.error === undefined);
  }

  /**
   * The sign of life of a writer that numbers its events; undefined where the writer has none of its own, and before the
   * response.
   */
  signOfLife(): Buffer | undefined {
    const text = this.#writer.signOfLife?.() ?? "";
    return text === "" ? undefined : Buffer.from(text);
  }

  /** The upstream said its end and not, or not all, what it used: `writeUsage` must follow. */
  get awaitsUsage(): boolean {
    return this.#awaitsUsage;
  }

  /**
   * The end that waited for it.
   * @param usage undefined where what the upstream told stands
   */
  writeUsage(usage: TokenUsage | undefined): readonly Buffer[] {
    if (!this.#awaitsUsage) return nothing;
    this.#awaitsUsage = false;
    let text = usage === undefined ? "" : this.#writer.write({ type: "usage", usage });
    try {
      text += this.#writeEvent({ type: "end" });
    } catch (error) {
      if (!(error instanceof InvalidReply)) throw error;
      this.#violation = error.message;
    }
    return text === "" ? nothing : [Buffer.from(text)];
  }

  /** Last bytes of a stream that failed; no sign of success. */
  fail(error: GatewayError, context: ErrorContext): Buffer {
    return Buffer.from(this.#writer.fail(error, context));
  }

  #translate(isOver: boolean): readonly Buffer[] {
    const passed = this.#passed;
    this.#passed = [];
    if (this.#violation !== undefined || this.#adapter.isCut || this.#isEnded || this.#awaitsUsage) return nothing;
    let text = "";
    try {
      for (const { name, data, json } of passed) {
        // Comments and pings of the upstream are for us: how long its client is silent to, the gateway watches itself.
        this.#events += 1;
        if (data === undefined) continue;
        for (const event of this.#reader.read({ name, data, json })) text += this.#write(event);
        this.#hasWritten ||= text !== "";
      }
      if (isOver && !this.#isEnded) for (const event of this.#reader.end()) text += this.#write(event);
    } catch (error) {
      if (!(error instanceof InvalidReply)) throw error;
      this.#violation = `${this.position}: ${error.message}`;
      // Where the client has nothing yet another target may serve the call; else it has all that was numbered and begun.
      if (!this.#hasWritten) return nothing;
    }
    return text === "" ? nothing : [Buffer.from(text)];
  }

  #write(event: ReplyEvent): string {
    if (this.#isEnded || this.#awaitsUsage) return "";
    if (event.type === "end" && this.#lacksUsage) {
      this.#awaitsUsage = true;
      return "";
    }
    return this.#writeEvent(event);
  }

  /** Nothing was told, or nothing of one side. */
  get #lacksUsage(): boolean {
    if (!this.#waitsForUsage || this.#adapter.isCut || !this.#inner.isComplete) return false;
    const { usage } = this.#inner;
    return usage === undefined || inputTokens(usage) === 0 || outputTokens(usage) === 0;
  }

  #writeEvent(event: ReplyEvent): string {
    const characters = charactersOf(event);
    this.#characters += characters;
    if (this.#gathers) this.#gathered += Math.max(0, characters - eventCharacters);
    if (this.#characters > this.#charactersMax) throw new InvalidReply("the reply is longer than its limit");
    let text = "";
    for (const adapted of this.#adapter.adapt(event)) {
      if (adapted.type === "end") this.#endWell();
      text += this.#writer.write(adapted);
    }
    return text;
  }

  /** Reader and filter must agree that it is over: what one of them takes for the end may be garbage to the other. */
  #endWell(): void {
    if (!this.#inner.isComplete && !this.#adapter.isCut) {
      throw new InvalidReply("the reply ended before it was complete");
    }
    this.#isEnded = true;
  }
}

function charactersOf(event: ReplyEvent): number {
  switch (event.type) {
    case "delta":
      return eventCharacters + event.text.length;
    case "open":
      return eventCharacters + charactersOfBlock(event.block);
    case "state":
      return eventCharacters + charactersOfState(event.state);
    default:
      return eventCharacters;
  }
}

function charactersOfBlock(block: OpenedBlock): number {
  if (block.kind === "media") return block.base64?.length ?? 0;
  if (block.kind !== "hosted") return 0;
  return (block.states ?? []).reduce((sum, state) => sum + charactersOfState(state), 0);
}
