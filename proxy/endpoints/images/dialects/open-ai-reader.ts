/**
 * Reads replies of OpenAI-style image endpoints: they pass as they came. Only where a client that streams gets a whole reply,
 * or one that does not gets a stream, the pictures are written anew.
 */

import type { ImageCall } from "#proxy/endpoints/images/call/image-call";
import type { ImageContext } from "#proxy/endpoints/images/call/image-context";
import { ImageStreamFilter } from "#proxy/endpoints/images/replies/image-stream";
import { tokensOfImage } from "#proxy/endpoints/images/replies/image-tokens";
import { parseImages } from "#proxy/endpoints/images/replies/parse-images";
import { countKinds, isPicture, readImageUsage, sumUsage, toldKind } from "#proxy/endpoints/images/replies/read-images";
import {
  type MadeImages,
  pictureOf,
  traitsOf,
  writeImageEvents,
  writeImages,
  writeUsage,
} from "#proxy/endpoints/images/replies/write-images";
import { readEvents } from "#proxy/formats/aggregate/read-events";
import { classifyErrorEvent } from "#proxy/formats/classify-error";
import type { ReplyReading, StreamFilter } from "#proxy/formats/format";
import { nothingProduced } from "#proxy/formats/stream/produced";
import { asList, asText, isObject, type JsonObject, member, parseJson } from "#proxy/json/json-value";
import { InvalidReply } from "#proxy/neutral/reply";
import type { ImageKind } from "#proxy/settle/image-price";
import type { ReplyBridge, WholeReply } from "#proxy/translate/reply-bridge";
import type { ReplyReader, StreamReader } from "#proxy/upstream/reply/reply-reader";

export class OpenAIImageReader implements ReplyReader, StreamReader, ReplyBridge {
  readonly isBridged = false;
  readonly #call: ImageCall;
  readonly #context: ImageContext;

  constructor(call: ImageCall, context: ImageContext) {
    this.#call = call;
    this.#context = context;
  }

  get contentType(): string {
    return this.#call.stream ? "text/event-stream" : "application/json";
  }

  get streams(): StreamReader {
    return this;
  }

  bridge(): ReplyBridge {
    return this;
  }

  createFilter(): StreamFilter {
    const { chargedKind, eventBytesMax } = this.#context;
    return new ImageStreamFilter(this.#call, chargedKind, eventBytesMax);
  }

  createOwnFilter(): StreamFilter {
    return this.createFilter();
  }

  /** @throws InvalidReply for what is neither a reply with pictures nor an error */
  readReply(body: Buffer): ReplyReading {
    const reply = asReply(parseImages(body));
    const pictures = asList(reply["data"]);
    if (pictures.length === 0 || (reply["error"] ?? undefined) !== undefined) {
      if ((reply["error"] ?? undefined) === undefined) throw new InvalidReply("the reply has no pictures");
      return { usage: undefined, error: classifyErrorEvent(reply), produced: () => nothingProduced };
    }
    if (!pictures.every(isPicture)) throw new InvalidReply("an entry of the reply holds no picture");
    const kinds = pictures.map((picture) => this.#kindOf(reply, picture));
    return {
      usage: readImageUsage(reply, this.#call.isDrawnAsText),
      units: { images: countKinds(kinds.map(this.#context.chargedKind)) },
      error: undefined,
      produced: () => ({ ...nothingProduced, imageTokens: kinds.reduce((sum, kind) => sum + tokensOfImage(kind), 0) }),
    };
  }

  #kindOf(reply: JsonObject, picture: JsonObject): ImageKind {
    const [own, common] = [toldKind(picture), toldKind(reply)];
    return { size: own.size ?? common.size, quality: own.quality ?? common.quality };
  }

  /** @param body events, as of `ReplyBridge` */
  translateReply(body: Buffer): WholeReply {
    const pictures: JsonObject[] = [];
    let usage: ReturnType<typeof readImageUsage>;
    let last: JsonObject = {};
    for (const { json } of readEvents(body)) {
      if (!asText(member(json, "type")).endsWith(".completed")) continue;
      pictures.push(pictureOf(json));
      usage = sumUsage(usage, readImageUsage(json, this.#call.isDrawnAsText));
      last = json;
    }
    const told = usage === undefined ? undefined : writeUsage(usage);
    return { body: writeImages(this.#made(last, pictures, "created_at", told)), lost: [] };
  }

  /** @param body one object, as of `ReplyBridge` */
  streamOfReply(body: Buffer): readonly Buffer[] {
    const reply = readObject(body);
    const pictures = asList(reply["data"]).map(pictureOf);
    return writeImageEvents(this.#made(reply, pictures, "created", reply["usage"]), this.#context.eventPrefix);
  }

  #made(value: JsonObject, pictures: readonly JsonObject[], createdName: string, usage: unknown): MadeImages {
    const created = value[createdName];
    const createdSeconds = typeof created === "number" ? created : this.#context.nowSeconds();
    return { pictures, traits: traitsOf(value), createdSeconds, usage };
  }
}

function readObject(body: Buffer): JsonObject {
  return asReply(parseJson(body.toString("utf8")));
}

function asReply(json: unknown): JsonObject {
  if (!isObject(json)) throw new InvalidReply("the reply is no JSON object");
  return json;
}
