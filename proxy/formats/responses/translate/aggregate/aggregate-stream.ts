/**
 * Aggregates a responses stream into a response object (docs/design/responses.md 6).
 *
 * The event that ends the stream holds the whole response. Items that it leaves out come from their own done events,
 * or, of relays that send nothing but deltas, from their deltas (pitfall 55). Previews of pictures, obfuscation and the
 * numbers of events belong to the stream and are not part of the response.
 */

import type { AggregatedReply, JsonEvent } from "#proxy/formats/aggregate/aggregation";
import { SeenItems } from "#proxy/formats/responses/translate/stream/read/seen-items";
import { asText, isObject, type JsonObject } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import { ItemAggregator } from "./aggregate-item.ts";

/** Far more than any model says in one reply. */
const itemsMax = 2_000;

const endings: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.done"]);
/** Sound stands in no item of a whole response. */
const withoutPlace: ReadonlySet<string> = new Set([
  "response.audio.delta",
  "response.audio.done",
  "response.audio.transcript.delta",
  "response.audio.transcript.done",
]);

/** @throws InvalidReply when the events are no response */
export function aggregateStream(events: Iterable<JsonEvent>): AggregatedReply {
  const response = new ResponseAggregator();
  for (const { name, json } of events) response.add(asText(json["type"]) || (name ?? ""), json);
  return response.whole();
}

class ResponseAggregator {
  readonly #items = new Map<number, ItemAggregator>();
  readonly #seen = new SeenItems();
  /** As the event that ended the stream shows it. */
  #response: JsonObject | undefined;
  readonly #lost = new Set<string>();

  add(type: string, event: JsonObject): void {
    if (endings.has(type)) this.#end(type, event["response"]);
    else if (withoutPlace.has(type)) this.#lost.add(type.replace(/\.(?:delta|done)$/, ""));
    else if (typeof event["output_index"] === "number") this.#item(event["output_index"]).add(type, event);
  }

  whole(): AggregatedReply {
    if (this.#response === undefined) throw new InvalidReply("the stream ended before the response did");
    return { reply: { ...this.#response, output: this.#output(this.#response["output"]) }, lost: [...this.#lost] };
  }

  #end(type: string, response: unknown): void {
    const shown = isObject(response) ? response : {};
    const status = type === "response.incomplete" ? "incomplete" : "completed";
    // Relays leave the status out, or repeat that of the beginning.
    const isEnded = shown["status"] === "completed" || shown["status"] === "incomplete";
    this.#response = isEnded ? shown : { ...shown, status };
  }

  #item(index: number): ItemAggregator {
    let item = this.#items.get(index);
    if (item === undefined) {
      if (this.#items.size >= itemsMax) throw new InvalidReply("the response has too many items");
      item = new ItemAggregator();
      this.#items.set(index, item);
    }
    return item;
  }

  /** In the order in which the end shows the items, where it shows all. */
  #output(given: unknown): readonly unknown[] {
    const shown = Array.isArray(given) ? given.filter(isObject) : [];
    const items = [...this.#items].sort(([one], [other]) => one - other);
    for (const [index, item] of items) this.#seen.add(index, item.whole());
    const { known, unseen } = this.#seen.findIn(shown);
    const whole = new Map(items.map(([index, item]) => [known.get(index), item.wholeWith(known.get(index))]));
    if (known.size === items.length) return shown.map((item) => whole.get(item) ?? item);
    return [...items.map(([index, item]) => item.wholeWith(known.get(index))), ...unseen];
  }
}
