/** Defines what every kind of item does while it is open. */
import type { JsonObject } from "#proxy/json/json-value";
import type { EventSink } from "./event-sink.ts";

/** One item that was added and is not done. */
export interface OpenItem {
  readonly type: string;
  /** @param type the event's type, known to be a delta or a part of an item */
  read(type: string, event: JsonObject, sink: EventSink): void;
  /** Another item began. Relays announce the end of the thoughts only after the text, which must not wait for it. */
  pause(sink: EventSink): void;
  /** @param item the finished item; undefined when the stream ended without it */
  finish(item: JsonObject | undefined, sink: EventSink): void;
}

/** Position of a part in its item; the first one where a relay says nothing. */
export function indexOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
