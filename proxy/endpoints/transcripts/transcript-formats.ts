/**
 * Tells for each `response_format` of a transcript what a whole reply is, and what its response is called
 * (docs/design/audio.md 4). Pure.
 */
import { isObject, type JsonObject } from "#proxy/json/json-value";

/** The formats that are text and no JSON (openai.com API reference: audio/transcriptions). */
const textTypes: Readonly<Record<string, string>> = {
  text: "text/plain; charset=utf-8",
  srt: "text/plain; charset=utf-8",
  vtt: "text/vtt; charset=utf-8",
};

export function isTextFormat(format: string): boolean {
  return Object.hasOwn(textTypes, format);
}

/** Content type of a whole response, where its upstream does not say a better one. */
export function typeOfTranscript(format: string): string {
  return (isTextFormat(format) ? textTypes[format] : undefined) ?? "application/json";
}

/** The upstream's own type of a text that passes as it came; some servers write texts as JSON. */
export function namedTextType(contentType: string): string | undefined {
  const type = contentType.trim();
  return /^(?:text\/(?:plain|vtt|srt)|application\/(?:x-subrip|json))(?:\s*;\s*charset=[\w-]+)?$/i.test(type)
    ? type
    : undefined;
}

/** Whether a text is a transcript of its format. Silence has none, and still its line. */
export function isTranscriptText(text: string, format: string): boolean {
  if (text === "" || /^\s*<(?:!doctype|html|\?xml)/i.test(text)) return false;
  if (format === "srt") return text.trim() === "" || text.includes("-->");
  if (format === "vtt") return text.trimStart().startsWith("WEBVTT") || text.startsWith("\ufeffWEBVTT");
  return true;
}

/** Whether JSON is a transcript: its text, or the segments of it. */
export function isTranscript(json: unknown): json is JsonObject {
  return isObject(json) && (typeof json["text"] === "string" || Array.isArray(json["segments"]));
}
