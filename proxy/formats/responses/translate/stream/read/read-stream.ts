/**
 * Reads the events of a responses stream (docs/design/responses.md 6, docs/design/translation.md 9.1).
 *
 * Items are known by `output_index`, because relays change ids on the way; finished items add what deltas left out;
 * items without events of their own come from the final response. The filter finds errors before they come here.
 */

import { readUsage } from "#proxy/formats/responses/native/read-usage";
import { checkArguments, readFinish } from "#proxy/formats/responses/translate/reply/finish";
import type { StreamReader, WireEvent } from "#proxy/formats/translator";
import { asText, isObject, type JsonObject, parseJson } from "#proxy/json/json-value";
import { InvalidReply, type ReplyEvent } from "#proxy/neutral/reply";
import { EventSink } from "./event-sink.ts";
import type { OpenItem } from "./open-item.ts";
import { beginItem, openItem } from "./open-items.ts";
import { OpenMessage } from "./open-message.ts";
import { SeenItems } from "./seen-items.ts";

/** Far more than any model says in one reply; each new one is told to those that are open. */
const itemsMax = 2_000;

/** Events of which kind of item. */
const itemEvents: Readonly<Record<string, string>> = {
  "response.content_part.done": "",
  "response.output_text.delta": "message",
  "response.output_text.done": "message",
  "response.output_text.annotation.added": "message",
  "response.refusal.delta": "message",
  "response.refusal.done": "message",
  "response.reasoning_text.delta": "reasoning",
  "response.reasoning_summary_text.delta": "reasoning",
  "response.function_call_arguments.delta": "function_call",
  "response.custom_tool_call_input.delta": "custom_tool_call",
};

export class ResponsesStreamReader implements StreamReader {
  readonly #declared: ReadonlySet<string>;
  readonly #sink: EventSink;
  readonly #open = new Map<number, OpenItem>();
  readonly #seen = new SeenItems();
  #hasStarted = false;
  #isOver = false;

  /** @param declared names of the client's tools */
  constructor(declared: ReadonlySet<string> = new Set()) {
    this.#declared = declared;
    this.#sink = new EventSink(declared);
  }

  read({ name, data, json }: WireEvent): readonly ReplyEvent[] {
    if (data === "[DONE]" || this.#isOver) return [];
    const event = json ?? parseJson(data);
    if (!isObject(event)) throw new InvalidReply("an event is not a JSON object");
    this.#readEvent(asText(event["type"]) || (name ?? ""), event);
    return this.#consumeEvents();
  }

  end(): readonly ReplyEvent[] {
    if (!this.#isOver) throw new InvalidReply("the stream ended before the response did");
    return [];
  }

  #consumeEvents(): readonly ReplyEvent[] {
    const { events } = this.#sink;
    this.#sink.events = [];
    return events;
  }

  #readEvent(type: string, event: JsonObject): void {
    switch (type) {
      case "response.created":
        if (this.#seen.size > 0) throw new InvalidReply("another response began before the first one ended");
        this.#start(event["response"]);
        return;
      case "response.queued":
      case "response.in_progress":
        this.#start(event["response"]);
        return;
      case "response.output_item.added":
        this.#added(outputIndex(event), event["item"]);
        return;
      case "response.output_item.done":
        this.#done(outputIndex(event), event["item"]);
        return;
      case "response.completed":
      case "response.incomplete":
      case "response.done":
        this.#finish(event["response"], type === "response.incomplete");
        return;
      case "response.failed":
      case "response.cancelled":
      case "error":
        throw new InvalidReply("the response failed");
      default:
        if (Object.hasOwn(itemEvents, type)) this.#readItemEvent(type, event);
    }
  }

  #start(response: unknown): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    const known = isObject(response) ? response : {};
    this.#sink.events.push({
      type: "start",
      id: asText(known["id"]) || undefined,
      model: asText(known["model"]) || undefined,
      serviceTier: asText(known["service_tier"]) || undefined,
    });
  }

  #observe(index: number, item: JsonObject): void {
    this.#start(undefined);
    for (const open of this.#open.values()) open.pause(this.#sink);
    this.#seen.add(index, item);
    if (this.#seen.size > itemsMax) throw new InvalidReply("the response has too many items");
  }

  #added(index: number, item: unknown): void {
    if (!isObject(item)) throw new InvalidReply("an output_item.added event has no item");
    if (this.#seen.has(index)) throw new InvalidReply("two items have the same index");
    this.#observe(index, item);
    const opened = openItem(item, this.#declared);
    this.#open.set(index, opened);
    beginItem(opened, this.#sink);
  }

  #readItemEvent(type: string, event: JsonObject): void {
    const index = outputIndex(event);
    const wanted = itemEvents[type];
    let item = this.#open.get(index);
    if (item === undefined && wanted === "message" && !this.#seen.has(index)) {
      // Some relays say text without having announced a message.
      this.#observe(index, { type: "message", id: event["item_id"] });
      item = new OpenMessage();
      this.#open.set(index, item);
    }
    if (item === undefined) {
      if (wanted === "" || type.endsWith(".done")) return;
      throw new InvalidReply("a piece came for an item that is not open");
    }
    if (wanted !== "" && wanted !== item.type) throw new InvalidReply("a piece came for an item of another type");
    item.read(type, event, this.#sink);
  }

  #done(index: number, item: unknown): void {
    if (!isObject(item)) throw new InvalidReply("an output_item.done event has no item");
    this.#check(item);
    const open = this.#open.get(index);
    if (open !== undefined) {
      this.#open.delete(index);
      this.#seen.add(index, item);
      open.finish(open.type === item["type"] ? item : undefined, this.#sink);
    } else if (!this.#seen.has(index)) {
      this.#observe(index, item);
      this.#sink.whole(item);
    }
  }

  #check(item: JsonObject): void {
    if (!checkArguments(item)) this.#sink.hasBrokenCall = true;
  }

  /** The final response says what the events did not. */
  #finish(given: unknown, isIncomplete: boolean): void {
    const response = isObject(given) ? given : {};
    this.#start(response);
    const output = Array.isArray(response["output"]) ? response["output"].filter(isObject) : [];
    const { known, unseen } = this.#seen.findIn(output);
    for (const [index, open] of this.#open) {
      const item = known.get(index);
      if (item !== undefined) this.#check(item);
      open.finish(item, this.#sink);
    }
    this.#open.clear();
    for (const item of unseen) {
      this.#check(item);
      this.#sink.whole(item);
    }
    const finish = readFinish(response, this.#sink, isIncomplete);
    if (this.#sink.hasBrokenCall && finish.reason !== "length" && finish.reason !== "content-filter") {
      throw new InvalidReply("the arguments of a call are not JSON, or differ from those that were streamed");
    }
    const usage = readUsage(response);
    if (usage !== undefined) this.#sink.events.push({ type: "usage", usage });
    this.#sink.events.push({ type: "finish", candidate: 0, finish }, { type: "end" });
    this.#isOver = true;
  }
}

function outputIndex(event: JsonObject): number {
  const index = event["output_index"];
  if (typeof index === "number" && Number.isSafeInteger(index) && index >= 0) return index;
  throw new InvalidReply("an event of an item has no index");
}
