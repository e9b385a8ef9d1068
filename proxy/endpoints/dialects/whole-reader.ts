/** Reads a reply that is one JSON value and is never streamed, and makes the client's response of it. */
import { classifyErrorEvent } from "#proxy/formats/classify-error";
import type { ReplyReading } from "#proxy/formats/format";
import { nothingProduced } from "#proxy/formats/stream/produced";
import { parseJson } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import type { ChargedUnits } from "#proxy/settle/price";
import type { TokenUsage } from "#proxy/settle/usage";
import type { ReplyBridge, WholeReply } from "#proxy/translate/reply-bridge";
import type { ReplyReader } from "#proxy/upstream/reply/reply-reader";
import { tellsError } from "./error-members.ts";

/** What a reply says. */
export interface WholeReading {
  /** Undefined where the reply reports none. */
  readonly usage: TokenUsage | undefined;
  readonly units?: ChargedUnits | undefined;
  /**
   * The client's response: written when the call has been judged, since not every reply gets that far.
   * @param told usage that was counted, where the reply reports none and the response must
   * @throws InvalidReply
   */
  readonly response: (told?: TokenUsage) => Buffer;
  /** Parts of the reply that the response cannot carry. */
  readonly lost?: readonly string[];
}

export class WholeReader implements ReplyReader {
  readonly contentType = "application/json";
  readonly isBridged = true;
  readonly #read: (body: Buffer) => WholeReading | undefined;
  #last: { readonly body: Buffer; readonly reading: WholeReading } | undefined;

  /** @param read undefined for a body that is no reply of the dialect: an error in disguise, or nothing that is known */
  constructor(read: (body: Buffer) => WholeReading | undefined) {
    this.#read = read;
  }

  readReply(body: Buffer): ReplyReading {
    const reading = this.#read(body);
    if (reading === undefined) return { usage: undefined, error: errorIn(body), produced: () => nothingProduced };
    this.#last = { body, reading };
    const { usage, units } = reading;
    return { usage, units, error: undefined, produced: () => nothingProduced };
  }

  bridge(): ReplyBridge {
    return {
      readReply: (body) => this.readReply(body),
      translateReply: (body, told) => this.#respond(body, told),
      streamOfReply: (body) => [this.#respond(body).body],
    };
  }

  #respond(body: Buffer, told?: TokenUsage): WholeReply {
    if (this.#last?.body !== body) this.readReply(body);
    const reading = this.#last?.reading;
    if (reading === undefined) throw new InvalidReply("the reply is none of its format");
    return { body: reading.response(told), lost: reading.lost ?? [] };
  }
}

/** @throws InvalidReply for what is not even an error */
function errorIn(body: Buffer): NonNullable<ReplyReading["error"]> {
  const json = parseJson(body.toString("utf8"));
  if (!tellsError(json)) throw new InvalidReply("the reply is none of its format");
  return classifyErrorEvent(json);
}
