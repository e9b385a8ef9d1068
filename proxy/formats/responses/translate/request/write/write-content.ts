/** Writes content parts of the responses format (docs/design/translation.md 4.4). */
import type { JsonObject } from "#proxy/json/json-value";
import type { CacheHint, MediaPart, RefusalPart, TextPart } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import { audioFormat } from "#proxy/neutral/media/audio-format";
import { dataUrl } from "#proxy/neutral/media/data-url";
import { unreachable } from "#proxy/runtime/unreachable";

/** Formats of `input_audio`; everything else is refused by the API. */
const audioFormats = new Set(["wav", "mp3"]);

/** @throws GatewayError naming the client's part, for files that only another provider can read */
export function writeInputPart(part: TextPart | RefusalPart | MediaPart, losses: Losses): JsonObject {
  const written = writeBarePart(part, losses);
  return part.cache === undefined ? written : { ...written, ...markOf(part.cache) };
}

/** The end of what later calls have in common; only marks that OpenAI knows come here. */
export function markOf({ ttl }: CacheHint): JsonObject {
  return { prompt_cache_breakpoint: { mode: "explicit", ...(ttl === undefined ? {} : { ttl }) } };
}

function writeBarePart(part: TextPart | RefusalPart | MediaPart, losses: Losses): JsonObject {
  if (part.kind !== "media") return { type: "input_text", text: part.text };
  const { source, where = "input" } = part;
  if (part.wantsCitations === true) losses.drop(`${where}.citations`);
  if (source.type === "text") return { type: "input_text", text: taggedText(part, source.text) };
  if (source.type === "file" && source.owner !== "openai") losses.refuse(where, foreignFile);
  if (part.context !== undefined) losses.drop(`${where}.context`);
  switch (part.media) {
    case "image":
      return { type: "input_image", detail: part.detail ?? "auto", ...imageSource(part) };
    case "document":
      return writeDocument(part);
    case "audio":
      return writeAudio(part, losses);
    case "video":
      return losses.refuse(part.where ?? "input");
    default:
      return unreachable(part.media);
  }
}

const foreignFile = "refers to a file that only another provider can read.";

function imageSource({ source, mime }: MediaPart): JsonObject {
  if (source.type === "file") return { file_id: source.id };
  if (source.type === "url") return { image_url: source.url };
  return { image_url: source.type === "data" ? dataUrl(mime ?? "image/png", source.base64) : "" };
}

function writeDocument({ source, mime, filename, title }: MediaPart): JsonObject {
  if (source.type === "file") return { type: "input_file", file_id: source.id };
  if (source.type === "url") return { type: "input_file", file_url: source.url };
  const name = filename ?? title ?? (mime === undefined || mime === "application/pdf" ? "document.pdf" : "document");
  const data = source.type === "data" ? dataUrl(mime ?? "application/pdf", source.base64) : "";
  return { type: "input_file", filename: name, file_data: data };
}

function writeAudio({ source, mime, where }: MediaPart, losses: Losses): JsonObject {
  const format = audioFormat(mime ?? "");
  if (source.type !== "data" || format === undefined || !audioFormats.has(format)) {
    return losses.refuse(where ?? "input", "is audio of a kind that the selected model's provider cannot read.");
  }
  return { type: "input_audio", input_audio: { data: source.base64, format } };
}

/** A text document as text that says where it begins and ends. */
function taggedText({ title, filename, context }: MediaPart, text: string): string {
  const name = title ?? filename;
  const opening = name === undefined ? "<document>" : `<document title=${JSON.stringify(name)}>`;
  return `${opening}\n${context === undefined ? "" : `${context}\n`}${text}\n</document>`;
}
