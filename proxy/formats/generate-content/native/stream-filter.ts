/**
 * Reads generateContent streams (`protocols/gemini.md` section 5) and writes them in the shape the client asked for.
 *
 * The upstream is always asked for server-sent events (`alt=sse`); an upstream that answers with a JSON array all the
 * same is read too. A client without `alt=sse` gets a JSON array: each element is written when its frame is complete,
 * the first one at once behind `[`. There is no terminator on the wire: a stream is complete when a finish reason of
 * every candidate that began (or a blocked prompt) was seen and the body ended well, so `isComplete` is known only at
 * `end`.
 *
 * Usage is cumulative and stands on every frame, so frames are kept and read when somebody asks, or at `end`.
 */

import { classifyErrorEvent } from "#proxy/formats/classify-error";
import type { PassedEvent, StreamFilter, UpstreamError } from "#proxy/formats/format";
import {
  type EventReader,
  EventStreamFilter,
  type ReadEvent,
  type StreamState,
} from "#proxy/formats/stream/event-stream-filter";
import { FinishedCandidates } from "#proxy/formats/stream/finished-candidates";
import { type Produced, ProducedOutput } from "#proxy/formats/stream/produced";
import type { RetainedEvents } from "#proxy/formats/stream/retained-events";
import { asList, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { TokenUsage } from "#proxy/settle/usage";
import { JsonArraySplitter } from "#proxy/sse/json-array-splitter";
import { blockReasonOf } from "./block-reason.ts";
import { hasParts, readProduced } from "./produced-text.ts";
import { mergeUsage, readUsage } from "./read-usage.ts";
import { SearchQueries } from "./searches.ts";
import { withoutComments } from "./without-comments.ts";

export type StreamShape = "sse" | "array";

// Begins with a letter that JSON framing has little of: a search for a quote stops at every member.
// Without a quote behind it: the name of an event has none.
const errorMarker = Buffer.from("rror");
const terminatorMarker = Buffer.from("[DONE]");
const lineBreaks = /[\r\n]\s*/g;

export class GenerateContentStreamFilter implements StreamFilter {
  readonly #reader: FrameReader;
  readonly #filter: EventStreamFilter;
  readonly #eventBytesMax: number;
  /** Undefined until the first byte that is no white space tells what the upstream sends. */
  #isArray: boolean | undefined;
  #splitter: JsonArraySplitter | undefined;
  #violation: string | undefined;

  constructor(shape: StreamShape, eventBytesMax: number, onEvent?: (event: PassedEvent) => void) {
    this.#reader = new FrameReader(shape);
    this.#filter = new EventStreamFilter(this.#reader, eventBytesMax, onEvent);
    this.#eventBytesMax = eventBytesMax;
  }

  get events(): number {
    return this.#filter.events;
  }
  get isComplete(): boolean {
    return this.#filter.isComplete;
  }
  get error(): UpstreamError | undefined {
    return this.#filter.error;
  }
  get violation(): string | undefined {
    return this.#violation ?? this.#filter.violation;
  }
  get usage(): TokenUsage | undefined {
    return this.#filter.usage;
  }
  get position(): string {
    return this.#filter.position;
  }
  get heldBytes(): number {
    return this.#filter.heldBytes + (this.#splitter?.heldBytes ?? 0);
  }
  get hasContent(): boolean {
    return this.#filter.hasContent;
  }
  /** Elements of a JSON array that have been written, for whoever has to close it. */
  get elementsWritten(): number {
    return this.#reader.elementsWritten;
  }

  /** Every candidate ended: only the end of the body is to come. Reads what was kept. */
  get hasFinished(): boolean {
    this.#filter.produced();
    return this.#reader.hasFinished;
  }

  produced(): Produced {
    return this.#filter.produced();
  }

  push(chunk: Buffer): readonly Buffer[] {
    this.#isArray ??= startsJson(chunk);
    if (this.#isArray !== true) return this.#filter.push(chunk);
    this.#splitter ??= new JsonArraySplitter(this.#eventBytesMax);
    const passed: Buffer[] = [];
    // White space outside of strings goes: an event's data is one line.
    for (const element of this.#splitter.push(chunk)) {
      passed.push(
        ...this.#filter.push(Buffer.from(`data: ${element.toString("utf8").replace(lineBreaks, "")}\r\n\r\n`)),
      );
    }
    if (this.#splitter.isOverflowing)
      this.#violation ??= `behind ${this.position}: expected at most ${this.#eventBytesMax} bytes, came more`;
    return passed;
  }

  end(): readonly Buffer[] {
    if (this.#splitter !== undefined && !this.#splitter.isClosed) return [];
    return this.#filter.end();
  }
}

/** @returns undefined when the chunk is nothing but white space or a byte order mark */
function startsJson(chunk: Buffer): boolean | undefined {
  for (const byte of chunk) {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte >= 0x80) continue;
    return byte === 0x5b || byte === 0x7b;
  }
  return undefined;
}

class FrameReader implements EventReader {
  readonly terminatorText = "[DONE]";
  readonly markers = [errorMarker, terminatorMarker];
  wantsEvery = true;
  elementsWritten = 0;
  readonly #shape: StreamShape;
  readonly #produced = new ProducedOutput();
  #retained: RetainedEvents | undefined;
  readonly #queries = new SearchQueries();
  #usage: JsonObject | undefined;
  readonly #candidates = new FinishedCandidates();

  constructor(shape: StreamShape) {
    this.#shape = shape;
  }

  get usage(): TokenUsage | undefined {
    this.#retained?.read();
    return readUsage(this.#usage, this.#queries.count);
  }

  get hasFinished(): boolean {
    return this.#candidates.areWhole;
  }

  editBlock(block: Buffer): Buffer | undefined {
    // An error's name is a field that would go: what may be one is read first.
    if (this.#shape !== "sse" || this.markers.some((marker) => block.includes(marker))) return undefined;
    return withoutComments(block);
  }

  read(event: ReadEvent, state: StreamState, retained: RetainedEvents): Buffer | undefined {
    this.#retained ??= retained;
    // Google's own SDK fails on a terminator that other formats have.
    if (event.data === this.terminatorText) return undefined;
    if (!isObject(event.json)) return undefined;
    const frame = event.json;
    if (frame["error"] !== undefined && frame["error"] !== null) {
      state.error ??= classifyErrorEvent(frame);
      return undefined;
    }
    if (!state.hasContent && hasParts(frame)) {
      state.hasContent = true;
      this.wantsEvery = this.#shape === "array";
    }
    if (this.#shape === "sse") return withoutComments(event.bytes) ?? event.bytes;
    this.elementsWritten += 1;
    return Buffer.from(`${this.elementsWritten === 1 ? "[" : ",\r\n"}${event.data ?? ""}`);
  }

  end(state: StreamState, retained: RetainedEvents): Buffer | undefined {
    retained.read();
    if (!this.#candidates.areWhole) return undefined;
    state.isComplete = true;
    return this.#shape === "array" ? Buffer.from("]") : undefined;
  }

  visit(event: unknown): void {
    readProduced(event, this.#produced);
    noteCandidates(event, this.#candidates);
    this.#queries.note(event);
    this.#usage = mergeUsage(this.#usage, member(event, "usageMetadata"));
  }

  produced(): Produced {
    return this.#produced.take();
  }
}

function noteCandidates(frame: unknown, candidates: FinishedCandidates): void {
  if (blockReasonOf(frame) !== undefined) candidates.noteEnd();
  for (const candidate of asList(member(frame, "candidates"))) {
    const reason = member(candidate, "finishReason");
    const isFinished = reason !== undefined && reason !== null && reason !== "FINISH_REASON_UNSPECIFIED";
    candidates.note(member(candidate, "index"), isFinished);
  }
}
