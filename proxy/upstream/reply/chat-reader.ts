/** Reads the reply to a chat call: in the client's own format, or translated to it. */
import type { ChatCall, ReplyReading, StreamFilter, UpstreamFormat } from "#proxy/formats/format";
import type { ProxyLimits } from "#proxy/limits";
import type { ReplyBridge } from "#proxy/translate/reply-bridge";
import type { Translation } from "#proxy/translate/translation";
import type { ReplyReader, StreamReader } from "./reply-reader.ts";

/** What was asked, and how. */
export interface ChatExchange {
  /** Spoken with the upstream. */
  readonly format: UpstreamFormat;
  /** As the upstream reads it. */
  readonly call: ChatCall;
  /** Undefined where both sides speak one format. */
  readonly translation: Translation | undefined;
  readonly bridge: () => ReplyBridge;
}

export class ChatReader implements ReplyReader, StreamReader {
  readonly #exchange: ChatExchange;
  readonly #limits: Pick<ProxyLimits, "eventBytesMax" | "replyBodyBytesMax">;

  constructor(exchange: ChatExchange, limits: Pick<ProxyLimits, "eventBytesMax" | "replyBodyBytesMax">) {
    this.#exchange = exchange;
    this.#limits = limits;
  }

  get contentType(): string {
    const { format, call } = this.#exchange;
    return format.contentType(call);
  }

  get streams(): StreamReader {
    return this;
  }

  get isBridged(): boolean {
    return this.#exchange.translation !== undefined;
  }

  readReply(body: Buffer): ReplyReading {
    return this.#exchange.format.readReply(body);
  }

  /** The upstream format's own, inside a stream translator where the formats differ. */
  createFilter(waitsForUsage: boolean): StreamFilter {
    const { translation } = this.#exchange;
    const { eventBytesMax, replyBodyBytesMax } = this.#limits;
    return (
      translation?.createStreamFilter(eventBytesMax, replyBodyBytesMax, waitsForUsage) ?? this.createOwnFilter(false)
    );
  }

  createOwnFilter(isCollected: boolean): StreamFilter {
    const { format, call } = this.#exchange;
    return format.createStreamFilter(isCollected ? asCollected(call) : call, this.#limits.eventBytesMax);
  }

  bridge(): ReplyBridge {
    return this.#exchange.bridge();
  }
}

function asCollected(call: ChatCall): ChatCall {
  const { endpoint } = call;
  const read = endpoint.geminiStream === undefined ? endpoint : { ...endpoint, geminiStream: "sse" as const };
  return { ...call, endpoint: read, stream: true, wantsStreamUsage: true };
}
