/**
 * Reads replies of Google's formats and writes the interface's own responses of them. A call for several pictures may take
 * several requests (`proxy/upstream/repeated-attempt.ts`).
 */

import type { ImageCall } from "#proxy/endpoints/images/call/image-call";
import type { ImageContext } from "#proxy/endpoints/images/call/image-context";
import { usualGoogleTokens } from "#proxy/endpoints/images/replies/image-tokens";
import { sumUsage } from "#proxy/endpoints/images/replies/read-images";
import {
  type MadeImages,
  writeImageEvents,
  writeImages,
  writeUsage,
} from "#proxy/endpoints/images/replies/write-images";
import { classifyErrorEvent } from "#proxy/formats/classify-error";
import type { ReplyReading, UpstreamError } from "#proxy/formats/format";
import { nothingProduced } from "#proxy/formats/stream/produced";
import { isObject, type JsonObject, parseJson } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import type { ReplyBridge, WholeReply } from "#proxy/translate/reply-bridge";
import type { PartedReply, ReplyReader } from "#proxy/upstream/reply/reply-reader";

/** A picture as Google gives it. */
export interface GooglePicture {
  readonly base64: string;
  readonly mime: string;
}

/** What one reply says. */
export interface GoogleReply {
  readonly pictures: readonly GooglePicture[];
  readonly usage: TokenUsage | undefined;
  /** Why there is no picture, in the provider's word; undefined where it says none. */
  readonly refusal: string | undefined;
}

/** What is told of a dialect's replies. */
export interface GoogleFormat {
  /** Undefined for what is no reply of the format. */
  readonly read: (reply: JsonObject) => GoogleReply | undefined;
  /** So many pictures are asked for with one request at most. */
  readonly picturesOfRequest: number;
}

/** Reads a call's reply, whether it takes one request or several. */
export class GooglePictures implements PartedReply {
  readonly #call: ImageCall;
  readonly #context: ImageContext;
  readonly #format: GoogleFormat;
  /** By the position of their requests. */
  readonly #replies: GoogleReply[] = [];
  readonly #missed: number[] = [];

  constructor(call: ImageCall, context: ImageContext, format: GoogleFormat) {
    this.#call = call;
    this.#context = context;
    this.#format = format;
  }

  readPart(position: number, body: Buffer): ReplyReading {
    const reply = parseJson(body.toString("utf8"));
    if (!isObject(reply)) throw new InvalidReply("the reply is no JSON object");
    const read = (reply["error"] ?? undefined) === undefined ? this.#format.read(reply) : undefined;
    const error = errorOf(reply, read);
    if (read !== undefined && error === undefined) this.#replies[position] = read;
    return { ...this.#readingOf(read === undefined ? [] : [read]), error };
  }

  missPart(position: number): void {
    this.#missed.push(position);
  }

  reading(): ReplyReading {
    const made = this.#made;
    const usual = made.find(({ usage }) => usage !== undefined)?.usage;
    return this.#readingOf([...made, ...this.#missed.map((position) => this.#missedReply(position, usual))]);
  }

  /** What nobody read is taken for what was asked for, and its usage for that of another part. */
  #missedReply(position: number, usage: TokenUsage | undefined): GoogleReply {
    const { picturesOfRequest } = this.#format;
    const count = Math.min(picturesOfRequest, this.#call.count - position * picturesOfRequest);
    return { pictures: Array<GooglePicture>(count).fill({ base64: "", mime: "" }), usage, refusal: undefined };
  }

  get #made(): readonly GoogleReply[] {
    return this.#replies.filter((reply) => reply !== undefined);
  }

  #readingOf(replies: readonly GoogleReply[]): ReplyReading {
    const told = usageOf(replies);
    const kind = this.#context.chargedKind({ size: undefined, quality: undefined });
    const count = replies.reduce((sum, { pictures }) => sum + pictures.length, 0);
    // Whatever quality was asked for: these models know none.
    const imageOutput = count * usualGoogleTokens;
    return {
      usage: told ?? (count === 0 ? undefined : { ...zeroUsage, imageOutput }),
      units: { images: count === 0 ? [] : [{ ...kind, count }] },
      error: undefined,
      produced: () => ({ ...nothingProduced, imageTokens: told?.imageOutput ?? imageOutput }),
    };
  }

  /** The filters of the provider may have left fewer than were asked for: that is told like all that got lost. */
  translate(): WholeReply {
    const made = this.#response();
    return { body: writeImages(made), lost: made.pictures.length < this.#call.count ? ["n"] : [] };
  }

  stream(): readonly Buffer[] {
    return writeImageEvents(this.#response(), this.#context.eventPrefix);
  }

  #response(): MadeImages {
    const pictures = this.#made.flatMap((reply) => reply.pictures).slice(0, this.#call.count);
    const usage = usageOf(this.#made);
    const [first] = pictures;
    return {
      pictures: pictures.map(({ base64 }) => ({ b64_json: base64 })),
      traits: first === undefined ? {} : { output_format: first.mime.replace("image/", "") },
      createdSeconds: this.#context.nowSeconds(),
      usage: usage === undefined ? undefined : writeUsage(usage),
    };
  }
}

function usageOf(replies: readonly GoogleReply[]): TokenUsage | undefined {
  return replies.reduce<TokenUsage | undefined>((sum, { usage }) => sumUsage(sum, usage), undefined);
}

/** Reads a reply to one request. */
export class GoogleImageReader implements ReplyReader, ReplyBridge {
  readonly contentType = "application/json";
  readonly isBridged = true;
  readonly #create: () => GooglePictures;
  #last: { readonly body: Buffer; readonly pictures: GooglePictures } | undefined;

  constructor(call: ImageCall, context: ImageContext, format: GoogleFormat) {
    this.#create = () => new GooglePictures(call, context, format);
  }

  bridge(): ReplyBridge {
    return this;
  }

  /** @throws InvalidReply for what is neither a reply nor an error */
  readReply(body: Buffer): ReplyReading {
    const pictures = this.#create();
    const reading = pictures.readPart(0, body);
    this.#last = { body, pictures };
    return reading;
  }

  missedReply(): ReplyReading {
    const pictures = this.#create();
    pictures.missPart(0);
    return pictures.reading();
  }

  translateReply(body: Buffer): WholeReply {
    return this.#picturesIn(body).translate();
  }

  streamOfReply(body: Buffer): readonly Buffer[] {
    return this.#picturesIn(body).stream();
  }

  #picturesIn(body: Buffer): GooglePictures {
    if (this.#last?.body === body) return this.#last.pictures;
    const pictures = this.#create();
    pictures.readPart(0, body);
    return pictures;
  }
}

/** A reply without a picture is an error: a refusal of the content where the provider says so. */
function errorOf(reply: JsonObject, read: GoogleReply | undefined): UpstreamError | undefined {
  if (read === undefined) {
    if ((reply["error"] ?? undefined) === undefined) throw new InvalidReply("the reply is none of its format");
    return classifyErrorEvent(reply);
  }
  if (read.pictures.length > 0) return undefined;
  const [param, retryAfterMs] = [undefined, undefined];
  if (read.refusal === undefined) {
    return { kind: "upstream_5xx", status: 502, message: "the model made no picture", param, retryAfterMs };
  }
  const message = `The model made no picture: the provider's content policy refused it (${read.refusal}).`;
  return { kind: "policy", status: 400, message, param, retryAfterMs };
}
