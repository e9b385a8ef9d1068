/**
 * Reads files inside of JSON: data URLs, bare base64 and addresses (docs/design/translation.md 4.4).
 *
 * Base64 leaves here without white space and without a prefix, however a client wrote it. It decodes only what it has
 * to: a body may carry megabytes.
 */
import { GatewayError } from "#proxy/errors";
import type { MediaPart } from "#proxy/neutral/conversation";
import { sniffMime } from "./sniff-mime.ts";

/** The head of a data URL is short; a longer one is no data URL but a file that was pasted behind the scheme. */
const headCharactersMax = 512;
/** Below it any word would do as base64. */
const bareCharactersMin = 8;

/**
 * Reads `data:<mime>[;parameter]*[;base64],<data>` in any case; data that is not base64 is percent-encoded text.
 * @returns media type in lower case without parameters (`text/plain` where none is given) and clean base64; undefined
 *   for anything else, broken base64 among it
 */
export function parseDataUrl(url: string): { readonly mime: string; readonly base64: string } | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const comma = url.slice(0, headCharactersMax).indexOf(",");
  if (comma < 0) return undefined;
  const [type = "", ...parameters] = url.slice("data:".length, comma).split(";");
  const mime = type.trim().toLowerCase() || "text/plain";
  const data = url.slice(comma + 1);
  const isBase64 = parameters.some((parameter) => parameter.trim().toLowerCase() === "base64");
  const base64 = isBase64 ? cleanBase64(data) : base64OfText(data);
  return base64 === undefined ? undefined : { mime, base64 };
}

/** A data URL of a file. */
export function dataUrl(mime: string, base64: string): string {
  return `data:${mime};base64,${base64}`;
}

/**
 * A file as a client gives it: a data URL, bare base64 of a known kind, or an address.
 * @param declared what the client's field is for; a document stays one whatever its media type says
 * @param where path of the field in the client's body, for errors
 * @throws GatewayError `invalid_value` for other schemes (`gs:`, `file:`) and what is neither
 */
export function mediaFromUrl(url: string, declared: MediaPart["media"], where: string): MediaPart {
  const text = url.trim();
  if (/^https?:\/\//i.test(text)) return { kind: "media", media: declared, source: { type: "url", url: text } };
  const parsed = parseDataUrl(text);
  if (parsed !== undefined) return mediaFromBase64(parsed.base64, parsed.mime, declared);
  const base64 = bareBase64(text);
  const mime = base64 === undefined ? undefined : sniffMime(base64);
  if (base64 !== undefined && mime !== undefined) return mediaFromBase64(base64, mime, declared);
  throw new GatewayError("invalid_value", `'${where}' must be an http(s) URL or a base64 data URL.`, { param: where });
}

/**
 * A file by its content. An image with another image's label gets the label of its bytes.
 * @param base64 clean
 */
export function mediaFromBase64(
  base64: string,
  declaredMime: string | undefined,
  declared: MediaPart["media"],
): MediaPart {
  const mime = trueMime(base64, declaredMime);
  // Clients put PDFs where only pictures have a place.
  const media = declared === "image" && mime === "application/pdf" ? "document" : declared;
  return { kind: "media", media, mime, source: { type: "data", base64 } };
}

function trueMime(base64: string, declared: string | undefined): string | undefined {
  if (declared !== undefined && !declared.startsWith("image/") && declared !== "application/octet-stream") {
    return declared;
  }
  return sniffMime(base64) ?? declared;
}

/** Base64 without white space, in the standard alphabet; undefined for what is none. */
export function cleanBase64(text: string): string | undefined {
  if (isBase64(text)) return text;
  const compact = decoded(text)?.replace(/\s+/g, "");
  if (compact === undefined) return undefined;
  const standard = compact.replaceAll("-", "+").replaceAll("_", "/");
  return isBase64(standard) ? standard : undefined;
}

/**
 * By the length of what it decodes to, because the native decoder leaves out what it does not know: ten times as fast as
 * a pattern, and files of megabytes come here.
 */
function isBase64(text: string): boolean {
  // The decoder knows the alphabet of URLs too, which providers do not.
  if (text.includes("-") || text.includes("_")) return false;
  const digits = text.length - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
  return digits % 4 !== 1 && Buffer.from(text, "base64").length === Math.floor((digits * 3) / 4);
}

function bareBase64(text: string): string | undefined {
  return text.length < bareCharactersMin || text.includes(":") ? undefined : cleanBase64(text);
}

function base64OfText(data: string): string | undefined {
  const text = decoded(data);
  return text === undefined ? undefined : Buffer.from(text).toString("base64");
}

/** Percent-encoding undone; undefined where it is broken. */
function decoded(text: string): string | undefined {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
