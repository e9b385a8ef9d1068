/**
 * Reads one part of a client's content (docs/design/generate-content.md 3.2); it refuses unknown parts and never drops
 * them.
 */

import { readSignature } from "#proxy/formats/generate-content/translate/thought-signature";
import { asText, isObject, type JsonObject } from "#proxy/json/json-value";
import type { HostedPart, MediaPart, ReasoningPart, TextPart } from "#proxy/neutral/conversation";
import { cleanBase64, mediaFromBase64 } from "#proxy/neutral/media/data-url";
import {
  camelCase,
  either,
  enumName,
  notCarried,
  objectOf,
  textOf,
  unmappedMembers,
  wrongType,
  wrongValue,
} from "./members.ts";

interface Found<Kind extends string> {
  readonly kind: Kind;
  /** The call or result itself. */
  readonly value: JsonObject;
  /** The part that holds it. */
  readonly part: JsonObject;
  readonly where: string;
}
/** A call or a result, whose ids can only be told when the whole turn is known. */
export type FoundCall = Found<"functionCall">;
export type FoundResponse = Found<"functionResponse">;

export type FoundPart = TextPart | ReasoningPart | MediaPart | HostedPart | FoundCall | FoundResponse;

const dataMembers = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
] as const;

/** Members that may stand beside the data. */
const siblings = new Set([...["thought", "thoughtSignature", "videoMetadata", "mediaResolution"]]);
const knownMembers = new Set<string>([...dataMembers, ...siblings]);
const responseMembers = new Set(["id", "name", "response", "parts"]);

/**
 * @param unmapped gets the paths of members that have no neutral place
 * @throws GatewayError naming the part
 */
export function readPart(value: unknown, where: string, unmapped: string[]): FoundPart {
  if (typeof value === "string") return { kind: "text", text: value, where };
  if (!isObject(value)) throw wrongType(where, "an object");
  if (either(value, "videoMetadata") !== undefined) unmapped.push(`${where}.videoMetadata`);
  if (hasUnsayableDetail(value)) unmapped.push(`${where}.mediaResolution`);
  const present = dataMembers.filter((name) => either(value, name) !== undefined);
  const [kind] = present;
  if (present.length > 1) throw wrongValue(where, `has several kinds of data at once: ${present.join(", ")}.`);
  if (kind === undefined) {
    // A signature alone stands on an otherwise empty text.
    if (either(value, "thoughtSignature") !== undefined) return readText(value, "", where);
    const unknown = Object.keys(value).find((name) => !knownMembers.has(camelCase(name)));
    if (unknown !== undefined) throw wrongValue(`${where}.${unknown}`, "is not a known kind of content.");
    throw wrongValue(where, "has no data.");
  }
  unmapped.push(...unmappedMembers(value, knownMembers, where));
  const response = objectOf(value, "functionResponse", where);
  if (response !== undefined) {
    unmapped.push(...unmappedMembers(response, responseMembers, `${where}.functionResponse`));
  }
  return readData(kind, value, where);
}

function readData(kind: (typeof dataMembers)[number], part: JsonObject, where: string): FoundPart {
  switch (kind) {
    case "text":
      return readText(part, textOf(part, "text", where) ?? "", where);
    case "inlineData":
      return withDetail(readInlineData(objectOf(part, kind, where) ?? {}, `${where}.inlineData`), part);
    case "fileData":
      return withDetail(readFileData(objectOf(part, kind, where) ?? {}, `${where}.fileData`), part);
    case "functionCall":
    case "functionResponse":
      return { kind, value: objectOf(part, kind, where) ?? {}, part, where: `${where}.${kind}` };
    case "executableCode":
    case "codeExecutionResult":
    case "toolCall":
    case "toolResponse":
      return { kind: "hosted", type: kind, where: `${where}.${kind}` };
    default:
      return kind satisfies never;
  }
}

function readText(part: JsonObject, text: string, where: string): TextPart | ReasoningPart {
  const states = readSignature(either(part, "thoughtSignature"));
  return {
    kind: part["thought"] === true ? "reasoning" : "text",
    text,
    where,
    ...(states.length > 0 ? { states } : {}),
  };
}

/** `{mimeType, data}`; also inside of a result's parts. */
export function readInlineData(data: JsonObject, where: string): MediaPart {
  const mime = mimeOf(data, where);
  if (mime === undefined) throw wrongValue(`${where}.mimeType`, "must name the type of the data.");
  const text = textOf(data, "data", where);
  const base64 = text === undefined || text === "" ? undefined : cleanBase64(text);
  if (base64 === undefined) throw wrongValue(`${where}.data`, "must be base64.");
  return { ...mediaFromBase64(base64, mime, mediaOf(mime)), where };
}

/** A file that this account holds at Google, as its own name or as an address. */
const accountFile = /^(?:files\/|https?:\/\/[^/]*googleapis\.com\/(?:[^?#]*\/)?files\/)/i;
const videoSite = /^https?:\/\/(?:www\.|m\.)?(?:youtube\.com|youtu\.be)\//i;

function readFileData(data: JsonObject, where: string): MediaPart {
  const uri = textOf(data, "fileUri", where) ?? "";
  const mime = mimeOf(data, where);
  const media = videoSite.test(uri) ? "video" : mediaOf(mime ?? mimeOfName(uri));
  const part = { kind: "media", media, where, ...(mime === undefined ? {} : { mime }) } as const;
  if (accountFile.test(uri)) return { ...part, source: { type: "file", owner: "google", id: uri } };
  if (/^https?:\/\//i.test(uri)) return { ...part, source: { type: "url", url: uri } };
  if (/^gs:\/\//i.test(uri)) throw notCarried(`${where}.fileUri`);
  throw wrongValue(`${where}.fileUri`, "must be the address of a file.");
}

/** Lower case and without parameters; undefined when absent. */
function mimeOf(data: JsonObject, where: string): string | undefined {
  return textOf(data, "mimeType", where)?.split(";", 1)[0]?.trim().toLowerCase() || undefined;
}

function mediaOf(mime: string | undefined): MediaPart["media"] {
  const top = mime?.split("/", 1)[0];
  return top === undefined || top === "image" ? "image" : top === "audio" || top === "video" ? top : "document";
}

/** An address without a type is an image, unless its ending says otherwise. */
function mimeOfName(uri: string): string | undefined {
  const ending = /\.([a-z0-9]+)(?:[?#]|$)/i.exec(uri)?.[1]?.toLowerCase() ?? "";
  if (["pdf", "txt", "csv", "md", "html", "json"].includes(ending)) return "application/octet-stream";
  if (["mp3", "wav", "flac", "ogg", "aac", "aiff"].includes(ending)) return "audio/*";
  return ["mp4", "mov", "webm", "mpeg", "avi"].includes(ending) ? "video/*" : undefined;
}

/** `mediaResolution` as OpenAI's detail: a level, or an object with one. */
function withDetail(media: MediaPart, part: JsonObject): MediaPart {
  const detail = /(LOW|HIGH)$/.exec(levelOf(part))?.[1]?.toLowerCase();
  return detail === undefined ? media : { ...media, detail };
}

/** Names by their numbers. */
const resolutions = ["UNSPECIFIED", "LOW", "MEDIUM", "HIGH", "ULTRA_HIGH"] as const;

/** Empty when there is none. */
function levelOf(part: JsonObject): string {
  const value = either(part, "mediaResolution");
  return asText(enumName(isObject(value) ? value["level"] : value, resolutions));
}

/** Between low and high nobody else has a word. */
function hasUnsayableDetail(part: JsonObject): boolean {
  const level = levelOf(part);
  return level !== "" && !/(?:LOW|HIGH|UNSPECIFIED)$/.test(level);
}
