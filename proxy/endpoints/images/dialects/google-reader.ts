/**
 * Reads replies of Google's formats and writes the interface's own responses of them. A call for several pictures has
 * several replies, which come as one JSON list (`proxy/upstream/repeated-attempt.ts`).
 */

import type { ImageCall } from "#proxy/endpoints/images/call/image-call";
import type { ImageContext } from "#proxy/endpoints/images/call/image-context";
import { tokensOfImage } from "#proxy/endpoints/images/replies/image-tokens";
import { countKinds, sumUsage } from "#proxy/endpoints/images/replies/read-images";
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
import type { TokenUsage } from "#proxy/settle/usage";
import type { ReplyBridge, WholeReply } from "#proxy/translate/reply-bridge";
import type { ReplyReader } from "#proxy/upstream/reply/reply-reader";

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

export class GoogleImageReader implements ReplyReader, ReplyBridge {
  readonly contentType = "application/json";
  readonly isBridged = true;
  readonly #call: ImageCall;
  readonly #context: ImageContext;
  readonly #read: (reply: JsonObject) => GoogleReply | undefined;

  /** @param read undefined for what is no reply of the format */
  constructor(call: ImageCall, context: ImageContext, read: (reply: JsonObject) => GoogleReply | undefined) {
    this.#call = call;
    this.#context = context;
    this.#read = read;
  }

  bridge(): ReplyBridge {
    return this;
  }

  /** @throws InvalidReply for what is neither a reply nor an error */
  readReply(body: Buffer): ReplyReading {
    const pictures: GooglePicture[] = [];
    let usage: TokenUsage | undefined;
    let error: UpstreamError | undefined;
    for (const reply of repliesIn(body)) {
      const read = (reply["error"] ?? undefined) === undefined ? this.#read(reply) : undefined;
      pictures.push(...(read?.pictures ?? []));
      usage = sumUsage(usage, read?.usage);
      error ??= errorOf(reply, read);
    }
    const kinds = pictures.map(() => this.#context.chargedKind({ size: undefined, quality: undefined }));
    const imageTokens = kinds.reduce((sum, kind) => sum + tokensOfImage(kind), 0);
    return {
      usage,
      units: { images: countKinds(kinds) },
      error,
      produced: () => ({ ...nothingProduced, imageTokens }),
    };
  }

  translateReply(body: Buffer): WholeReply {
    return { body: writeImages(this.#made(body)), lost: [] };
  }

  streamOfReply(body: Buffer): readonly Buffer[] {
    return writeImageEvents(this.#made(body), this.#context.eventPrefix);
  }

  #made(body: Buffer): MadeImages {
    const replies = repliesIn(body).map((reply) => this.#read(reply));
    const pictures = replies.flatMap((reply) => reply?.pictures ?? []).slice(0, this.#call.count);
    const usage = replies.reduce<TokenUsage | undefined>((sum, reply) => sumUsage(sum, reply?.usage), undefined);
    const [first] = pictures;
    return {
      pictures: pictures.map(({ base64 }) => ({ b64_json: base64 })),
      traits: first === undefined ? {} : { output_format: first.mime.replace("image/", "") },
      createdSeconds: this.#context.nowSeconds(),
      usage: usage === undefined ? undefined : writeUsage(usage),
    };
  }
}

function repliesIn(body: Buffer): readonly JsonObject[] {
  const json = parseJson(body.toString("utf8"));
  const replies = Array.isArray(json) ? json : [json];
  if (!replies.every(isObject)) throw new InvalidReply("the reply is no JSON object");
  return replies;
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
