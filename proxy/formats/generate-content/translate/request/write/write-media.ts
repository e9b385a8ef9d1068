/** Writes files as parts of a generateContent body (docs/design/translation.md 4.4). */
import type { JsonObject } from "#proxy/json/json-value";
import type { MediaPart } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import { sniffMime } from "#proxy/neutral/media/sniff-mime";

/**
 * Whether a file must be fetched before the request is written: models before 2.5, Vertex AI and most relays refuse
 * addresses, and not all types are taken by the others, so none is sent on (pitfall 113).
 */
export function needsDownload(part: MediaPart): boolean {
  return part.source.type === "url";
}

/** @throws GatewayError for a file that only another provider can read, or that nobody fetched */
export function writeMedia(part: MediaPart, losses: Losses): JsonObject {
  const { source, where = "" } = part;
  if (part.title !== undefined) losses.drop(`${where}.title`);
  if (part.context !== undefined) losses.drop(`${where}.context`);
  switch (source.type) {
    case "data":
      return { inlineData: { mimeType: mimeOf(part, source.base64), data: source.base64 } };
    case "text":
      return { inlineData: { mimeType: "text/plain", data: Buffer.from(source.text).toString("base64") } };
    case "file":
      if (source.owner !== "google") return losses.refuse(where, "is a file of another provider.");
      return { fileData: { ...(part.mime === undefined ? {} : { mimeType: part.mime }), fileUri: source.id } };
    case "url":
      return losses.refuse(where, "could not be fetched for the selected model.");
    default:
      return source satisfies never;
  }
}

/** What a file is taken for when nothing tells. */
const mimeByKind: Readonly<Record<MediaPart["media"], string>> = {
  image: "image/png",
  audio: "audio/wav",
  video: "video/mp4",
  document: "application/octet-stream",
};

/** Google writes MP3 as `audio/mp3`. */
function mimeOf({ mime, media }: MediaPart, base64: string): string {
  if (mime === "audio/mpeg") return "audio/mp3";
  return mime ?? sniffMime(base64) ?? mimeByKind[media];
}
