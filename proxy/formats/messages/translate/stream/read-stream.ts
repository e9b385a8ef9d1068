/**
 * Reads a messages stream (docs/design/messages.md 7; docs/design/translation.md 9.1).
 *
 * It is strict where a mistake would change the meaning: a second message spliced in, deltas for blocks that were never
 * started, an end without a reason, calls whose arguments are not JSON in a reply that claims to be whole. It is
 * lenient where resellers are: missing `event:` lines, unknown events and blocks, blocks that were never stopped.
 */

import { mergeUsage, readUsage } from "#proxy/formats/messages/native/read-usage";
import { heldEnding, readFinish } from "#proxy/formats/messages/translate/reply/finish";
import type { StreamReader, WireEvent } from "#proxy/formats/translator";
import { parseJsonText } from "#proxy/json/json-text";
import { asList, asText, isObject, type JsonObject, member, parseJson } from "#proxy/json/json-value";
import { InvalidReply, type ReplyEvent } from "#proxy/neutral/reply";
import type { BlockReader, Numbering } from "./block-events.ts";
import { type CallOutcome, startBlock } from "./read-block.ts";
import { HostedReader } from "./read-hosted.ts";

/** Far more than any provider keeps open at once; a stream that never stops its blocks ends here. */
const openBlocksMax = 64;

export class MessageReader implements StreamReader {
  readonly #open = new Map<unknown, BlockReader>();
  readonly #outcome: CallOutcome = { hasCalls: false, hasInvalidCall: false };
  readonly #hosted: HostedReader;
  #parts = 0;
  #id: unknown;
  #state: "before" | "within" | "ended" = "before";
  #hasOutput = false;
  #ending: JsonObject | undefined;
  #usage: JsonObject | undefined;

  constructor() {
    const numbering: Numbering = { next: () => this.#nextPart() };
    this.#hosted = new HostedReader(numbering);
  }

  read(event: WireEvent): readonly ReplyEvent[] {
    if (event.data === "[DONE]" || this.#state === "ended") return [];
    const json = parseEvent(event);
    if (!isObject(json)) throw new InvalidReply("an event is not a JSON object");
    return this.readEvent(asText(json["type"]) || (event.name ?? ""), json);
  }

  /** An event that has been parsed. @throws InvalidReply */
  readEvent(type: string, event: JsonObject): readonly ReplyEvent[] {
    if (type === "message_start") return this.#start(event["message"]);
    if (type === "error") throw new InvalidReply("an error event came instead of the reply");
    if (this.#state === "before") {
      if (type.startsWith("content_block") || type === "message_delta") {
        throw new InvalidReply("content comes before the start of its message");
      }
      return [];
    }
    switch (type) {
      case "content_block_start":
        return this.#startBlock(event);
      case "content_block_delta":
        return this.#readDelta(event);
      case "content_block_stop":
        return this.#stopBlock(event["index"]);
      case "message_delta":
        return this.#readEnding(event);
      case "message_stop":
        return this.#end();
      default:
        return [];
    }
  }

  end(): readonly ReplyEvent[] {
    return this.#state === "ended" ? [] : this.#end();
  }

  #start(message: unknown): readonly ReplyEvent[] {
    const id = member(message, "id");
    if (this.#state !== "before") {
      if (id !== this.#id) throw new InvalidReply("two messages were spliced into one stream");
      return [];
    }
    this.#state = "within";
    this.#id = id;
    const serviceTier = asText(member(member(message, "usage"), "service_tier")) || undefined;
    const events: ReplyEvent[] = [
      { type: "start", id: asText(id) || undefined, model: asText(member(message, "model")) || undefined, serviceTier },
      ...this.#readUsage(member(message, "usage")),
    ];
    // Some resellers put the beginning of the reply here.
    for (const block of asList(member(message, "content"))) if (isObject(block)) events.push(...this.#readWhole(block));
    return events;
  }

  #readWhole(block: JsonObject): readonly ReplyEvent[] {
    const { events, reader } = this.#begin(block);
    return [...events, ...reader.stop()];
  }

  #begin(block: JsonObject): { readonly events: readonly ReplyEvent[]; readonly reader: BlockReader } {
    this.#hasOutput = true;
    const isOwn = ownTypes.has(asText(block["type"]));
    const before = isOwn ? this.#hosted.flush() : [];
    const started = isOwn ? startBlock(block, this.#nextPart(), this.#outcome) : undefined;
    const { events, reader } = started ?? this.#hosted.start(block);
    return { events: before.length === 0 ? events : [...before, ...events], reader };
  }

  #startBlock(event: JsonObject): readonly ReplyEvent[] {
    const { index, content_block: block } = event;
    if (!isObject(block)) throw new InvalidReply("a block starts without content");
    if (this.#ending !== undefined) throw new InvalidReply("a block starts after the end of its message");
    const before = this.#open.has(index) ? this.#stopBlock(index) : [];
    if (this.#open.size >= openBlocksMax) throw new InvalidReply("too many blocks are open at once");
    const { events, reader } = this.#begin(block);
    this.#open.set(index, reader);
    return before.length === 0 ? events : [...before, ...events];
  }

  #readDelta({ index, delta: piece }: JsonObject): readonly ReplyEvent[] {
    const reader = this.#open.get(index);
    if (reader === undefined) throw new InvalidReply("a delta is for a block that is not open");
    return isObject(piece) ? reader.read(piece) : [];
  }

  #stopBlock(index: unknown): readonly ReplyEvent[] {
    const reader = this.#open.get(index);
    this.#open.delete(index);
    return reader === undefined ? [] : reader.stop();
  }

  /** May come more than once. */
  #readEnding(event: JsonObject): readonly ReplyEvent[] {
    const ending = event["delta"];
    if (isObject(ending) && typeof ending["stop_reason"] === "string") this.#ending = heldEnding(this.#ending, ending);
    return this.#readUsage(event["usage"]);
  }

  #readUsage(later: unknown): readonly ReplyEvent[] {
    if (!isObject(later)) return [];
    this.#usage = mergeUsage(this.#usage, later);
    const usage = readUsage(this.#usage);
    return usage === undefined ? [] : [{ type: "usage", usage }];
  }

  #end(): readonly ReplyEvent[] {
    if (this.#ending === undefined) throw new InvalidReply("the message ended without a stop reason");
    const events: ReplyEvent[] = [];
    for (const index of [...this.#open.keys()]) events.push(...this.#stopBlock(index));
    events.push(...this.#hosted.flush());
    const finish = readFinish(this.#ending, this.#outcome.hasCalls, this.#hasOutput);
    const claimsWhole = finish.reason === "tool-calls" || finish.reason === "stop";
    if (claimsWhole && this.#outcome.hasInvalidCall) throw new InvalidReply("the arguments of a call are not JSON");
    this.#state = "ended";
    return [...events, { type: "finish", candidate: 0, finish }, { type: "end" }];
  }

  #nextPart(): number {
    this.#parts += 1;
    return this.#parts - 1;
  }
}

const ownTypes: ReadonlySet<string> = new Set(["text", "thinking", "redacted_thinking", "tool_use"]);

/** Arguments come in pieces of text; where a reseller sends the object itself, plain parsing would lose digits. */
function parseEvent({ data, json }: WireEvent): unknown {
  const event = json ?? parseJson(data);
  const block = member(event, "content_block");
  const begun = block === undefined ? asList(member(member(event, "message"), "content")) : [block];
  return begun.some(hasInput) ? parseJsonText(data) : event;
}

function hasInput(block: unknown): boolean {
  const input = member(block, "input");
  return isObject(input) && Object.keys(input).length > 0;
}
