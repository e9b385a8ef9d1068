/**
 * Filters the streams of all four formats: cuts the upstream's bytes into events, lets a block pass as the same memory
 * unless it holds one of the format's markers, and shows marked events to the format's reader. For a client of another
 * format nothing passes as bytes: it parses every event once and hands it on (`onEvent`).
 *
 * Invariants: what passes are whole events in order; a reader's input depends on the events alone and never on where
 * the network cut them; after an error, a violation or the terminator nothing more passes, while usage is still read.
 * Bytes behind the terminator, garbage or an error, change nothing: the client has been told that it has all. Each
 * format's `stream-filter.ts` creates it, `upstream/attempt.ts` calls it.
 */
import { isUtf8 } from "node:buffer";
import { classifyErrorEvent } from "#proxy/formats/classify-error";
import type { PassedEvent, StreamFilter, UpstreamError } from "#proxy/formats/format";
import { isObject, parseJson } from "#proxy/json/json-value";
import type { ChargedUnits } from "#proxy/settle/price";
import type { TokenUsage } from "#proxy/settle/usage";
import { type EventFields, readEventFields, splitEvents } from "#proxy/sse/event-fields";
import type { EventFraming } from "#proxy/sse/event-framing";
import type { Produced } from "./produced.ts";
import { RetainedEvents } from "./retained-events.ts";

/** An event that a reader looks at. */
export interface ReadEvent {
  readonly name: string | undefined;
  /** Text of the data lines; undefined for comments. */
  readonly data: string | undefined;
  /** Parsed data; undefined for comments and for data that is not JSON, such as `[DONE]`. */
  readonly json: unknown;
  readonly bytes: Buffer;
}

interface ParsedEvent {
  readonly fields: EventFields;
  readonly text: string | undefined;
  readonly json: unknown;
}

/** What a reader decides on the whole stream; the filter shows it to its caller. */
export interface StreamState {
  isComplete: boolean;
  error: UpstreamError | undefined;
  violation: string | undefined;
  hasContent: boolean;
}

/** What one format knows of its events. */
export interface EventReader {
  /** A block that holds none of them passes unread. Searched natively. */
  readonly markers: readonly Buffer[];
  /** Shown every event while true: the first events, and streams that need rewriting. */
  wantsEvery: boolean;
  readonly usage: TokenUsage | undefined;
  /** As of `StreamFilter`; nothing where absent. */
  readonly units?: ChargedUnits | undefined;
  /** Data that may stand in place of JSON. */
  readonly terminatorText: string | undefined;
  /** Edits a whole block without reading events; undefined leaves it to the usual way. */
  editBlock?(block: Buffer): Buffer | undefined;
  /** @returns bytes that pass: the event's own, others, or undefined to drop it */
  read(event: ReadEvent, state: StreamState, retained: RetainedEvents): Buffer | undefined;
  /** Called once when the body ended well. @returns bytes to add */
  end(state: StreamState, retained: RetainedEvents): Buffer | undefined;
  /** Reads an event that was kept, for text and whatever was not read when it passed. Absent: nothing is read later. */
  visit?(event: unknown): void;
  /** Output that `visit` found. */
  produced(): Produced;
}

const noBytes: readonly Buffer[] = [];
const blankLine = Buffer.from("\n\n");
const lineEnd = Buffer.from("\n");
const returned = Buffer.from("\r");
const returnedLineEnd = Buffer.from("\r\n");
const lineFeed = 10;
const carriageReturn = 13;

export class EventStreamFilter implements StreamFilter {
  readonly #framing: EventFraming;
  readonly #reader: EventReader;
  readonly #retained: RetainedEvents;
  readonly #onEvent: ((event: PassedEvent) => void) | undefined;
  readonly #state: StreamState = { isComplete: false, error: undefined, violation: undefined, hasContent: false };
  #events = 0;
  #endsWithReturn = false;
  #passesLineFeed = false;
  /** Behind the terminator came an event over the cap: nothing that follows is listened to. */
  #isDeaf = false;

  /** @param onEvent takes the events that may pass, in place of their bytes */
  constructor(reader: EventReader, framing: EventFraming, onEvent?: (event: PassedEvent) => void) {
    this.#onEvent = onEvent;
    this.#framing = framing;
    this.#reader = reader;
    this.#retained = new RetainedEvents(reader.visit === undefined ? undefined : (event) => reader.visit?.(event));
  }

  get events(): number {
    return this.#events;
  }

  get isComplete(): boolean {
    return this.#state.isComplete;
  }

  get error(): UpstreamError | undefined {
    return this.#state.error;
  }

  get violation(): string | undefined {
    return this.#state.violation;
  }

  get hasContent(): boolean {
    return this.#state.hasContent;
  }

  get usage(): TokenUsage | undefined {
    return this.#reader.usage;
  }

  get units(): ChargedUnits | undefined {
    return this.#reader.units;
  }

  get heldBytes(): number {
    return this.#framing.heldBytes;
  }

  get position(): string {
    return `event ${this.#retained.events}`;
  }

  produced(): Produced {
    this.#retained.read();
    return this.#reader.produced();
  }

  push(chunk: Buffer): readonly Buffer[] {
    if (this.#state.violation !== undefined || this.#isDeaf) return noBytes;
    if (!this.#endsWithReturn) return this.#pushWhole(chunk);
    if (chunk.length === 0) return noBytes;
    this.#endsWithReturn = false;
    if (chunk[0] !== lineFeed) return this.#pushWhole(chunk);
    // The second half of a line end belongs to the event before it, wherever the network cut it.
    const passesLineFeed = this.#passesLineFeed;
    const passed = chunk.length === 1 ? noBytes : this.#pushWhole(chunk.subarray(1));
    return passesLineFeed ? [lineEnd, ...passed] : passed;
  }

  #pushWhole(chunk: Buffer): readonly Buffer[] {
    const block = this.#framing.push(chunk);
    const passed = block === undefined ? noBytes : this.#passBlock(block);
    if (this.#framing.isOverflowing) {
      this.#isDeaf = true;
      this.#violate(this.#retained.events + 1, `expected at most ${this.#framing.eventBytesMax} bytes, got more`);
    }
    return passed;
  }

  #passBlock(block: Buffer): readonly Buffer[] {
    this.#events += 1;
    const passed = this.#readBlock(block);
    // Only where nothing waits behind it: what comes next would else be the end of another line.
    if (block[block.length - 1] === carriageReturn && this.#framing.heldBytes === 0) {
      this.#endsWithReturn = true;
      this.#passesLineFeed = passed.at(-1)?.at(-1) === carriageReturn;
    }
    return passed;
  }

  end(): readonly Buffer[] {
    if (this.#state.violation !== undefined || this.#isDeaf || this.#framing.isCut) return noBytes;
    const passed: Buffer[] = [];
    const rest = this.#framing.takeRest();
    // Half an event must not pass, and JSON that parses is not half.
    if (rest !== undefined && this.#isWhole(rest)) {
      const bytes = this.#readBlock(rest);
      passed.push(...bytes);
      const last = bytes.at(-1);
      if (last !== undefined) passed.push(endOf(last));
    }
    if (this.#state.error !== undefined || this.#state.violation !== undefined) return passed;
    const added = this.#reader.end(this.#state, this.#retained);
    if (added === undefined) return passed;
    if (this.#onEvent === undefined) passed.push(added);
    else this.#onEvent({ ...readEventFields(added), json: undefined });
    return passed;
  }

  get #isOpen(): boolean {
    return !this.#state.isComplete && this.#state.error === undefined;
  }

  /** @param number of the event, from 1 @param fault what was expected and what came, in words that hold no content */
  #violate(number: number, fault: string): void {
    if (!this.#state.isComplete) this.#state.violation = `event ${number}: ${fault}`;
  }

  /** Number of an event of the block that was added last. @param behind how many of its events follow */
  #numberOf(behind: number): number {
    return this.#retained.events - behind;
  }

  #isWhole(rest: Buffer): boolean {
    if (!isUtf8(rest)) return false;
    const fields = readEventFields(rest);
    // Half an error is one, also where its data has not begun.
    if (fields.name === "error") return true;
    const text = textOf(fields);
    return text !== undefined && (this.#isTerminator(text) || parseJson(text) !== undefined);
  }

  #readBlock(block: Buffer): readonly Buffer[] {
    if (!isUtf8(block)) {
      this.#violate(this.#retained.events + 1, `expected UTF-8, got ${block.length} bytes that are not`);
      return noBytes;
    }
    if (this.#onEvent !== undefined) {
      this.#handOn(block, this.#onEvent);
      return noBytes;
    }
    const reader = this.#reader;
    this.#retained.add(block);
    const isOpen = this.#isOpen;
    if (!reader.wantsEvery) {
      const edited = reader.editBlock?.(block) ?? block;
      if (!holdsMarker(edited, reader.markers)) return isOpen && edited.length > 0 ? [edited] : noBytes;
    }
    return this.#readEvents(block);
  }

  #handOn(block: Buffer, onEvent: (event: PassedEvent) => void): void {
    for (const bytes of splitEvents(block)) {
      const event = this.#parse(bytes);
      this.#retained.addParsed(event.json);
      const isOpen = this.#isOpen;
      const verdict = this.#judge(event, bytes, 0);
      if (this.#state.violation !== undefined) return;
      if (isOpen && verdict !== undefined) onEvent({ ...event.fields, json: event.json });
    }
  }

  /** Shows the events of a block one by one; neighbours that pass unchanged leave as one slice. */
  #readEvents(block: Buffer): readonly Buffer[] {
    const passed: Buffer[] = [];
    let runStart = 0;
    let offset = 0;
    const events = splitEvents(block);
    for (const [index, bytes] of events.entries()) {
      const isOpen = this.#isOpen;
      const verdict = this.#readEvent(bytes, events.length - index - 1);
      if (this.#state.violation !== undefined || !isOpen || verdict !== bytes) {
        if (runStart < offset) passed.push(block.subarray(runStart, offset));
        runStart = offset + bytes.length;
        if (this.#state.violation !== undefined) return passed;
        if (isOpen && verdict !== undefined && verdict.length > 0) passed.push(verdict);
      }
      offset += bytes.length;
    }
    if (runStart === 0 && offset === block.length) return [block];
    if (runStart < offset) passed.push(block.subarray(runStart, offset));
    return passed;
  }

  /** @param behind how many events of the block follow */
  #readEvent(bytes: Buffer, behind: number): Buffer | undefined {
    const reader = this.#reader;
    if (!reader.wantsEvery) {
      const edited = reader.editBlock?.(bytes);
      if (!holdsMarker(edited ?? bytes, reader.markers)) return edited ?? bytes;
    }
    return this.#judge(this.#parse(bytes), bytes, behind);
  }

  #parse(bytes: Buffer): ParsedEvent {
    const fields = readEventFields(bytes);
    const text = textOf(fields);
    return { fields, text, json: text === undefined || this.#isTerminator(text) ? undefined : parseJson(text) };
  }

  #isTerminator(text: string): boolean {
    return text === this.#reader.terminatorText;
  }

  /** @returns what may pass of the event */
  #judge({ fields, text, json }: ParsedEvent, bytes: Buffer, behind: number): Buffer | undefined {
    if (isError(fields.name, json)) return this.#readError(fields, json, bytes);
    if (text !== undefined && !this.#isTerminator(text) && json === undefined) {
      // A stray line such as a proxy's greeting is no field and no event; clients skip it as well.
      if (fields.data === undefined) return bytes;
      this.#violate(this.#numberOf(behind), `expected JSON, got ${text.length} characters that are not`);
      return undefined;
    }
    const state = this.#isOpen ? this.#state : { ...this.#state };
    // No client reads what stands outside of a field: a reply that ends with it would be one that says nothing.
    if (fields.data === undefined && isObject(json) && (json["error"] ?? undefined) === undefined) {
      this.#violate(this.#numberOf(behind), "expected an event with a data line, got an object without one");
      return undefined;
    }
    const passed = this.#reader.read({ name: fields.name, data: text, json, bytes }, state, this.#retained);
    if (state.violation !== undefined) this.#violate(this.#numberOf(behind), state.violation);
    return passed;
  }

  /** Its numbers count; nothing of it passes, and nothing behind it. */
  #readError(fields: EventFields, json: unknown, bytes: Buffer): undefined {
    const data = textOf(fields);
    if (isObject(json)) this.#reader.read({ name: fields.name, data, json, bytes }, { ...this.#state }, this.#retained);
    if (this.#isOpen) this.#state.error = classifyErrorEvent(json === undefined ? (data ?? "") : json);
  }
}

/** What its event lacks to be whole, in the spelling of its own line ends: some of Google's clients take no mixture. */
function endOf(lines: Buffer): Buffer {
  const last = lines.at(-1);
  if (last === carriageReturn) return returned;
  if (last !== lineFeed) return blankLine;
  return lines.at(-2) === carriageReturn ? returnedLineEnd : lineEnd;
}

/** In every format, whatever else such an event looks like: plain text, a message alone, nothing. */
function isError(name: string | undefined, json: unknown): boolean {
  return name === "error" || (isObject(json) && (json["type"] === "error" || json["object"] === "error"));
}

/** Google sends an error without a field name; every provider else in `data`. */
function textOf(fields: EventFields): string | undefined {
  return fields.data ?? fields.stray;
}

function holdsMarker(bytes: Buffer, markers: readonly Buffer[]): boolean {
  for (const marker of markers) if (bytes.includes(marker)) return true;
  return false;
}
