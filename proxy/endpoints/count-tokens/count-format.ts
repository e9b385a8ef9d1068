/** Writes an upstream's request for a token count and reads its reply, in the two formats that can count. */

import { classifyErrorEvent } from "#proxy/formats/classify-error";
import type { ReplyReading } from "#proxy/formats/format";
import { nothingProduced } from "#proxy/formats/stream/produced";
import { parseJsonText } from "#proxy/json/json-text";
import { isObject, type JsonObject, member, parseJson } from "#proxy/json/json-value";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { zeroUsage } from "#proxy/settle/usage";
import type { ReplyBridge } from "#proxy/translate/reply-bridge";
import type { ReplyReader } from "#proxy/upstream/reply/reply-reader";

export type CountingFormat = Extract<ChatWireFormat, "Messages" | "GenerateContent">;

export function canCount(format: ChatWireFormat): format is CountingFormat {
  return format === "Messages" || format === "GenerateContent";
}

/** What a counter of messages does not take. */
const uncounted = new Set([
  "max_tokens",
  "stream",
  "metadata",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "service_tier",
]);

/** @param chatBody a body of the format's chat call, edited for its channel */
export function countBody(format: CountingFormat, chatBody: Buffer, upstreamModel: string): Buffer {
  const parsed = parseJsonText(chatBody.toString("utf8"));
  const body: JsonObject = isObject(parsed) ? parsed : {};
  if (format === "GenerateContent") {
    return Buffer.from(JSON.stringify({ generateContentRequest: { model: `models/${upstreamModel}`, ...body } }));
  }
  return Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(body).filter(([name]) => !uncounted.has(name)))));
}

/** @returns undefined when the body tells no number */
export function readTokenCount(format: CountingFormat, body: Buffer): number | undefined {
  const json = parseJson(body.toString("utf8"));
  const count = member(json, format === "Messages" ? "input_tokens" : "totalTokens");
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** Reads the reply of a counter: one number, never a stream. */
export class CountReader implements ReplyReader {
  readonly isBridged = false;
  readonly #format: CountingFormat;
  readonly #chat: ReplyReader;

  /** @param chat reads what is no count as the chat format would */
  constructor(format: CountingFormat, chat: ReplyReader) {
    this.#format = format;
    this.#chat = chat;
  }

  get contentType(): string {
    return this.#chat.contentType;
  }

  readReply(body: Buffer): ReplyReading {
    const isCount = readTokenCount(this.#format, body) !== undefined;
    return {
      usage: zeroUsage,
      error: isCount ? undefined : classifyErrorEvent(parseJson(body.toString("utf8"))),
      produced: () => nothingProduced,
    };
  }

  bridge(): ReplyBridge {
    return this.#chat.bridge();
  }
}

/** The response in the client's format. */
export function renderCount(format: CountingFormat, tokens: number): Buffer {
  return Buffer.from(JSON.stringify(format === "Messages" ? { input_tokens: tokens } : { totalTokens: tokens }));
}
