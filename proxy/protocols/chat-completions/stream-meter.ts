/**
 * Reads chat completion streams (`protocols/openai-chat.md` section 6): usage, the end, errors; and hides what only
 * the gateway asked for.
 *
 * A stream is complete when a finish reason and `[DONE]` were seen. Some vendors never send `[DONE]`: where usage comes
 * in the finish event itself (nobody who sends a separate usage chunk does that) and the body ended well, the stream is
 * complete too and gets its `[DONE]` from us. `[DONE]` without any finish reason is dropped: the answer was cut.
 */
import type { TokenUsage } from "../../settle/usage.ts";
import type { StreamMeter } from "../chat-format.ts";
import { classifyErrorEvent } from "../classify-error.ts";
import { type EventReader, EventStreamMeter, type ReadEvent, type StreamState } from "../event-stream-meter.ts";
import { asList, isObject, member } from "../json-value.ts";
import { ProducedText, type RetainedEvents } from "../retained-events.ts";
import { hasProducedText, readProducedText } from "./produced-text.ts";
import { usageOf } from "./read-usage.ts";
import { withoutNullUsage, withoutUsage } from "./strip-usage.ts";

const done = "[DONE]";
// Markers begin with a letter that JSON framing has little of: a search for a quote stops at every member. That they
// match other names as well costs a look at that event and nothing else.
const doneMarker = Buffer.from("DONE]");
const errorMarker = Buffer.from('rror"');
const anyUsageMarker = Buffer.from('usage"');
const usageMarker = Buffer.from('usage":{');
const spacedUsageMarker = Buffer.from('usage": {');
const finishMarker = Buffer.from('_reason":"');
const spacedFinishMarker = Buffer.from('_reason": "');
const spacedMember = Buffer.from('"choices": ');
const doneEvent = Buffer.from("data: [DONE]\n\n");

/** @param showsUsage whether the client asked for usage in its stream */
export function createStreamMeter(showsUsage: boolean, eventBytesMax: number): StreamMeter {
  return new EventStreamMeter(new ChunkReader(showsUsage), eventBytesMax);
}

class ChunkReader implements EventReader {
  readonly terminatorText = done;
  markers: readonly Buffer[];
  wantsEvery = true;
  usage: TokenUsage | undefined;
  readonly #showsUsage: boolean;
  readonly #text = new ProducedText();
  #hasFinish = false;
  #finishHadUsage = false;
  /** Usage was found among the events kept, where the last one counts, and not by the native search. */
  #isVisitedUsage = false;

  constructor(showsUsage: boolean) {
    this.#showsUsage = showsUsage;
    this.markers = this.#markersFor(usageMarker, finishMarker);
  }

  /** Usage that must be hidden is looked for in any spelling; usage that may pass only where it says something. */
  #markersFor(usage: Buffer, finish: Buffer): readonly Buffer[] {
    return [this.#showsUsage ? usage : anyUsageMarker, errorMarker, doneMarker, finish];
  }

  editBlock(block: Buffer): Buffer | undefined {
    return this.#showsUsage ? undefined : withoutNullUsage(block);
  }

  read(event: ReadEvent, state: StreamState, retained: RetainedEvents): Buffer | undefined {
    if (event.data === done && state.error !== undefined) return undefined;
    if (event.data === done) return this.#readDone(event, state, retained);
    if (!isObject(event.json)) return event.bytes;
    const chunk = event.json;
    if (event.bytes.includes(spacedMember)) this.markers = this.#markersFor(spacedUsageMarker, spacedFinishMarker);
    this.#readUsage(chunk);
    if (isErrorChunk(chunk, event.name)) {
      state.error = classifyErrorEvent(chunk);
      return undefined;
    }
    const hasFinish = finishes(chunk);
    if (hasFinish) {
      this.#hasFinish = true;
      this.#finishHadUsage = isObject(chunk["usage"]);
    }
    if (!state.hasContent && hasProducedText(chunk)) {
      state.hasContent = true;
      this.wantsEvery = false;
    }
    if (this.#showsUsage || !("usage" in chunk)) return event.bytes;
    if (asList(chunk["choices"]).length === 0 && isObject(chunk["usage"])) return undefined;
    return withoutNullUsage(event.bytes) ?? withoutUsage(event.data ?? "");
  }

  #readUsage(chunk: unknown): void {
    const usage = usageOf(chunk);
    if (usage === undefined) return;
    this.usage = usage;
    this.#isVisitedUsage = false;
  }

  #readDone(event: ReadEvent, state: StreamState, retained: RetainedEvents): Buffer | undefined {
    // Unusual spacing can hide a finish reason or usage from the native search; what was kept is read before judging.
    if (!this.#hasFinish || this.usage === undefined) retained.read();
    if (!this.#hasFinish) return undefined;
    state.isComplete = true;
    return event.bytes;
  }

  end(state: StreamState, retained: RetainedEvents): Buffer | undefined {
    if (state.isComplete) return undefined;
    if (!this.#hasFinish || this.usage === undefined) retained.read();
    if (!this.#hasFinish || !this.#finishHadUsage) return undefined;
    state.isComplete = true;
    return doneEvent;
  }

  visit(event: unknown): void {
    readProducedText(event, this.#text);
    if (finishes(event)) this.#hasFinish = true;
    const usage = usageOf(event);
    if (usage !== undefined && (this.usage === undefined || this.#isVisitedUsage)) {
      this.usage = usage;
      this.#isVisitedUsage = true;
    }
  }

  producedText(): string {
    return this.#text.toString();
  }
}

function finishes(chunk: unknown): boolean {
  return asList(member(chunk, "choices")).some((choice) => typeof member(choice, "finish_reason") === "string");
}

/** A truthy `error`, or the event name, as the SDKs decide (section 6, mid-stream errors). */
function isErrorChunk(chunk: Readonly<Record<string, unknown>>, name: string | undefined): boolean {
  const error = chunk["error"];
  return name === "error" || (error !== undefined && error !== null && error !== false && error !== "");
}
