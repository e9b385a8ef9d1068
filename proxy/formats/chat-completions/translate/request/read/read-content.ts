/** Reads the content of a chat message: a text, or a list of parts (docs/design/chat-completions.md 3). */
import { asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { CacheHint, MediaPart, RefusalPart, TextPart } from "#proxy/neutral/conversation";
import { audioMime } from "#proxy/neutral/media/audio-format";
import { cleanBase64, mediaFromBase64, mediaFromUrl, parseDataUrl } from "#proxy/neutral/media/data-url";
import { missing, unsupported, wrongType, wrongValue } from "./refusals.ts";

export type ContentPart = TextPart | RefusalPart | MediaPart;

/**
 * @param where path of the content in the body
 * @returns nothing for absent content
 * @throws GatewayError naming the part that is of no known kind
 */
export function readContent(content: unknown, where: string): ContentPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return [{ kind: "text", text: content, where }];
  if (!Array.isArray(content)) throw wrongType(where, "a string or an array of parts");
  return content.map((part: unknown, index) => readPart(part, `${where}[${index}]`));
}

function readPart(part: unknown, where: string): ContentPart {
  // Some clients list bare texts.
  if (typeof part === "string") return { kind: "text", text: part, where };
  if (!isObject(part)) throw wrongType(where, "an object");
  const cache = readCacheHint(part);
  return cache === undefined ? { ...readBarePart(part, where), where } : { ...readBarePart(part, where), where, cache };
}

function readBarePart(part: JsonObject, where: string): ContentPart {
  const type = part["type"];
  switch (type) {
    case "text":
    case "input_text":
    case "output_text":
      return { kind: "text", text: requireText(part, "text", where) };
    case "refusal":
      return { kind: "refusal", text: requireText(part, "refusal", where) };
    case "image_url":
    case "input_image":
      return readImage(part, where);
    case "video_url":
      return mediaFromUrl(
        requireUrl(part["video_url"], `${where}.video_url`),
        "video",
        urlPath(part, "video_url", where),
      );
    case "input_audio":
      return readAudio(part["input_audio"], `${where}.input_audio`);
    case "file":
      return readFile(part["file"], `${where}.file`);
    case undefined:
      if (typeof part["text"] === "string") return { kind: "text", text: part["text"] };
      throw missing(`${where}.type`);
    default:
      throw wrongValue(`${where}.type`, "is a type of content that the selected model does not support");
  }
}

function requireText(part: JsonObject, name: string, where: string): string {
  const text = part[name];
  if (typeof text === "string") return text;
  throw text === undefined || text === null ? missing(`${where}.${name}`) : wrongType(`${where}.${name}`, "a string");
}

/** An object with `url`, or the bare text that some clients send. */
function requireUrl(value: unknown, where: string): string {
  if (typeof value === "string") return value;
  const url = member(value, "url");
  if (typeof url === "string") return url;
  throw url === undefined ? missing(`${where}.url`) : wrongType(`${where}.url`, "a string");
}

function urlPath(part: JsonObject, name: string, where: string): string {
  return typeof part[name] === "string" ? `${where}.${name}` : `${where}.${name}.url`;
}

function readImage(part: JsonObject, where: string): MediaPart {
  const image = part["image_url"];
  const media = mediaFromUrl(requireUrl(image, `${where}.image_url`), "image", urlPath(part, "image_url", where));
  const detail = member(image, "detail") ?? part["detail"];
  return typeof detail === "string" && detail !== "" ? { ...media, detail } : media;
}

function readAudio(audio: unknown, where: string): MediaPart {
  const data = member(audio, "data");
  if (typeof data !== "string")
    throw data === undefined ? missing(`${where}.data`) : wrongType(`${where}.data`, "a string");
  const parsed = parseDataUrl(data);
  const base64 = parsed?.base64 ?? cleanBase64(data);
  if (base64 === undefined || base64 === "") throw wrongValue(`${where}.data`, "must be base64");
  const format = member(audio, "format");
  const mime = typeof format === "string" ? audioMime(format) : parsed?.mime;
  if (mime === undefined) throw wrongValue(`${where}.format`, 'must name an audio format, for example "wav" or "mp3"');
  return { kind: "media", media: "audio", mime, source: { type: "data", base64 } };
}

function readFile(file: unknown, where: string): MediaPart {
  const media = readFileSource(file, where);
  const filename = member(file, "filename");
  return typeof filename === "string" && filename !== "" ? { ...media, filename } : media;
}

function readFileSource(file: unknown, where: string): MediaPart {
  if (!isObject(file)) throw file === undefined ? missing(where) : wrongType(where, "an object");
  const data = asText(file["file_data"]);
  if (data !== "") return mediaOfFile(data, asText(file["filename"]), `${where}.file_data`);
  const url = asText(file["file_url"]);
  if (url !== "") return mediaFromUrl(url, "document", `${where}.file_url`);
  const id = asText(file["file_id"]);
  if (id !== "") return { kind: "media", media: "document", source: { type: "file", owner: "openai", id } };
  throw missing(`${where}.file_data`);
}

const mimeByExtension: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  json: "application/json",
};

/** Bare base64 is told by its first bytes, else by the name of the file. */
function mediaOfFile(data: string, filename: string, where: string): MediaPart {
  if (/^(?:data|https?):/i.test(data)) return mediaFromUrl(data, "document", where);
  const extension = filename.slice(filename.lastIndexOf(".") + 1).toLowerCase();
  const mime = Object.hasOwn(mimeByExtension, extension) ? mimeByExtension[extension] : undefined;
  const base64 = mime === undefined ? undefined : cleanBase64(data);
  return base64 === undefined ? mediaFromUrl(data, "document", where) : mediaFromBase64(base64, mime, "document");
}

/** `cache_control` of other vendors, or OpenAI's breakpoint, on a part, a message or a tool. */
export function readCacheHint(holder: JsonObject): CacheHint | undefined {
  const control = holder["cache_control"];
  const hint = control ?? holder["prompt_cache_breakpoint"];
  if (!isObject(hint)) return undefined;
  const ttl = asText(hint["ttl"]);
  return { ...(ttl === "" ? {} : { ttl }), ...(hint === control ? {} : { isBreakpoint: true }) };
}

/** Content that may only be text. @throws GatewayError naming the part that is not */
export function readTextContent(content: unknown, where: string): TextPart[] {
  return readContent(content, where).map((part) => {
    if (part.kind === "text") return part;
    throw unsupported(part.where ?? where, "must be text in a message of this role");
  });
}
