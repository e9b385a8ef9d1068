/** Writes images and documents as blocks (docs/design/translation.md 4.4). */

import type { TranslationTarget } from "#proxy/formats/translator";
import type { MediaPart } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import { providerOf } from "#proxy/providers/providers";
import type { Block } from "./block.ts";

/** All that the vendor takes; others would have to be converted. */
const imageTypes: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
/** Text under another name. */
const textTypes = /^(?:text\/.*|application\/(?:json|xml|x?yaml|javascript|x-ndjson|sql|toml))$/;

/**
 * Whether a file that a client named by its address must be fetched. The vendor fetches images and PDFs itself;
 * resellers and compatible servers are sure to take content alone (docs/design/messages.md 10).
 */
export function needsDownload(
  { media, mime, source }: MediaPart,
  { channel }: Pick<TranslationTarget, "channel">,
): boolean {
  if (source.type !== "url" || (media !== "image" && media !== "document")) return false;
  if (!providerOf(channel).fetchesFiles) return true;
  return media === "document" && (mime ?? "application/pdf") !== "application/pdf";
}

/** @throws GatewayError naming the client's field, for media that would vanish */
export function writeMedia(part: MediaPart, losses: Losses): Block {
  if (part.media === "image") return { type: "image", source: imageSource(part, losses) };
  if (part.media !== "document")
    return losses.refuse(fieldOf(part), `(${part.media}) cannot be read by the selected model.`);
  const mime = part.mime ?? "application/pdf";
  // A picture that came as a file is still a picture.
  if (part.source.type === "data" && imageTypes.has(mime)) return { type: "image", source: imageSource(part, losses) };
  const title = part.title ?? part.filename;
  return {
    type: "document",
    source: documentSource(part, mime, losses),
    ...(title === undefined || title === "" ? {} : { title }),
    ...(part.context === undefined ? {} : { context: part.context }),
    ...(part.wantsCitations === true ? { citations: { enabled: true } } : {}),
  };
}

function fieldOf({ where, media }: MediaPart): string {
  return where ?? media;
}

function imageSource(part: MediaPart, losses: Losses): Block {
  const { source, mime } = part;
  switch (source.type) {
    case "data":
      if (mime === undefined || !imageTypes.has(mime)) {
        return losses.refuse(fieldOf(part), `is an image of a kind that the selected model cannot read.`);
      }
      return { type: "base64", media_type: mime, data: source.base64 };
    case "url":
      return { type: "url", url: source.url };
    case "file":
      return fileSource(part, source, losses);
    default:
      return losses.refuse(fieldOf(part), "is not an image.");
  }
}

function documentSource(part: MediaPart, mime: string, losses: Losses): Block {
  const { source } = part;
  switch (source.type) {
    case "text":
      return { type: "text", media_type: "text/plain", data: source.text };
    case "url":
      return { type: "url", url: source.url };
    case "file":
      return fileSource(part, source, losses);
    default:
      if (mime === "application/pdf") return { type: "base64", media_type: mime, data: source.base64 };
      if (textTypes.test(mime)) {
        return { type: "text", media_type: "text/plain", data: Buffer.from(source.base64, "base64").toString("utf8") };
      }
      return losses.refuse(fieldOf(part), "is a document of a kind that the selected model cannot read.");
  }
}

function fileSource(part: MediaPart, source: { readonly owner: string; readonly id: string }, losses: Losses): Block {
  if (source.owner === "anthropic") return { type: "file", file_id: source.id };
  return losses.refuse(fieldOf(part), "is a file that the selected model's provider does not have.");
}
