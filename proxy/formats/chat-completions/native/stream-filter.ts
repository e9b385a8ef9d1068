/**
 * Filters chat completion streams (docs/design/chat-completions.md 6): finds usage, the end and errors, and hides what
 * only the gateway asked for.
 *
 * A stream is complete when it had `[DONE]` and a finish reason of every candidate that began. Some vendors never send
 * `[DONE]`: where usage comes in the finish event itself (no vendor that sends a separate usage chunk does so) and the
 * body ended well, the stream is complete too and the filter adds the `[DONE]`. A `[DONE]` without all finish reasons
 * is dropped: the reply was cut.
 */

import { classifyErrorEvent, holdsError } from "#proxy/formats/classify-error";
import type { PassedEvent, StreamFilter } from "#proxy/formats/format";
import {
  type EventReader,
  EventStreamFilter,
  type ReadEvent,
  type StreamState,
} from "#proxy/formats/stream/event-stream-filter";
import { FinishedCandidates } from "#proxy/formats/stream/finished-candidates";
import { type Produced, ProducedOutput } from "#proxy/formats/stream/produced";
import type { RetainedEvents } from "#proxy/formats/stream/retained-events";
import { asList, isObject, member } from "#proxy/json/json-value";
import type { TokenUsage } from "#proxy/settle/usage";
import { EventSplitter } from "#proxy/sse/event-splitter";
import { hasProduced, readProduced } from "./produced-text.ts";
import { laterUsage, usageOf } from "./read-usage.ts";
import { withoutNullUsage, withoutUsage } from "./strip-usage.ts";

const done = "[DONE]";
// Markers begin with a letter that JSON framing has little of: a search for a quote stops at every member. That they
// match other names as well costs a look at that event and nothing else.
const doneMarker = Buffer.from("DONE]");
// Without a quote behind it: the name of an event has none.
const errorMarker = Buffer.from("rror");
const anyUsageMarker = Buffer.from('usage"');
const usageMarker = Buffer.from('usage":{');
const spacedUsageMarker = Buffer.from('usage": {');
const finishMarker = Buffer.from('_reason":"');
const spacedFinishMarker = Buffer.from('_reason": "');
const spacedMember = Buffer.from('"choices": ');
const indexMarker = Buffer.from('ndex":');
const space = 0x20;
const indexMarkers = [indexMarker];
const doneEvent = Buffer.from("data: [DONE]\n\n");

/**
 * @param showsUsage whether the client asked for usage in its stream
 * @param candidatesMax as of `FinishedCandidates`
 */
export function createStreamFilter(
  showsUsage: boolean,
  eventBytesMax: number,
  onEvent?: (event: PassedEvent) => void,
  candidatesMax?: number,
): StreamFilter {
  return new EventStreamFilter(new ChunkReader(showsUsage, candidatesMax), new EventSplitter(eventBytesMax), onEvent);
}

class ChunkReader implements EventReader {
  readonly terminatorText = done;
  wantsEvery = true;
  usage: TokenUsage | undefined;
  readonly #showsUsage: boolean;
  readonly #produced = new ProducedOutput();
  readonly #candidates: FinishedCandidates;
  /** What follows `"index":` in every event of a stream of one candidate: that of the first choice read. */
  #usualIndex = digit(0);
  #hasUsualIndex = false;
  #markers: readonly Buffer[];
  #holdsOtherIndex = false;
  #finishHadUsage = false;
  /** Usage was found among the events kept, where the last one counts, and not by the native search. */
  #isVisitedUsage = false;

  constructor(showsUsage: boolean, candidatesMax: number | undefined) {
    this.#showsUsage = showsUsage;
    this.#candidates = new FinishedCandidates(candidatesMax);
    this.#markers = this.#markersFor(usageMarker, finishMarker);
  }

  /** A block that may hold another candidate is read: where that one begins, its end is waited for. */
  get markers(): readonly Buffer[] {
    return this.#holdsOtherIndex ? indexMarkers : this.#markers;
  }

  /** Usage that must be hidden is looked for in any spelling; usage that may pass only where it says something. */
  #markersFor(usage: Buffer, finish: Buffer): readonly Buffer[] {
    return [this.#showsUsage ? usage : anyUsageMarker, errorMarker, doneMarker, finish];
  }

  editBlock(block: Buffer): Buffer | undefined {
    this.#holdsOtherIndex = holdsOtherIndex(block, this.#usualIndex);
    return this.#showsUsage ? undefined : withoutNullUsage(block);
  }

  read(event: ReadEvent, state: StreamState, retained: RetainedEvents): Buffer | undefined {
    if (event.data === done && state.error !== undefined) return undefined;
    if (event.data === done) return this.#readDone(event, state, retained);
    if (!isObject(event.json)) return event.bytes;
    const chunk = event.json;
    if (event.bytes.includes(spacedMember)) this.#markers = this.#markersFor(spacedUsageMarker, spacedFinishMarker);
    this.#readUsage(chunk);
    if (event.name === "error" || holdsError(chunk)) {
      state.error = classifyErrorEvent(chunk);
      return undefined;
    }
    if (this.#readChoices(chunk)) this.#finishHadUsage = isObject(chunk["usage"]);
    if (!state.hasContent && hasProduced(chunk)) {
      state.hasContent = true;
      this.wantsEvery = false;
    }
    if (this.#showsUsage || !("usage" in chunk)) return event.bytes;
    if (asList(chunk["choices"]).length === 0 && isObject(chunk["usage"])) return undefined;
    return withoutNullUsage(event.bytes) ?? withoutUsage(event.data ?? "");
  }

  /** @returns whether a choice of the chunk finishes */
  #readChoices(chunk: unknown): boolean {
    let hasFinish = false;
    for (const choice of asList(member(chunk, "choices"))) {
      const index = member(choice, "index");
      if (!this.#hasUsualIndex && typeof index === "number") this.#usualIndex = digit(index);
      this.#hasUsualIndex = true;
      const isFinished = typeof member(choice, "finish_reason") === "string";
      this.#candidates.note(index, isFinished);
      hasFinish ||= isFinished;
    }
    return hasFinish;
  }

  #readUsage(chunk: unknown): void {
    const usage = usageOf(chunk);
    if (usage === undefined) return;
    this.usage = laterUsage(this.usage, usage);
    this.#isVisitedUsage = false;
  }

  #readDone(event: ReadEvent, state: StreamState, retained: RetainedEvents): Buffer | undefined {
    // Unusual spacing can hide a finish reason or usage from the native search; what was kept is read before judging.
    if (!this.#candidates.areWhole || this.usage === undefined) retained.read();
    if (!this.#candidates.areWhole) return undefined;
    state.isComplete = true;
    return event.bytes;
  }

  end(state: StreamState, retained: RetainedEvents): Buffer | undefined {
    if (state.isComplete) return undefined;
    if (!this.#candidates.areWhole || this.usage === undefined) retained.read();
    if (!this.#candidates.areWhole || !this.#finishHadUsage) return undefined;
    state.isComplete = true;
    return doneEvent;
  }

  visit(event: unknown): void {
    readProduced(event, this.#produced);
    this.#readChoices(event);
    const usage = usageOf(event);
    if (usage !== undefined && (this.usage === undefined || this.#isVisitedUsage)) {
      this.usage = laterUsage(this.usage, usage);
      this.#isVisitedUsage = true;
    }
  }

  produced(): Produced {
    return this.#produced.summary();
  }
}

/** The byte that spells an index; where that takes more than a digit, one that no number begins with: all is read. */
function digit(index: number): number {
  return 0x30 + index;
}

/**
 * Whether some `"index":` is not the usual one. Those of tool calls look the same: such events are read for nothing.
 *
 * @param usual byte of its only digit
 */
function holdsOtherIndex(block: Buffer, usual: number): boolean {
  let found = block.indexOf(indexMarker);
  while (found >= 0) {
    let at = found + indexMarker.length;
    while (block[at] === space) at += 1;
    if (block[at] !== usual || isDigit(block[at + 1])) return true;
    found = block.indexOf(indexMarker, at);
  }
  return false;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
