/**
 * Reads and writes files that a model made: pictures by convention of several vendors, audio of OpenAI
 * (docs/design/chat-completions.md 5).
 */
import { asList, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import { dataUrl, parseDataUrl } from "#proxy/neutral/media/data-url";
import { sniffMime } from "#proxy/neutral/media/sniff-mime";
import type { MediaBlock } from "#proxy/neutral/reply";

/** `images` of a message or delta. */
export function readImages(images: unknown): MediaBlock[] {
  return asList(images).flatMap((image) => readImage(image) ?? []);
}

/** An `image_url` part, with its address as an object or bare. */
export function readImage(image: unknown): MediaBlock | undefined {
  const holder = member(image, "image_url");
  const url = typeof holder === "string" ? holder : asText(member(holder, "url"));
  if (url === "") return undefined;
  const data = parseDataUrl(url);
  if (data !== undefined) return { kind: "media", mime: data.mime, base64: data.base64 };
  return { kind: "media", mime: "image/png", url };
}

/** Pieces of base64 that decode on their own, as one. */
export function joinedBase64(pieces: readonly string[]): string {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return only;
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece, "base64"))).toString("base64");
}

/** OpenAI's `audio` of a message; its format is what the request asked for, so the bytes must tell. */
export function readAudio(audio: unknown): MediaBlock | undefined {
  if (!isObject(audio)) return undefined;
  const base64 = asText(audio["data"]);
  if (base64 === "") return undefined;
  const transcript = asText(audio["transcript"]);
  const block = { kind: "media", mime: sniffMime(base64) ?? "audio/l16", base64 } as const;
  return transcript === "" ? block : { ...block, transcript };
}

/** Pictures, and audio by its bytes. */
export function hasPlace(block: MediaBlock): boolean {
  return block.mime.startsWith("image/") || isAudio(block);
}

/** @returns undefined for what is no picture */
export function writeImage({ mime, base64, url }: MediaBlock): JsonObject | undefined {
  if (!mime.startsWith("image/")) return undefined;
  return { type: "image_url", image_url: { url: base64 === undefined ? (url ?? "") : dataUrl(mime, base64) } };
}

/** Audio in place. */
export function isAudio({ mime, base64 }: MediaBlock): boolean {
  return mime.startsWith("audio/") && base64 !== undefined;
}

/** @param data in base64 */
export function writeAudio({ transcript }: MediaBlock, data: string, id: string, nowSeconds: number): JsonObject {
  // Nothing is kept, so it can be referred to no longer than now.
  return { id, data, expires_at: nowSeconds, transcript: transcript ?? "" };
}
