/** Writes parts of a conversation as content of chat messages (docs/design/translation.md 4.4). */
import type { JsonObject } from "#proxy/json/json-value";
import type { CacheHint, MediaPart, TextPart } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import { audioFormat } from "#proxy/neutral/media/audio-format";
import { dataUrl } from "#proxy/neutral/media/data-url";
import { sniffMime } from "#proxy/neutral/media/sniff-mime";
import type { ChatTraits } from "#proxy/neutral/traits/chat-traits";
import { unreachable } from "#proxy/runtime/unreachable";

/** Only pictures and videos go by their address: a file goes as its content (docs/design/translation.md 4.4). */
export function needsDownload({ media, source }: MediaPart): boolean {
  return media === "document" && source.type === "url";
}

export interface ContentWriter {
  readonly traits: ChatTraits;
  readonly losses: Losses;
}

/** One text goes as a text, anything else as a list of parts. */
export function writeContent(parts: readonly (TextPart | MediaPart)[], writer: ContentWriter): string | JsonObject[] {
  const [first] = parts;
  if (parts.length === 1 && first?.kind === "text" && first.cache === undefined) return first.text;
  const written = parts.map((part) => writePart(part, writer));
  const [only] = written;
  const text = only?.["text"];
  return written.length === 1 && typeof text === "string" && Object.keys(only ?? {}).length === 2 ? text : written;
}

function writePart(part: TextPart | MediaPart, writer: ContentWriter): JsonObject {
  const written = part.kind === "text" ? { type: "text", text: part.text } : writeMedia(part, writer);
  return part.cache === undefined ? written : { ...written, ...markOf(part.cache, writer.traits) };
}

/** Vendors that know Anthropic's marks get them, in Anthropic's times (docs/design/translation.md 10). */
export function cacheControl({ ttl }: CacheHint, traits: ChatTraits): JsonObject {
  if (!traits.takesCacheControl) return {};
  const time = ttl === undefined || !Object.hasOwn(timeOfBreakpoint, ttl) ? ttl : timeOfBreakpoint[ttl];
  return { cache_control: { type: "ephemeral", ...(time === undefined ? {} : { ttl: time }) } };
}

const timeOfBreakpoint: Readonly<Record<string, string>> = { "30m": "5m", "12h": "1h" };

/** The mark of a part: OpenAI's own goes back to OpenAI. Elsewhere caching is the provider's own business. */
export function markOf(cache: CacheHint | undefined, traits: ChatTraits): JsonObject {
  if (cache === undefined) return {};
  if (!traits.isOpenAI) return cacheControl(cache, traits);
  const { ttl } = cache;
  return { prompt_cache_breakpoint: { mode: "explicit", ...(ttl === undefined ? {} : { ttl }) } };
}

function writeMedia(part: MediaPart, writer: ContentWriter): JsonObject {
  if (part.wantsCitations === true) writer.losses.drop(`${part.where ?? "messages"}.citations`);
  switch (part.media) {
    case "image":
      return writeImage(part, writer);
    case "document":
      return writeDocument(part, writer);
    case "audio":
      return writeAudio(part, writer);
    case "video":
      return writeVideo(part, writer);
    default:
      return unreachable(part.media);
  }
}

function writeImage(part: MediaPart, writer: ContentWriter): JsonObject {
  const url = urlOf(part) ?? refuse(part, writer);
  return { type: "image_url", image_url: { url, ...(part.detail === undefined ? {} : { detail: part.detail }) } };
}

/** The content's address or data URL; undefined for what a provider keeps, and for text. */
function urlOf({ source, mime }: MediaPart): string | undefined {
  if (source.type === "url") return source.url;
  if (source.type !== "data") return undefined;
  return dataUrl(mime ?? sniffMime(source.base64) ?? "application/octet-stream", source.base64);
}

function refuse(part: MediaPart, { losses }: ContentWriter): never {
  return losses.refuse(part.where ?? "messages", `(${part.media}) is not supported by the selected model.`);
}

/** Files of other kinds than PDF are refused by OpenAI, so text goes as text. */
function writeDocument(part: MediaPart, writer: ContentWriter): JsonObject {
  const { source, mime, filename, title } = part;
  if (source.type === "text") return { type: "text", text: taggedText(part, source.text) };
  if (source.type === "file") {
    if (source.owner !== "openai" || !writer.traits.isOpenAI) return refuse(part, writer);
    return { type: "file", file: { file_id: source.id } };
  }
  // An address that nobody fetched: the format has no place for one.
  if (source.type === "url") return refuse(part, writer);
  if (mime !== undefined && isText(mime)) {
    return { type: "text", text: taggedText(part, Buffer.from(source.base64, "base64").toString("utf8")) };
  }
  if (part.context !== undefined) writer.losses.drop(`${part.where ?? "messages"}.context`);
  const url = urlOf(part) ?? refuse(part, writer);
  return { type: "file", file: { filename: filename ?? title ?? "document.pdf", file_data: url } };
}

function isText(mime: string): boolean {
  return mime.startsWith("text/") || mime === "application/json" || mime === "application/xml";
}

function taggedText({ title, filename, context }: MediaPart, text: string): string {
  const name = title ?? filename;
  const attribute = name === undefined ? "" : ` title="${name.replaceAll('"', "&quot;")}"`;
  return `<document${attribute}>\n${context === undefined ? "" : `${context}\n`}${text}\n</document>`;
}

function writeAudio(part: MediaPart, writer: ContentWriter): JsonObject {
  const { source, mime } = part;
  const format = mime === undefined ? undefined : audioFormat(mime);
  if (source.type !== "data" || format === undefined) return refuse(part, writer);
  if (writer.traits.isOpenAI && format !== "wav" && format !== "mp3") return refuse(part, writer);
  return { type: "input_audio", input_audio: { data: source.base64, format } };
}

/** Several vendors of the format take it, OpenAI does not. */
function writeVideo(part: MediaPart, writer: ContentWriter): JsonObject {
  const url = writer.traits.isOpenAI ? undefined : urlOf(part);
  return { type: "video_url", video_url: { url: url ?? refuse(part, writer) } };
}
