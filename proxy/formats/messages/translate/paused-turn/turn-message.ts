/** Tracks one message of a turn as it arrives, with all that is needed to continue the turn from it. Pure. */

import { mergeUsage } from "#proxy/formats/messages/native/read-usage";
import { MessageAggregator } from "#proxy/formats/messages/translate/aggregate/aggregate-stream";
import { startsObject } from "#proxy/json/json-text";
import { asList, isObject, type JsonObject, member } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import { EventSplitter } from "#proxy/sse/event-splitter";
import type { TypedEvent } from "./typed-event.ts";

export const pauseReason = "pause_turn";

/** More of them in front is no reply's beginning. */
const blanksMax = 1_024;

/** What can be sent back of a message. */
export interface PausedMessage {
  readonly content: readonly unknown[];
  readonly containerId: unknown;
}

export class TurnMessage {
  /** Cut at the ends of events; the caller bounds what waits. */
  readonly events = new EventSplitter(Number.POSITIVE_INFINITY);
  /** Undefined until the first byte that is no blank says whether it is one object or events. */
  isObject: boolean | undefined;
  /** The end of a paused message, which waits. */
  readonly held: TypedEvent[] = [];
  usage: JsonObject | undefined;
  isWhole = false;
  starts = 0;
  #id: unknown;
  #objectBytes = 0;
  #blanks: Buffer | undefined;
  /** Pieces of a body that is one object. */
  #object: Buffer[] = [];
  /** Undefined for what is no message that could be sent back. */
  #aggregator: MessageAggregator | undefined = new MessageAggregator();

  /** @returns what is to be read of the chunk, and as what */
  begin(chunk: Buffer): { readonly bytes: Buffer; readonly isObject: boolean | undefined } {
    if (this.isObject !== undefined) return { bytes: chunk, isObject: this.isObject };
    const bytes = this.#blanks === undefined ? chunk : Buffer.concat([this.#blanks, chunk]);
    this.#blanks = bytes;
    if (bytes.length <= blanksMax && bytes.every(isBlank)) return { bytes, isObject: undefined };
    this.#blanks = undefined;
    this.isObject = startsObject(bytes);
    return { bytes, isObject: this.isObject };
  }

  /** Something of one object waits. */
  get holdsObject(): boolean {
    return this.#object.length > 0;
  }

  /** @returns bytes of the object so far */
  keepObject(bytes: Buffer): number {
    this.#object.push(bytes);
    this.#objectBytes += bytes.length;
    return this.#objectBytes;
  }

  consumeObject(): Buffer {
    const bytes = Buffer.concat(this.#object);
    this.#object = [];
    return bytes;
  }

  forget(): void {
    this.#aggregator = undefined;
  }

  /** @returns whether it is a start that was told before */
  add({ type, json }: TypedEvent): { readonly isRepeated: boolean } {
    if (type === "message_start") {
      const id = member(json["message"], "id");
      if (this.starts > 0 && id === this.#id) return { isRepeated: true };
      this.starts += 1;
      this.#id = id;
    }
    if (type === "message_stop") this.isWhole = true;
    this.#mergeUsage(type, json);
    try {
      this.#aggregator?.add({ name: type, json });
    } catch (error) {
      if (!(error instanceof InvalidReply)) throw error;
      // Its reader judges it; nobody can go on from it.
      this.#aggregator = undefined;
    }
    return { isRepeated: false };
  }

  /** What a message took to produce only its end says: the filter takes the start's number for none as well. */
  #mergeUsage(type: string, json: JsonObject): void {
    if (type !== "message_start") {
      this.usage = mergeUsage(this.usage, json["usage"]);
      return;
    }
    const usage = member(json["message"], "usage");
    if (isObject(usage)) this.usage = mergeUsage(this.usage, { ...usage, output_tokens: null });
  }

  /** @returns undefined for a message that is not paused, or that nobody can go on from */
  paused(): PausedMessage | undefined {
    // Without the count of what it produced nobody knows what is left of the cap.
    if (this.held.length === 0 || !this.isWhole || typeof this.usage?.["output_tokens"] !== "number") return undefined;
    const message = this.#whole();
    if (message?.["stop_reason"] !== pauseReason) return undefined;
    // The provider refuses an empty text, also where it said it.
    const content = asList(message["content"]).filter((block) => member(block, "text") !== "");
    const waitsForClient = content.some((block) => member(block, "type") === "tool_use");
    if (content.length === 0 || waitsForClient) return undefined;
    return { content, containerId: member(message["container"], "id") };
  }

  #whole(): JsonObject | undefined {
    try {
      return this.#aggregator?.whole().reply;
    } catch (error) {
      if (error instanceof InvalidReply) return undefined;
      throw error;
    }
  }
}

/** White space, and bytes of a byte order mark. */
function isBlank(byte: number): boolean {
  return byte <= 0x20 || byte === 0xef || byte === 0xbb || byte === 0xbf;
}
