/** Bridges the manners where client and upstream speak one format: nothing is translated, only told otherwise. */
import type { ChatFormat, ReplyReading } from "../../protocols/chat-format.ts";
import { chatFormats } from "../../protocols/chat-formats.ts";
import type { JsonObject } from "../../protocols/json-value.ts";
import type { ChatWireFormat } from "../../protocols/wire.ts";
import { chatCompletionsOwnFormat } from "../chat-completions/own-format/own-format.ts";
import { generateContentOwnFormat } from "../generate-content/own-format/own-format.ts";
import { parseBody } from "../json-text.ts";
import { messagesOwnFormat } from "../messages/own-format/own-format.ts";
import { InvalidReply } from "../reply.ts";
import type { ReplyBridge, WholeReply } from "../reply-bridge.ts";
import { responsesOwnFormat } from "../responses/own-format/own-format.ts";
import type { OwnFormat, UnfoldContext } from "./own-format.ts";
import { readEvents } from "./read-events.ts";

const ownFormats: Readonly<Record<ChatWireFormat, OwnFormat>> = {
  ChatCompletions: chatCompletionsOwnFormat,
  Responses: responsesOwnFormat,
  Messages: messagesOwnFormat,
  GenerateContent: generateContentOwnFormat,
};

/** Events repeat ids, and what was told in pieces is told whole at the end: five times of an answer are common. */
const growthMax = 8;
/** Of little pieces most of a stream is its events. */
const smallAnswerBytes = 1024 * 1024;

export class OwnFormatBridge implements ReplyBridge {
  readonly #context: UnfoldContext;
  readonly #format: ChatFormat;
  readonly #ownFormat: OwnFormat;
  #last: { readonly body: Buffer; readonly json: JsonObject } | undefined;

  constructor(context: UnfoldContext) {
    const { format } = context.call.endpoint;
    this.#context = context;
    this.#format = chatFormats[format];
    this.#ownFormat = ownFormats[format];
  }

  readReply(body: Buffer): ReplyReading {
    return this.#format.readReply(body, this.#parsed(body));
  }

  /** @param answer events: one object is what such a client gets, and never comes here */
  translateReply(answer: Buffer): WholeReply {
    const { reply, lost } = this.#ownFormat.foldStream(readEvents(answer));
    return { body: Buffer.from(JSON.stringify(reply)), lost };
  }

  /** @param answer one object: events are what such a client gets, and never come here */
  streamOfReply(answer: Buffer): readonly Buffer[] {
    const frames: Buffer[] = [];
    const bytesMax = growthMax * Math.max(answer.length, smallAnswerBytes);
    let bytes = 0;
    for (const text of this.#ownFormat.unfoldReply(this.#parsed(answer), this.#context)) {
      const frame = Buffer.from(text);
      bytes += frame.length;
      if (bytes > bytesMax) throw new InvalidReply(`told as a stream the answer is over ${growthMax} times as large`);
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
