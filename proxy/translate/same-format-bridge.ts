/**
 * Bridges streaming and not streaming where client and upstream speak one format: it rearranges the reply without
 * translating it.
 */

import type { Aggregation, ReplayContext } from "#proxy/formats/aggregate/aggregation";
import { readEvents } from "#proxy/formats/aggregate/read-events";
import { chatCompletionsAggregation } from "#proxy/formats/chat-completions/translate/aggregate/aggregation";
import type { ReplyReading, UpstreamFormat } from "#proxy/formats/format";
import { generateContentAggregation } from "#proxy/formats/generate-content/translate/aggregate/aggregation";
import { messagesAggregation } from "#proxy/formats/messages/translate/aggregate/aggregation";
import { upstreamFormats } from "#proxy/formats/registry";
import { responsesAggregation } from "#proxy/formats/responses/translate/aggregate/aggregation";
import type { JsonObject } from "#proxy/json/json-value";
import { parseBody } from "#proxy/neutral/parse-body";
import { InvalidReply } from "#proxy/neutral/reply";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import type { ReplyBridge, WholeReply } from "./reply-bridge.ts";

const aggregations: Readonly<Record<ChatWireFormat, Aggregation>> = {
  ChatCompletions: chatCompletionsAggregation,
  Responses: responsesAggregation,
  Messages: messagesAggregation,
  GenerateContent: generateContentAggregation,
};

/** Events repeat ids, and what was told in pieces is told whole at the end: five times the size of a reply is common. */
const growthMax = 8;
/** Of little pieces most of a stream is its events. */
const smallReplyBytes = 1024 * 1024;

export class SameFormatBridge implements ReplyBridge {
  readonly #context: ReplayContext;
  readonly #format: UpstreamFormat;
  readonly #ownFormat: Aggregation;
  #last: { readonly body: Buffer; readonly json: JsonObject } | undefined;

  constructor(context: ReplayContext) {
    const { format } = context.call.endpoint;
    this.#context = context;
    this.#format = upstreamFormats[format];
    this.#ownFormat = aggregations[format];
  }

  readReply(body: Buffer): ReplyReading {
    return this.#format.readReply(body, this.#parsed(body));
  }

  /** @param body events: one object is what such a client gets, and never comes here */
  translateReply(body: Buffer): WholeReply {
    const { reply, lost } = this.#ownFormat.aggregateStream(readEvents(body));
    return { body: Buffer.from(JSON.stringify(reply)), lost };
  }

  /** @param body one object: events are what such a client gets, and never come here */
  streamOfReply(body: Buffer): readonly Buffer[] {
    const frames: Buffer[] = [];
    const bytesMax = growthMax * Math.max(body.length, smallReplyBytes);
    let bytes = 0;
    for (const text of this.#ownFormat.replayReply(this.#parsed(body), this.#context)) {
      const frame = Buffer.from(text);
      bytes += frame.length;
      if (bytes > bytesMax)
        throw new InvalidReply(`the reply is over ${growthMax} times as large when it is written as a stream`);
      frames.push(frame);
    }
    return frames;
  }

  /** A body is read for what it costs and then for what it says: parsed once for both. */
  #parsed(body: Buffer): JsonObject {
    if (this.#last?.body !== body) this.#last = { body, json: parseBody(body) };
    return this.#last.json;
  }
}
