/** Reads the content parts of input items (docs/design/responses.md 3). */

import {
  listOf,
  notCarried,
  optionalText,
  present,
  requiredText,
  wrongType,
  wrongValue,
} from "#proxy/formats/responses/translate/request/body-fields";
import { isObject, type JsonObject } from "#proxy/json/json-value";
import type { CacheHint, MediaPart, RefusalPart, TextPart } from "#proxy/neutral/conversation";
import { audioMime } from "#proxy/neutral/media/audio-format";
import { cleanBase64, mediaFromUrl } from "#proxy/neutral/media/data-url";

export type ContentPart = TextPart | RefusalPart | MediaPart;

/**
 * Content of a message or of a tool's result: a text, or parts.
 * @throws GatewayError naming a part of unknown type or shape
 */
export function readContent(item: JsonObject, name: string, where: string): readonly ContentPart[] {
  const path = `${where}.${name}`;
  const value = present(item, name);
  if (value === undefined) return [];
  if (typeof value === "string") return [{ kind: "text", text: value, where: path }];
  if (!Array.isArray(value)) return wrongType(path, "a string or an array of parts");
  return value.map((part, index) => readPart(part, `${path}[${index}]`));
}

function readPart(part: unknown, where: string): ContentPart {
  if (!isObject(part)) return wrongType(where, "an object");
  const read = readPartOfType(part, where);
  return present(part, "prompt_cache_breakpoint") === undefined ? read : { ...read, cache: cacheHint(part) };
}

function readPartOfType(part: JsonObject, where: string): ContentPart {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
      return { kind: "text", text: requiredText(part, "text", `${where}.text`), where };
    case "refusal":
      return { kind: "refusal", text: requiredText(part, "refusal", `${where}.refusal`), where };
    case "input_image":
      return readImage(part, where);
    case "input_file":
      return readFile(part, where);
    case "input_audio":
      return readAudio(part, where);
    default:
      return wrongValue(`${where}.type`, "the gateway does not know this type of content part.");
  }
}

/** The time to live, where the client gives one (`prompt_cache_breakpoint`). */
function cacheHint(part: JsonObject): CacheHint {
  const breakpoint = present(part, "prompt_cache_breakpoint");
  const ttl = isObject(breakpoint) ? breakpoint["ttl"] : undefined;
  return { ...(typeof ttl === "string" ? { ttl } : {}), isBreakpoint: true };
}

function readImage(part: JsonObject, where: string): MediaPart {
  const detail = optionalText(part, "detail", `${where}.detail`);
  const id = optionalText(part, "file_id", `${where}.file_id`);
  if (id !== undefined) {
    return { kind: "media", media: "image", source: { type: "file", owner: "openai", id }, detail, where };
  }
  // A string here; chat clients bring the object they know (docs/design/responses.md 3).
  const given = present(part, "image_url");
  const url = isObject(given)
    ? requiredText(given, "url", `${where}.image_url.url`)
    : requiredText(part, "image_url", `${where}.image_url`);
  return { ...mediaFromUrl(url, "image", `${where}.image_url`), detail, where };
}

function readFile(part: JsonObject, where: string): MediaPart {
  const filename = optionalText(part, "filename", `${where}.filename`);
  const id = optionalText(part, "file_id", `${where}.file_id`);
  if (id !== undefined) {
    return { kind: "media", media: "document", source: { type: "file", owner: "openai", id }, filename, where };
  }
  const name = present(part, "file_url") === undefined ? "file_data" : "file_url";
  const url = requiredText(part, name, `${where}.${name}`);
  return { ...mediaFromUrl(url, "document", `${where}.${name}`), filename, where };
}

function readAudio(part: JsonObject, where: string): MediaPart {
  const audio = present(part, "input_audio");
  if (!isObject(audio)) return wrongType(`${where}.input_audio`, "an object");
  const data = `${where}.input_audio.data`;
  const base64 = cleanBase64(requiredText(audio, "data", data)) ?? wrongValue(data, "expected base64.");
  const format = requiredText(audio, "format", `${where}.input_audio.format`);
  const mime = audioMime(format) ?? notCarried(`${where}.input_audio.format`);
  return { kind: "media", media: "audio", mime, source: { type: "data", base64 }, where };
}

/** Texts of a reasoning item: its own words, else its summaries. */
export function readReasoningText(item: JsonObject, where: string): { text: string; summary: readonly string[] } {
  const texts = (name: string): readonly string[] =>
    listOf(item, name, `${where}.${name}`).map((part, index) =>
      isObject(part)
        ? requiredText(part, "text", `${where}.${name}[${index}].text`)
        : wrongType(`${where}.${name}[${index}]`, "an object"),
    );
  const summary = texts("summary");
  const content = texts("content");
  return { text: content.length > 0 ? content.join("") : summary.join("\n\n"), summary };
}
