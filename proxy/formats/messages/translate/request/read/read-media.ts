/** Reads images and documents of a messages client as neutral parts (docs/design/messages.md 3.1). */
import { asText, type JsonObject, member } from "#proxy/json/json-value";
import type { CacheHint, MediaPart, TextPart } from "#proxy/neutral/conversation";
import { cleanBase64, mediaFromBase64 } from "#proxy/neutral/media/data-url";
import { lastCache } from "#proxy/neutral/turns/cache-marks";
import { readCache, readTextPart, refuseBlock } from "./read-text.ts";
import { listAt, objectAt, optionalTextAt, refuseValue, textAt } from "./refusals.ts";

/** @throws GatewayError for sources of unknown kind and what is no base64 */
export function readImage(block: JsonObject, where: string): MediaPart {
  const part = readSource(objectAt(block["source"], `${where}.source`), "image", `${where}.source`);
  return { ...part, cache: readCache(block), where };
}

/**
 * A document; one whose content is blocks becomes a text document and its images.
 * @throws GatewayError for sources of unknown kind and what is no base64
 */
export function readDocument(block: JsonObject, where: string): (TextPart | MediaPart)[] {
  const source = objectAt(block["source"], `${where}.source`);
  const title = optionalTextAt(block["title"], `${where}.title`);
  const details = {
    title,
    filename: title,
    context: optionalTextAt(block["context"], `${where}.context`),
    wantsCitations: member(block["citations"], "enabled") === true ? true : undefined,
    cache: readCache(block),
    where,
  };
  if (source["type"] !== "content") return [{ ...readSource(source, "document", `${where}.source`), ...details }];
  const { texts, images } = readDocumentContent(source["content"], `${where}.source.content`);
  const text: MediaPart = {
    kind: "media",
    media: "document",
    mime: "text/plain",
    source: { type: "text", text: texts.map(({ text }) => text).join("\n") },
  };
  const cache = details.cache ?? lastCache(texts);
  // Images alone are no document: what is said of it stands before them, and what it ends for the cache ends with them.
  if (texts.length === 0) return [...readTitle(details), ...markLast(images, cache)];
  return [{ ...text, ...details, cache }, ...images];
}

function readTitle({ title, context, where }: Pick<MediaPart, "title" | "context" | "where">): TextPart[] {
  const said = [title ?? "", context ?? ""].filter((words) => words !== "");
  return said.length === 0 ? [] : [{ kind: "text", text: said.join("\n"), where }];
}

function markLast(images: readonly MediaPart[], cache: CacheHint | undefined): MediaPart[] {
  return images.map((image, index) => (index < images.length - 1 ? image : { ...image, cache: image.cache ?? cache }));
}

function readDocumentContent(content: unknown, path: string): { texts: TextPart[]; images: MediaPart[] } {
  if (typeof content === "string") return { texts: [{ kind: "text", text: content }], images: [] };
  const texts: TextPart[] = [];
  const images: MediaPart[] = [];
  for (const [index, value] of listAt(content, path).entries()) {
    const where = `${path}.${index}`;
    const block = objectAt(value, where);
    if (block["type"] === "text") texts.push(readTextPart(block, where));
    else if (block["type"] === "image") images.push(readImage(block, where));
    else refuseBlock(block, where);
  }
  return { texts, images };
}

function readSource(source: JsonObject, media: "image" | "document", path: string): MediaPart {
  const type = textAt(source["type"], `${path}.type`);
  const mime = asText(source["media_type"]).split(";", 1)[0]?.trim().toLowerCase() || undefined;
  switch (type) {
    case "base64": {
      const base64 = cleanBase64(textAt(source["data"], `${path}.data`));
      if (base64 === undefined) return refuseValue(`${path}.data`, "must be base64");
      return mediaFromBase64(base64, mime ?? (media === "document" ? "application/pdf" : undefined), media);
    }
    case "url":
      return urlPart(textAt(source["url"], `${path}.url`), media, `${path}.url`);
    case "file": {
      const id = textAt(source["file_id"], `${path}.file_id`);
      return { kind: "media", media, source: { type: "file", owner: "anthropic", id } };
    }
    case "text": {
      const text = textAt(source["data"], `${path}.data`);
      return { kind: "media", media: "document", mime: mime ?? "text/plain", source: { type: "text", text } };
    }
    default:
      return refuseValue(`${path}.type`, "is not a known kind of source");
  }
}

function urlPart(url: string, media: "image" | "document", path: string): MediaPart {
  if (!/^https?:\/\//i.test(url)) return refuseValue(path, "must be an http(s) URL");
  const mime = media === "document" ? "application/pdf" : undefined;
  return { kind: "media", media, mime, source: { type: "url", url } };
}
