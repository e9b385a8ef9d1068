/**
 * One messages stream of the messages of a paused turn (`protocols/anthropic-messages.md` sections 4 and 7).
 *
 * The first message passes as it comes, but for its end when it says `pause_turn`; of those that follow the blocks pass,
 * numbered on, and the last one's end. Usage is told as the sum so far whenever a message tells its own, so that a turn
 * that breaks off is charged for all of it. What is no event of a message passes as it is: the meter behind judges it.
 */
import { asList, asText, isObject, type JsonObject, member } from "../../../protocols/json-value.ts";
import { mergeUsage, readUsage } from "../../../protocols/messages/read-usage.ts";
import { zeroUsage } from "../../../settle/usage.ts";
import { encodeEvent } from "../../../sse/encoder.ts";
import { readEventFields, splitEvents } from "../../../sse/event-fields.ts";
import { EventSplitter } from "../../../sse/event-splitter.ts";
import { parseBody, parseJsonText, startsObject } from "../../json-text.ts";
import { InvalidReply } from "../../reply.ts";
import type { EndedBody, PausedTurn, TurnSplicer } from "../../turn-splicer.ts";
import { GrowingMessage } from "../own-format/fold-stream.ts";
import { unfoldReply } from "../own-format/unfold-reply.ts";
import { addUsage } from "./add-usage.ts";
import { continuedBody } from "./continued-body.ts";
import { refusalEvent } from "./refusal-event.ts";

const nothing = Buffer.alloc(0);
const pauseReason = "pause_turn";

interface TypedEvent {
  readonly type: string;
  readonly json: JsonObject;
}

export class MessageSplicer implements TurnSplicer {
  readonly #request: Buffer;
  readonly #eventBytesMax: number;
  #leg: Leg;
  #isFirst = true;
  #heldBytes = 0;
  #isForgetful = false;
  /** Above those of all blocks that went out: where the blocks of the next message begin. */
  #nextIndex = 0;
  #indexOffset = 0;
  /** Of the messages before this one. */
  readonly #content: unknown[] = [];
  #usedBefore: JsonObject | undefined;
  /** The turn stays paused because nothing is left of its cap. */
  #isAtCap = false;

  /** @param request body that the turn began with */
  constructor(request: Buffer, eventBytesMax: number) {
    this.#request = request;
    this.#eventBytesMax = eventBytesMax;
    this.#leg = new Leg(eventBytesMax);
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  push(chunk: Buffer): Buffer {
    const leg = this.#leg;
    leg.isObject ??= startsObject(chunk);
    this.#heldBytes += chunk.length;
    if (leg.isObject) {
      leg.object.push(chunk);
      return nothing;
    }
    const block = leg.splitter.push(chunk);
    if (leg.splitter.isOverflowing) throw new InvalidReply("an event of the upstream exceeds the size allowed");
    return block === undefined ? nothing : this.#splice(block);
  }

  endBody(): EndedBody {
    const leg = this.#leg;
    const rest = leg.isObject === true ? this.#endObject(leg) : this.#endEvents(leg);
    const pause = this.#pause(leg);
    return { passed: pause === undefined ? Buffer.concat([rest, this.stop()]) : rest, pause };
  }

  goOn(): Buffer {
    const { usage } = this.#leg;
    const used = usage === undefined ? this.#usedBefore : addUsage(this.#usedBefore, usage);
    this.#usedBefore = used;
    this.#leg = new Leg(this.#eventBytesMax);
    this.#isFirst = false;
    this.#indexOffset = this.#nextIndex;
    return used === undefined ? nothing : encode({ type: "message_delta", json: usageEvent(used) });
  }

  stop(): Buffer {
    const { held } = this.#leg;
    if (held.length === 0) return nothing;
    const told = held.splice(0).map((event) => encode(this.#isAtCap ? endedByCap(event) : event));
    return Buffer.concat(told);
  }

  fail(status: number, body: Buffer): Buffer {
    return encode(refusalEvent(status, body));
  }

  forget(): void {
    this.#isForgetful = true;
    this.#leg.message = undefined;
    this.#content.length = 0;
  }

  #endEvents(leg: Leg): Buffer {
    const rest = leg.splitter.takeRest();
    return rest === undefined ? nothing : this.#splice(rest);
  }

  /** A first one that is not paused stays what it is; all others are told as events, to be one with the rest. */
  #endObject(leg: Leg): Buffer {
    const bytes = Buffer.concat(leg.object.splice(0));
    leg.isObject = false;
    if (this.#isFirst && !bytes.includes(pauseReason)) return bytes;
    const message = parseBody(bytes);
    if (this.#isFirst && message["stop_reason"] !== pauseReason) return bytes;
    return Buffer.concat(Array.from(unfoldReply(message), (frame) => this.#splice(Buffer.from(frame))));
  }

  #splice(block: Buffer): Buffer {
    const pieces: Buffer[] = [];
    for (const bytes of splitEvents(block)) {
      const piece = this.#read(bytes);
      if (piece !== undefined) pieces.push(piece);
    }
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }

  /** @returns what goes out for an event: itself, another, or nothing */
  #read(bytes: Buffer): Buffer | undefined {
    const event = parseEvent(bytes);
    if (event === undefined || event.type === "ping") return bytes;
    const leg = this.#leg;
    this.#remember(leg, event);
    const spliced = this.#isFirst ? undefined : this.#renumbered(leg, event);
    const { index } = (spliced ?? event).json;
    if (typeof index === "number") this.#nextIndex = Math.max(this.#nextIndex, index + 1);
    if (this.#holds(leg, event)) {
      leg.held.push(spliced ?? event);
      return undefined;
    }
    return spliced === undefined ? bytes : encode(spliced);
  }

  #remember(leg: Leg, { type, json }: TypedEvent): void {
    const usage = type === "message_start" ? member(json["message"], "usage") : json["usage"];
    // As the meter does it: what a message took to produce only its end says.
    if (isObject(usage)) {
      const told = type === "message_start" ? { ...usage, output_tokens: null } : usage;
      leg.usage = mergeUsage(leg.usage, told);
    }
    if (type === "message_stop") leg.isWhole = true;
    try {
      leg.message?.take({ name: type, json });
    } catch (error) {
      if (!(error instanceof InvalidReply)) throw error;
      // It is judged by whoever reads it; nobody can go on from it.
      leg.message = undefined;
    }
  }

  /** The end of a message waits until it is known whether the turn goes on. */
  #holds({ held }: Leg, { type, json }: TypedEvent): boolean {
    if (held.length > 0) return true;
    return type === "message_delta" && member(json["delta"], "stop_reason") === pauseReason;
  }

  /** An event of a later message, as one of the first; undefined where it is the same. */
  #renumbered(leg: Leg, event: TypedEvent): TypedEvent | undefined {
    const { type, json } = event;
    if (type === "message_start") {
      if (leg.hasStarted || asList(member(json["message"], "content")).length > 0) return undefined;
      leg.hasStarted = true;
      return { type: "message_delta", json: usageEvent(addUsage(this.#usedBefore, leg.usage ?? {})) };
    }
    if (type === "message_delta") {
      return { type, json: { ...json, usage: addUsage(this.#usedBefore, leg.usage ?? {}) } };
    }
    const { index } = json;
    return typeof index === "number" ? { type, json: { ...json, index: index + this.#indexOffset } } : undefined;
  }

  #pause(leg: Leg): PausedTurn | undefined {
    if (leg.held.length === 0 || !leg.isWhole || leg.message === undefined || this.#isForgetful) return undefined;
    const usage = leg.usage ?? {};
    // Without the count of what it produced nobody knows what is left of its cap.
    if (typeof usage["output_tokens"] !== "number") return undefined;
    const message = wholeOf(leg.message);
    const content = asList(message?.["content"]);
    const waitsForClient = content.some((block) => member(block, "type") === "tool_use");
    if (message?.["stop_reason"] !== pauseReason || content.length === 0 || waitsForClient) return undefined;
    for (const block of content) this.#content.push(block);
    const used = readUsage(addUsage(this.#usedBefore, usage)) ?? zeroUsage;
    const next = continuedBody(this.#request, {
      content: this.#content,
      containerId: member(message["container"], "id"),
      outputTokens: used.output + used.reasoning,
    });
    this.#isAtCap = next === undefined;
    if (next === undefined) return undefined;
    return { used, last: readUsage(usage) ?? zeroUsage, request: next.bytes, outputCap: next.outputCap };
  }
}

/** What is known of the message under way. */
class Leg {
  readonly splitter: EventSplitter;
  /** Undefined until its first bytes say whether it is one object or events. */
  isObject: boolean | undefined;
  readonly object: Buffer[] = [];
  /** Undefined for what is no message that could be sent back. */
  message: GrowingMessage | undefined = new GrowingMessage();
  usage: JsonObject | undefined;
  hasStarted = false;
  isWhole = false;
  readonly held: TypedEvent[] = [];

  constructor(eventBytesMax: number) {
    this.splitter = new EventSplitter(eventBytesMax);
  }
}

function parseEvent(bytes: Buffer): TypedEvent | undefined {
  const { name, data } = readEventFields(bytes);
  if (data === undefined) return undefined;
  try {
    const json = parseJsonText(data);
    return isObject(json) ? { type: asText(json["type"]) || (name ?? ""), json } : undefined;
  } catch {
    return undefined;
  }
}

function wholeOf(message: GrowingMessage): JsonObject | undefined {
  try {
    return message.whole().reply;
  } catch (error) {
    if (error instanceof InvalidReply) return undefined;
    throw error;
  }
}

function encode({ type, json }: TypedEvent): Buffer {
  return encodeEvent(type, JSON.stringify(json));
}

function usageEvent(usage: JsonObject): JsonObject {
  return { type: "message_delta", delta: {}, usage };
}

function endedByCap(event: TypedEvent): TypedEvent {
  const { delta } = event.json;
  if (member(delta, "stop_reason") !== pauseReason || !isObject(delta)) return event;
  return { ...event, json: { ...event.json, delta: { ...delta, stop_reason: "max_tokens" } } };
}
