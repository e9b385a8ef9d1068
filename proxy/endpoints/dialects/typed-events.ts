/**
 * Reads the streams of OpenAI-style endpoints that are no chat: events with a `type`, the last of which says that the reply
 * is whole and what it used. All others pass unread.
 */
import type { PassedEvent, StreamFilter } from "#proxy/formats/format";
import {
  type EventReader,
  EventStreamFilter,
  type ReadEvent,
  type StreamState,
} from "#proxy/formats/stream/event-stream-filter";
import { nothingProduced, type Produced } from "#proxy/formats/stream/produced";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import type { ChargedUnits } from "#proxy/settle/price";
import type { TokenUsage } from "#proxy/settle/usage";
import { EventSplitter } from "#proxy/sse/event-splitter";

export interface TypedEvents {
  /** Type of the event behind which nothing comes. */
  readonly lastType: string;
  /** Usage that the last event reports; undefined where it reports none. */
  readUsage(last: JsonObject): TokenUsage | undefined;
  /** What the last event says is charged by the piece; nothing where absent. */
  readonly readUnits?: ((last: JsonObject) => ChargedUnits | undefined) | undefined;
  /** Shown every event before it passes. Absent: only the last one is parsed. */
  readonly onEach?: ((event: JsonObject) => void) | undefined;
  /** Output for an estimate; nothing where absent. */
  readonly produced?: (() => Produced) | undefined;
}

/** @param onEvent as of `UpstreamFormat.createStreamFilter` */
export function typedEventFilter(
  events: TypedEvents,
  eventBytesMax: number,
  onEvent?: (event: PassedEvent) => void,
): StreamFilter {
  return new TypedEventFilter(new TypedEventReader(events), new EventSplitter(eventBytesMax), onEvent);
}

class TypedEventFilter extends EventStreamFilter {
  readonly #reader: TypedEventReader;

  constructor(reader: TypedEventReader, framing: EventSplitter, onEvent?: (event: PassedEvent) => void) {
    super(reader, framing, onEvent);
    this.#reader = reader;
  }

  get units(): ChargedUnits | undefined {
    return this.#reader.units;
  }
}

// Without a quote before it: the name of an event has none.
const errorMarker = Buffer.from("rror");

class TypedEventReader implements EventReader {
  readonly terminatorText = "[DONE]";
  readonly markers: readonly Buffer[];
  readonly wantsEvery: boolean;
  readonly #events: TypedEvents;
  #usage: TokenUsage | undefined;
  #units: ChargedUnits | undefined;

  constructor(events: TypedEvents) {
    this.#events = events;
    this.markers = [Buffer.from(events.lastType), errorMarker];
    this.wantsEvery = events.onEach !== undefined;
  }

  get usage(): TokenUsage | undefined {
    return this.#usage;
  }

  get units(): ChargedUnits | undefined {
    return this.#units;
  }

  read({ json, data, bytes }: ReadEvent, state: StreamState): Buffer | undefined {
    if (data === this.terminatorText) return undefined;
    if (!isObject(json)) return bytes;
    this.#events.onEach?.(json);
    state.hasContent = true;
    if (json["type"] !== this.#events.lastType) return bytes;
    this.#usage = this.#events.readUsage(json);
    this.#units = this.#events.readUnits?.(json);
    state.isComplete = true;
    return bytes;
  }

  /** Without its last event no reply is whole. */
  end(): undefined {}

  produced(): Produced {
    return this.#events.produced?.() ?? nothingProduced;
  }
}
