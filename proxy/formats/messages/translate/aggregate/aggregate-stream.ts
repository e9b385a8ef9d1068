/**
 * Aggregates a messages stream into a message (docs/design/messages.md 7).
 *
 * A block is the content of its `content_block_start` with its deltas added; block types that nobody knows yet, and
 * unknown members of known ones, pass as they are. It is strict where the reader of translation is: pieces for blocks
 * that were never started and an end without a reason make the reply invalid.
 */

import type { AggregatedReply, JsonEvent } from "#proxy/formats/aggregate/aggregation";
import { type MutableObject, setLater, without } from "#proxy/formats/aggregate/members";
import { mergeUsage } from "#proxy/formats/messages/native/read-usage";
import { heldEnding } from "#proxy/formats/messages/translate/reply/finish";
import { parseInput } from "#proxy/formats/messages/translate/reply/parse-input";
import { argumentsObject } from "#proxy/json/json-text";
import { asText, isObject, type JsonObject } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import { setOwn } from "#proxy/neutral/schema/subschemas";

/** Endings whose last block may be half a block. */
const cutEndings: ReadonlySet<unknown> = new Set(["max_tokens", "model_context_window_exceeded", "refusal"]);

/** @throws InvalidReply when the events are no message */
export function aggregateStream(events: Iterable<JsonEvent>): AggregatedReply {
  const message = new MessageAggregator();
  for (const event of events) message.add(event);
  return message.whole();
}

export class MessageAggregator {
  #message: MutableObject | undefined;
  #usage: JsonObject | undefined;
  #ending: JsonObject | undefined;
  /** In the order of their start. */
  readonly #content: BlockAggregator[] = [];
  readonly #byIndex = new Map<unknown, BlockAggregator>();
  readonly #lost = new Set<string>();

  add({ name, json }: JsonEvent): void {
    const type = asText(json["type"]) || (name ?? "");
    switch (type) {
      case "message_start":
        this.#start(json["message"]);
        return;
      case "content_block_start":
        this.#open(json["index"], json["content_block"]);
        return;
      case "content_block_delta":
        this.#addDelta(json["index"], json["delta"]);
        return;
      case "message_delta":
        this.#end(json);
        return;
      case "content_block_stop":
      case "message_stop":
      case "ping":
        return;
      default:
        this.#lost.add(type);
    }
  }

  whole(): AggregatedReply {
    if (this.#message === undefined) throw new InvalidReply("the stream holds no message");
    if (this.#ending === undefined) throw new InvalidReply("the message ended without a stop reason");
    const { stop_reason: reason } = this.#ending;
    const isCut = cutEndings.has(reason);
    const content = this.#content.map((block) => block.whole(isCut));
    const usage = this.#usage === undefined ? {} : { usage: this.#usage };
    return { reply: { ...this.#message, content, ...this.#ending, ...usage }, lost: [...this.#lost] };
  }

  #start(message: unknown): void {
    if (!isObject(message)) throw new InvalidReply("a message_start event has no message");
    this.#message = without(message, "content", "usage");
    // Some vendors put what came before the stream here.
    if (Array.isArray(message["content"])) {
      for (const block of message["content"]) this.#content.push(new BlockAggregator(block));
    }
    if (isObject(message["usage"])) this.#usage = laterUsage(undefined, message["usage"]);
  }

  #open(index: unknown, given: unknown): void {
    const block = new BlockAggregator(given);
    this.#content.push(block);
    this.#byIndex.set(index, block);
  }

  #addDelta(index: unknown, delta: unknown): void {
    const block = this.#byIndex.get(index);
    if (block === undefined) throw new InvalidReply("a piece came for a block that was never started");
    if (isObject(delta)) block.add(delta);
  }

  /** The reason stands in `delta`; what else concerns the message stands there or beside it. */
  #end(event: JsonObject): void {
    const { delta, usage } = event;
    if (isObject(usage)) this.#usage = laterUsage(this.#usage, usage);
    if (this.#message === undefined) throw new InvalidReply("the message ended before it began");
    for (const [name, value] of Object.entries(without(event, "type", "delta", "usage"))) {
      setLater(this.#message, name, value);
    }
    if (!isObject(delta)) return;
    for (const [name, value] of Object.entries(without(delta, ...endingMembers))) setLater(this.#message, name, value);
    if (typeof delta["stop_reason"] === "string") this.#ending = heldEnding(this.#ending, endingOf(delta));
  }
}

const endingMembers = ["stop_reason", "stop_sequence", "stop_details"] as const;

function endingOf(delta: JsonObject): MutableObject {
  const ending: MutableObject = {};
  for (const name of endingMembers) if (Object.hasOwn(delta, name)) ending[name] = delta[name];
  return ending;
}

/** Numbers are cumulative (`mergeUsage`); members that were never more than null stay so. */
function laterUsage(known: JsonObject | undefined, later: JsonObject): JsonObject {
  const usage: MutableObject = { ...known };
  for (const [name, value] of Object.entries(later)) if (value === null) setLater(usage, name, null);
  for (const [name, value] of Object.entries(mergeUsage(known, later) ?? {})) setLater(usage, name, value);
  return usage;
}

class BlockAggregator {
  readonly #block: MutableObject;
  /** Text of the input, which comes as pieces of JSON. */
  #json = "";

  constructor(given: unknown) {
    if (!isObject(given)) throw new InvalidReply("a block is not an object");
    this.#block = { ...given };
  }

  /** A delta names the member that it adds to: text is joined, a citation is one more, anything else takes its place. */
  add(delta: JsonObject): void {
    const block = this.#block;
    for (const [name, value] of Object.entries(delta)) {
      if (name === "type") continue;
      if (name === "partial_json") this.#json += asText(value);
      else if (name === "citation") this.#cite(value);
      else if (typeof value === "string" && typeof block[name] === "string") setOwn(block, name, block[name] + value);
      else setLater(block, name, value);
    }
  }

  #cite(citation: unknown): void {
    const { citations } = this.#block;
    if (Array.isArray(citations)) citations.push(citation);
    else this.#block["citations"] = [citation];
  }

  /** @param isCut the reply ended before its time: its last input may be half a text */
  whole(isCut: boolean): JsonObject {
    // Without pieces, what the start showed is all (pitfalls 27 and 28).
    if (this.#json.trim() === "") return this.#block;
    const input = argumentsObject(this.#json) ?? (isCut ? parseInput(this.#json) : undefined);
    if (input === undefined) throw new InvalidReply("the input of a tool call is not a JSON object");
    return { ...this.#block, input };
  }
}
