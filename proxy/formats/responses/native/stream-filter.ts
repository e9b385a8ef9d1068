/**
 * Filters responses streams (docs/design/responses.md 6).
 *
 * Only lifecycle events carry a `response` member, so deltas pass without being read. The terminal events
 * `response.completed` and `response.incomplete` complete the stream; `response.failed` and `error` are errors, which
 * `stream-error.ts` writes anew and numbers on. Nothing passes after a terminal event: a relay's `[DONE]` breaks strict
 * parsers. Events without an `event:` line or a `sequence_number` get theirs: strict clients insist on both.
 */

import { classifyErrorEvent } from "#proxy/formats/classify-error";
import type { PassedEvent } from "#proxy/formats/format";
import {
  type EventReader,
  EventStreamFilter,
  type ReadEvent,
  type StreamState,
} from "#proxy/formats/stream/event-stream-filter";
import { type Produced, ProducedOutput } from "#proxy/formats/stream/produced";
import { asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { TokenUsage } from "#proxy/settle/usage";
import { encodeEvent } from "#proxy/sse/encoder";
import { EventSplitter } from "#proxy/sse/event-splitter";
import { readEventText } from "./produced-text.ts";
import { readUsage } from "./read-usage.ts";
import { onOneLine, renumberEvent } from "./renumber-event.ts";

// Markers begin with a letter that JSON framing has little of: a search for a quote stops at every member.
const responseMarker = Buffer.from('ponse"');
// Without a quote behind it: the name of an event has none.
const errorMarker = Buffer.from("rror");
const completing = new Set(["response.completed", "response.incomplete", "response.done"]);
const failing = new Set(["error", "response.failed", "response.cancelled"]);

/** What an error that ends the stream has to go on from. */
export interface ResponseProgress {
  /** The response as `response.created` showed it. */
  readonly response: JsonObject | undefined;
  /** Items finished so far. */
  readonly output: readonly unknown[];
  /** The next sequence number. */
  readonly sequence: number;
  readonly rawUsage: unknown;
}

export class ResponsesStreamFilter extends EventStreamFilter {
  readonly #events: ResponseEvents;

  constructor(eventBytesMax: number, onEvent?: (event: PassedEvent) => void) {
    const events = new ResponseEvents();
    super(events, new EventSplitter(eventBytesMax), onEvent);
    this.#events = events;
  }

  /** An event of the upstream has passed. */
  get hasStarted(): boolean {
    return this.#events.hasStarted;
  }

  /** An event with the next number (`sign-of-life.ts`). @param opened the response where the upstream showed none */
  signOfLife(opened: () => JsonObject): Buffer {
    this.produced();
    return this.#events.signOfLife(opened);
  }

  /** The response as the last event showed it: the whole one when the stream is complete. */
  get lastResponse(): JsonObject | undefined {
    return this.#events.lastResponse;
  }

  /** Reads what was kept; for the one event that ends a failed stream. */
  progress(): ResponseProgress {
    this.produced();
    const { response, output, rawUsage, nextNumber: sequence } = this.#events;
    return { response, output, rawUsage, sequence };
  }
}

class ResponseEvents implements EventReader {
  readonly terminatorText = "[DONE]";
  readonly markers = [responseMarker, errorMarker];
  wantsEvery = true;
  usage: TokenUsage | undefined;
  response: JsonObject | undefined;
  lastResponse: JsonObject | undefined;
  rawUsage: unknown;
  readonly output: unknown[] = [];
  hasStarted = false;
  /** The next number as the upstream counts. */
  #sequence = 0;
  #hasItems = false;
  /** Events that the client had from us: added to the upstream's numbers. */
  #added = 0;
  readonly #produced = new ProducedOutput();
  #lacksNames: boolean | undefined;
  #lacksNumbers: boolean | undefined;

  /** The next number as the client counts. */
  get nextNumber(): number {
    return this.#sequence + this.#added;
  }

  signOfLife(opened: () => JsonObject): Buffer {
    const sequence_number = this.nextNumber;
    this.#added += 1;
    // From here on each number of the upstream is another one for the client.
    this.wantsEvery = true;
    if (this.#hasItems) return encodeEvent("keepalive", JSON.stringify({ type: "keepalive", sequence_number }));
    const type = "response.in_progress";
    const response = { ...(this.response ?? opened()), status: "in_progress" };
    return encodeEvent(type, JSON.stringify({ type, sequence_number, response }));
  }

  read(event: ReadEvent, state: StreamState): Buffer | undefined {
    if (event.data === this.terminatorText) return undefined;
    if (!isObject(event.json)) return event.bytes;
    this.hasStarted = true;
    this.#lacksNames ??= event.name === undefined;
    this.#lacksNumbers ??= typeof event.json["sequence_number"] !== "number";
    const type = asText(event.json["type"]) || (event.name ?? "");
    const response = event.json["response"];
    this.#readResponse(response);
    if (failing.has(type) || member(response, "status") === "failed" || isBareError(event.json, type)) {
      state.error ??= classifyErrorEvent(event.json);
      return undefined;
    }
    if (!state.hasContent && type.endsWith(".delta")) {
      state.hasContent = true;
      this.wantsEvery = this.#lacksNames || this.#lacksNumbers || this.#added > 0;
    }
    // An end tells the response that it ends; a marker would not find one that does not.
    if (completing.has(type) && isObject(response)) state.isComplete = true;
    return this.#complete(event, type);
  }

  /** The event with what its relay left out, and with a number that goes on from ours. */
  #complete(event: ReadEvent, type: string): Buffer {
    if (type === "" || !isObject(event.json)) return event.bytes;
    const data = onOneLine(event.data ?? "");
    if (this.#lacksNumbers === true && event.json["sequence_number"] === undefined) {
      const number = this.#sequence + this.#added;
      this.#sequence += 1;
      const members = data.trim().slice(1).trimStart();
      const numbered = `{"sequence_number":${number}${members === "}" ? "" : ","}${members}`;
      return encodeEvent(type, numbered);
    }
    if (this.#added > 0) return renumberEvent(type, data, this.#added);
    return event.name === undefined ? encodeEvent(type, data) : event.bytes;
  }

  #readResponse(response: unknown): void {
    if (!isObject(response)) return;
    this.response ??= response;
    this.lastResponse = response;
    const usage = readUsage(response);
    if (usage === undefined) return;
    this.usage = usage;
    this.rawUsage = response["usage"];
  }

  end(): undefined {
    return undefined;
  }

  visit(event: unknown): void {
    readEventText(event, this.#produced);
    const type = asText(member(event, "type"));
    if (failing.has(type)) return;
    const sequence = member(event, "sequence_number");
    if (typeof sequence === "number" && sequence >= this.#sequence) this.#sequence = sequence + 1;
    if (type === "response.output_item.added") this.#hasItems = true;
    if (type === "response.output_item.done") this.output.push(member(event, "item"));
  }

  produced(): Produced {
    return this.#produced.summary();
  }
}

/** Some relays send a chat-style error object without a type. */
function isBareError(json: JsonObject, type: string): boolean {
  return type === "" && isObject(json["error"]);
}
