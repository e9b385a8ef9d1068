/**
 * Filters messages streams (docs/design/messages.md 7).
 *
 * `message_stop` completes a stream. A second `message_start` with the same id is dropped (the SDK throws on it); one
 * with another id means that two generations were spliced together, and merging would corrupt signed thinking, so
 * nothing further passes. Events without an `event:` line get theirs: the SDK ignores frames that lack it.
 */

import { classifyErrorEvent } from "#proxy/formats/classify-error";
import type { PassedEvent, StreamFilter } from "#proxy/formats/format";
import {
  type EventReader,
  EventStreamFilter,
  type ReadEvent,
  type StreamState,
} from "#proxy/formats/stream/event-stream-filter";
import { type Produced, ProducedOutput } from "#proxy/formats/stream/produced";
import { asText, isObject, type JsonObject, member, memberAt } from "#proxy/json/json-value";
import type { TokenUsage } from "#proxy/settle/usage";
import { encodeEvent } from "#proxy/sse/encoder";
import { EventSplitter } from "#proxy/sse/event-splitter";
import { readEventText } from "./produced-text.ts";
import { mergeUsage, readUsage } from "./read-usage.ts";

// Markers begin with a letter that JSON framing has little of: a search for a quote stops at every member.
const usageMarker = Buffer.from('usage"');
// Both message_start and message_stop: one search instead of two.
const boundaryMarker = Buffer.from("ge_st");
// Without a quote behind it: the name of an event has none.
const errorMarker = Buffer.from("rror");

export function createStreamFilter(eventBytesMax: number, onEvent?: (event: PassedEvent) => void): StreamFilter {
  return new EventStreamFilter(new MessageEvents(), new EventSplitter(eventBytesMax), onEvent);
}

class MessageEvents implements EventReader {
  readonly terminatorText = "[DONE]";
  readonly markers = [usageMarker, boundaryMarker, errorMarker];
  wantsEvery = true;
  readonly #produced = new ProducedOutput();
  #usage: JsonObject | undefined;
  #lacksNames: boolean | undefined;
  #id: unknown;
  #hasStarted = false;

  get usage(): TokenUsage | undefined {
    return readUsage(this.#usage);
  }

  read(event: ReadEvent, state: StreamState): Buffer | undefined {
    if (event.data === this.terminatorText) return undefined;
    if (!isObject(event.json)) return event.bytes;
    this.#lacksNames ??= event.name === undefined;
    const type = asText(event.json["type"]) || (event.name ?? "");
    if (type === "error" || (type === "" && isObject(event.json["error"]))) {
      state.error ??= classifyErrorEvent(event.json);
      return undefined;
    }
    if (type === "message_start" && !this.#start(event.json, state)) return undefined;
    if (type === "message_delta") this.#usage = mergeUsage(this.#usage, event.json["usage"]);
    if (type === "content_block_delta" && !state.hasContent) {
      state.hasContent = true;
      this.wantsEvery = this.#lacksNames;
    }
    if (type === "message_stop") state.isComplete = true;
    if (event.name === undefined && type !== "") return encodeEvent(type, event.data ?? "");
    return event.bytes;
  }

  /** @returns whether the event may pass */
  #start(event: JsonObject, state: StreamState): boolean {
    const id = memberAt(event, "message", "id");
    if (this.#hasStarted) {
      if (id !== this.#id) state.violation = "expected the message that has begun, got the start of another";
      return false;
    }
    this.#hasStarted = true;
    this.#id = id;
    const usage = member(event["message"], "usage");
    // One token or a few, before anything was produced: only a `message_delta` says what the reply took.
    if (isObject(usage)) this.#usage = mergeUsage(this.#usage, { ...usage, output_tokens: null });
    return true;
  }

  end(): undefined {
    return undefined;
  }

  visit(event: unknown): void {
    readEventText(event, this.#produced);
  }

  produced(): Produced {
    return this.#produced.summary();
  }
}
