/**
 * Filters generateContent streams (docs/design/generate-content.md 5) and writes them in the shape the client asked
 * for.
 *
 * The gateway always asks the upstream for server-sent events (`alt=sse`); it also reads the JSON array of an upstream
 * that sends one all the same. A client without `alt=sse` gets a JSON array: each element is written when its frame is
 * complete, the first one at once behind `[`. There is no terminator on the wire: a stream is complete when it had a
 * finish reason of every candidate that began (or a blocked prompt) and the body ended well, so `isComplete` is known
 * only at `end`.
 *
 * Usage is cumulative and on every frame, so the filter keeps frames and reads them when usage is asked for, or at
 * `end`.
 */

import { classifyErrorEvent } from "#proxy/formats/classify-error";
import type { PassedEvent } from "#proxy/formats/format";
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
import { JsonArrayFraming } from "#proxy/sse/json-array-framing";
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

export class GenerateContentStreamFilter extends EventStreamFilter {
  readonly #reader: FrameReader;

  constructor(shape: StreamShape, eventBytesMax: number, onEvent?: (event: PassedEvent) => void) {
    const reader = new FrameReader(shape);
    super(reader, new JsonArrayFraming(eventBytesMax), onEvent);
    this.#reader = reader;
  }

  /** Elements of a JSON array that have been written, for the code that closes it. */
  get elementsWritten(): number {
    return this.#reader.elementsWritten;
  }

  /** Every candidate ended: only the end of the body is to come. Reads what was kept. */
  get hasFinished(): boolean {
    this.produced();
    return this.#reader.hasFinished;
  }
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
    return this.#produced.summary();
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
