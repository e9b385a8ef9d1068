/** Filters the events of an upstream that sends sound in them, for a client that reads events or bytes. */
import type { StreamFilter, UpstreamError } from "#proxy/formats/format";
import { EventStreamFilter } from "#proxy/formats/stream/event-stream-filter";
import { nothingProduced, type Produced } from "#proxy/formats/stream/produced";
import { asText, member } from "#proxy/json/json-value";
import type { TokenUsage } from "#proxy/settle/usage";
import { EventSplitter } from "#proxy/sse/event-splitter";
import { SoundEventReader } from "./sound-event-reader.ts";
import type { SoundMeter, SoundStream } from "./sound-stream.ts";

export interface EventReading {
  readonly eventBytesMax: number;
  /** The client reads bytes. */
  readonly isUnwrapped: boolean;
  /** The length of the sound is asked for: every event is read. */
  readonly isMeasured: boolean;
}

export class SoundEventFilter implements SoundStream {
  readonly #events: StreamFilter;
  readonly #meter: SoundMeter;
  readonly #isUnwrapped: boolean;
  readonly #isMeasured: boolean;
  #unwrapped: Buffer[] = [];

  constructor(meter: SoundMeter, { eventBytesMax, isUnwrapped, isMeasured }: EventReading) {
    this.#meter = meter;
    this.#isUnwrapped = isUnwrapped;
    this.#isMeasured = isMeasured;
    const onEach = isMeasured && !isUnwrapped ? (event: object): void => meter.add(soundOf(event)) : undefined;
    const onEvent = isUnwrapped ? ({ json }: { json: unknown }): void => this.#unwrap(json) : undefined;
    this.#events = new EventStreamFilter(new SoundEventReader(onEach), new EventSplitter(eventBytesMax), onEvent);
  }

  get events(): number {
    return this.#events.events;
  }

  get position(): string {
    return this.#events.position;
  }

  get isComplete(): boolean {
    return this.#events.isComplete;
  }

  get error(): UpstreamError | undefined {
    return this.#events.error;
  }

  get violation(): string | undefined {
    return this.#events.violation;
  }

  get usage(): TokenUsage | undefined {
    return this.#events.usage;
  }

  get heldBytes(): number {
    return this.#events.heldBytes + this.#meter.heldBytes;
  }

  get hasContent(): boolean {
    return this.#events.hasContent;
  }

  get soundBytes(): number {
    return this.#meter.bytes;
  }

  measured(): number | undefined {
    return this.#meter.measured();
  }

  produced(): Produced {
    return nothingProduced;
  }

  push(chunk: Buffer): readonly Buffer[] {
    return this.#passed(this.#events.push(chunk));
  }

  end(): readonly Buffer[] {
    return this.#passed(this.#events.end());
  }

  #passed(events: readonly Buffer[]): readonly Buffer[] {
    if (!this.#isUnwrapped) {
      if (!this.#isMeasured) for (const bytes of events) this.#meter.addUnseen(soundBytesIn(bytes));
      return events;
    }
    const sound = this.#unwrapped;
    this.#unwrapped = [];
    return sound;
  }

  #unwrap(event: unknown): void {
    const sound = soundOf(event);
    if (sound.length === 0) return;
    this.#meter.add(sound);
    this.#unwrapped.push(sound);
  }
}

/** Base64 has four characters for three bytes; the words around it are few. */
function soundBytesIn(events: Buffer): number {
  return Math.floor((events.length * 3) / 4);
}

function soundOf(event: unknown): Buffer {
  return Buffer.from(asText(member(event, "audio")), "base64");
}
