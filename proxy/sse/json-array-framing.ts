/**
 * Frames Google's streams: server-sent events, or a JSON array that arrives in pieces
 * (docs/design/generate-content.md 5.2). The first byte that is not white space decides which.
 */
import type { EventFraming } from "./event-framing.ts";
import { EventSplitter } from "./event-splitter.ts";
import { JsonArraySplitter } from "./json-array-splitter.ts";

const lineBreaks = /[\r\n]\s*/g;

export class JsonArrayFraming implements EventFraming {
  readonly eventBytesMax: number;
  readonly #events: EventSplitter;
  readonly #array: JsonArraySplitter;
  /** Undefined until it is known. */
  #isArray: boolean | undefined;

  constructor(eventBytesMax: number) {
    this.eventBytesMax = eventBytesMax;
    this.#events = new EventSplitter(eventBytesMax);
    this.#array = new JsonArraySplitter(eventBytesMax);
  }

  get heldBytes(): number {
    return this.#events.heldBytes + this.#array.heldBytes;
  }

  get isOverflowing(): boolean {
    return this.#events.isOverflowing || this.#array.isOverflowing;
  }

  get isCut(): boolean {
    return this.#isArray === true && !this.#array.isClosed;
  }

  push(chunk: Buffer): Buffer | undefined {
    this.#isArray ??= startsJson(chunk);
    if (this.#isArray !== true) return this.#events.push(chunk);
    const elements = this.#array.push(chunk);
    return elements.length === 0 ? undefined : Buffer.concat(elements.map(toEvent));
  }

  takeRest(): Buffer | undefined {
    return this.#events.takeRest();
  }
}

/** White space outside of strings goes: an event's data is one line. */
function toEvent(element: Buffer): Buffer {
  return Buffer.from(`data: ${element.toString("utf8").replace(lineBreaks, "")}\r\n\r\n`);
}

/** @returns undefined when the chunk is nothing but white space or a byte order mark */
function startsJson(chunk: Buffer): boolean | undefined {
  for (const byte of chunk) {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte >= 0x80) continue;
    return byte === 0x5b || byte === 0x7b;
  }
  return undefined;
}
