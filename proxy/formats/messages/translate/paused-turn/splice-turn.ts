/**
 * Splices the messages of a paused turn into one messages stream (docs/design/messages.md 4 and 7).
 *
 * The first message passes as it comes, except its end when that says `pause_turn`; of later messages the blocks pass,
 * renumbered, and the end of the last one. Usage is the sum so far whenever a message reports its own, so that a turn
 * that breaks off is charged for all of it. Events that do not belong to a message pass as they are: the filter behind
 * judges them.
 */
import { isUtf8 } from "node:buffer";
import { readMessageText } from "#proxy/formats/messages/native/produced-text";
import { readUsage } from "#proxy/formats/messages/native/read-usage";
import { replayReply } from "#proxy/formats/messages/translate/aggregate/replay-reply";
import { ProducedOutput } from "#proxy/formats/stream/produced";
import type { EndedBody, PausedTurn, SpliceLimits, TurnSplicer } from "#proxy/formats/turn-splicer";
import { asList, isObject, type JsonObject, member } from "#proxy/json/json-value";
import { parseBody } from "#proxy/neutral/parse-body";
import { InvalidReply } from "#proxy/neutral/reply";
import { zeroUsage } from "#proxy/settle/usage";
import { splitEvents } from "#proxy/sse/event-fields";
import { addUsage } from "./add-usage.ts";
import { continuedBody } from "./continued-body.ts";
import { refusalEvent } from "./refusal-event.ts";
import { pauseReason, TurnMessage } from "./turn-message.ts";
import { encodeTyped, parseTyped, type TypedEvent } from "./typed-event.ts";

const nothing = Buffer.alloc(0);

export class MessageSplicer implements TurnSplicer {
  readonly #request: Buffer;
  readonly #limits: SpliceLimits;
  /** Under way. */
  #message: TurnMessage;
  #isFirst = true;
  #isForgetful = false;
  #keptBytes = 0;
  /** Above those of all blocks that went out: where the blocks of the next message begin. */
  #nextIndex = 0;
  #indexOffset = 0;
  /** Of the messages before this one. */
  readonly #content: unknown[] = [];
  #usedBefore: JsonObject | undefined;
  /** Of the client's cap nothing is left, or too little for the thinking that was asked for. */
  #isCapReached = false;

  /** @param request body that the turn began with */
  constructor(request: Buffer, limits: SpliceLimits) {
    this.#request = request;
    this.#limits = limits;
    this.#message = new TurnMessage();
  }

  get heldBytes(): number {
    return this.#keptBytes;
  }

  get isCollecting(): boolean {
    return this.#message.holdsObject;
  }

  get isPaused(): boolean {
    return this.#message.isWhole && this.#message.held.length > 0;
  }

  push(chunk: Buffer): Buffer {
    const message = this.#message;
    if (!this.#isForgetful) this.#keptBytes += chunk.length;
    const { bytes, isObject: isOne } = message.begin(chunk);
    if (isOne === undefined) return nothing;
    if (!isOne) return this.#spliced(message.events.push(bytes), message);
    const isKept = message.keepObject(bytes) <= this.#limits.responseBytesMax && !this.#isForgetful;
    // More than any reader accepts passes as it is: the reader reports it.
    return isKept ? nothing : message.consumeObject();
  }

  endBody(): EndedBody {
    const message = this.#message;
    const rest = message.isObject === true ? this.#endObject(message) : this.#endEvents(message);
    const pause = this.#pause(message);
    return { passed: pause === undefined ? Buffer.concat([rest, this.stop()]) : rest, pause };
  }

  resume(): void {
    this.#usedBefore = this.#used(this.#message);
    this.#message = new TurnMessage();
    this.#isFirst = false;
    this.#indexOffset = this.#nextIndex;
  }

  stop(): Buffer {
    const { held } = this.#message;
    return Buffer.concat(held.splice(0).map((event) => encodeTyped(this.#isCapReached ? endedByCap(event) : event)));
  }

  fail(status: number, body: Buffer): Buffer {
    return encodeTyped(refusalEvent(status, body));
  }

  forget(): Buffer {
    this.#isForgetful = true;
    this.#keptBytes = 0;
    this.#content.length = 0;
    this.#message.forget();
    return this.#message.consumeObject();
  }

  #used(message: TurnMessage): JsonObject {
    return addUsage(this.#usedBefore, message.usage ?? {});
  }

  #endEvents(message: TurnMessage): Buffer {
    return this.#spliced(message.events.takeRest(), message);
  }

  /**
   * A first one that is not paused stays what it is; all others are told as events, to be one with the rest. What is no
   * message goes on as it is: among events it is none, and an error is one.
   */
  #endObject(message: TurnMessage): Buffer {
    const bytes = message.consumeObject();
    if (this.#isFirst && !bytes.includes(pauseReason)) return bytes;
    const frames = framesOf(bytes, (told) => !this.#isFirst || told["stop_reason"] === pauseReason);
    return frames === undefined ? bytes : Buffer.concat(frames.map((frame) => this.#spliced(frame, message)));
  }

  #spliced(block: Buffer | undefined, message: TurnMessage): Buffer {
    if (block === undefined) {
      // An event that is longer than any may be goes on in pieces: the filter refuses it.
      const isOverflowing = message.events.heldBytes > this.#limits.eventBytesMax;
      return isOverflowing ? (message.events.takeRest() ?? nothing) : nothing;
    }
    // Read and written again it would be mended: the filter refuses it.
    if (!this.#isFirst && !isUtf8(block)) return block;
    const pieces: Buffer[] = [];
    for (const bytes of splitEvents(block)) pieces.push(...this.#read(bytes, message));
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }

  /** @returns what goes out for an event: itself, another, or nothing */
  #read(bytes: Buffer, message: TurnMessage): readonly Buffer[] {
    // Behind the end of a message stands nothing of it.
    if (message.held.length > 0 && message.isWhole) return [];
    const event = parseTyped(bytes);
    if (event === undefined || event.type === "ping") return [bytes];
    const { isRepeated } = message.add(event);
    const told = this.#isFirst ? event : this.#renumbered(event, isRepeated, message);
    if (told === undefined) return [];
    const { index } = told.json;
    if (typeof index === "number") this.#nextIndex = Math.max(this.#nextIndex, index + 1);
    if (message.held.length > 0) {
      message.held.push(told);
      return [];
    }
    if (!isPause(told)) return [told === event ? bytes : encodeTyped(told)];
    // The end waits until it is known whether the turn goes on; what it took is known now.
    message.held.push(told);
    return message.usage === undefined ? [] : [encodeTyped(usageEvent(this.#used(message)))];
  }

  /** An event of a later message, as one of the first; undefined where that has had it. */
  #renumbered(event: TypedEvent, isRepeated: boolean, message: TurnMessage): TypedEvent | undefined {
    const { type, json } = event;
    if (type === "message_start") {
      if (isRepeated) return undefined;
      // What the filter refuses: two messages in one body, or one that begins in the middle.
      if (message.starts > 1 || asList(member(json["message"], "content")).length > 0) return event;
      return usageEvent(this.#used(message));
    }
    if (type === "message_delta") return { type, json: { ...json, usage: this.#used(message) } };
    const { index } = json;
    return typeof index === "number" ? { type, json: { ...json, index: index + this.#indexOffset } } : event;
  }

  #pause(message: TurnMessage): PausedTurn | undefined {
    const paused = this.#isForgetful ? undefined : message.paused();
    if (paused === undefined) return undefined;
    for (const block of paused.content) this.#content.push(block);
    const used = readUsage(this.#used(message)) ?? zeroUsage;
    const next = continuedBody(this.#request, {
      content: this.#content,
      containerId: paused.containerId,
      outputTokens: used.output + used.reasoning,
    });
    this.#isCapReached = next === undefined;
    if (next === undefined) return undefined;
    const produced = new ProducedOutput();
    readMessageText({ content: this.#content }, produced);
    const last = readUsage(message.usage) ?? zeroUsage;
    return { used, last, text: produced.summary().text, request: next.bytes, outputCap: next.outputCap };
  }
}

/** @returns the events that tell a whole message; undefined for what is none, or not the one that is meant */
function framesOf(bytes: Buffer, isMeant: (message: JsonObject) => boolean): readonly Buffer[] | undefined {
  try {
    const message = parseBody(bytes);
    return isMeant(message) ? Array.from(replayReply(message), (frame) => Buffer.from(frame)) : undefined;
  } catch (error) {
    if (error instanceof InvalidReply) return undefined;
    throw error;
  }
}

function isPause({ type, json }: TypedEvent): boolean {
  return type === "message_delta" && member(json["delta"], "stop_reason") === pauseReason;
}

function usageEvent(usage: JsonObject): TypedEvent {
  return { type: "message_delta", json: { type: "message_delta", delta: {}, usage } };
}

function endedByCap(event: TypedEvent): TypedEvent {
  const { delta } = event.json;
  if (!isPause(event) || !isObject(delta)) return event;
  return { ...event, json: { ...event.json, delta: { ...delta, stop_reason: "max_tokens" } } };
}
