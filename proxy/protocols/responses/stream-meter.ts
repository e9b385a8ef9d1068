/**
 * Reads responses streams (`protocols/openai-responses.md` section 6).
 *
 * Only lifecycle events carry a `response` member, so deltas pass without being read. The terminal events
 * `response.completed` and `response.incomplete` complete the stream; `response.failed` and `error` are errors, which
 * `stream-error.ts` renders anew with the numbers going on. Nothing passes after a terminal event: a relay's `[DONE]`
 * breaks strict parsers. Events without an `event:` line or a `sequence_number` get theirs: strict clients insist on both.
 */

import type { TokenUsage } from "../../settle/usage.ts";
import { encodeEvent } from "../../sse/encoder.ts";
import { classifyErrorEvent } from "../classify-error.ts";
import { type EventReader, EventStreamMeter, type ReadEvent, type StreamState } from "../event-stream-meter.ts";
import { asText, isObject, type JsonObject, member } from "../json-value.ts";
import { type Produced, ProducedOutput } from "../produced.ts";
import { readEventText } from "./produced-text.ts";
import { readUsage } from "./read-usage.ts";

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

export class ResponsesStreamMeter extends EventStreamMeter {
  readonly #events: ResponseEvents;

  constructor(eventBytesMax: number) {
    const events = new ResponseEvents();
    super(events, eventBytesMax);
    this.#events = events;
  }

  /** The response as the last event showed it: the whole one when the stream is complete. */
  get lastResponse(): JsonObject | undefined {
    return this.#events.lastResponse;
  }

  /** Reads what was kept; for the one event that ends a failed stream. */
  progress(): ResponseProgress {
    this.produced();
    return this.#events;
  }
}

class ResponseEvents implements EventReader, ResponseProgress {
  readonly terminatorText = "[DONE]";
  readonly markers = [responseMarker, errorMarker];
  wantsEvery = true;
  usage: TokenUsage | undefined;
  response: JsonObject | undefined;
  lastResponse: JsonObject | undefined;
  rawUsage: unknown;
  readonly output: unknown[] = [];
  sequence = 0;
  readonly #produced = new ProducedOutput();
  #lacksNames: boolean | undefined;
  #lacksNumbers: boolean | undefined;

  read(event: ReadEvent, state: StreamState): Buffer | undefined {
    if (event.data === this.terminatorText) return undefined;
    if (!isObject(event.json)) return event.bytes;
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
      this.wantsEvery = this.#lacksNames || this.#lacksNumbers;
    }
    if (completing.has(type)) state.isComplete = true;
    return this.#complete(event, type);
  }

  /** The event with what its relay left out. */
  #complete(event: ReadEvent, type: string): Buffer {
    if (type === "") return event.bytes;
    if (this.#lacksNumbers === true && isObject(event.json) && event.json["sequence_number"] === undefined) {
      const number = this.sequence;
      this.sequence += 1;
      const members = (event.data ?? "").trim().slice(1).trimStart();
      return encodeEvent(type, `{"sequence_number":${number}${members === "}" ? "" : ","}${members}`);
    }
    return event.name === undefined ? encodeEvent(type, event.data ?? "") : event.bytes;
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
    if (typeof sequence === "number" && sequence >= this.sequence) this.sequence = sequence + 1;
    if (type === "response.output_item.done") this.output.push(member(event, "item"));
  }

  produced(): Produced {
    return this.#produced.take();
  }
}

/** Some relays send a chat-style error object without a type. */
function isBareError(json: JsonObject, type: string): boolean {
  return type === "" && isObject(json["error"]);
}
