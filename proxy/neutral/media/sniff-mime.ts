/**
 * Detects the type of a file by its first bytes: clients label pictures wrongly, and providers refuse a wrong label
 * with 400 (docs/design/translation.md 4.4).
 */

/** Enough for every signature below. */
const charactersRead = 32;

type Signature = readonly [mime: string, offset: number, bytes: string];

const signatures: readonly Signature[] = [
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/png", 0, "\x89PNG"],
  ["image/gif", 0, "GIF8"],
  ["image/webp", 8, "WEBP"],
  ["image/bmp", 0, "BM"],
  ["image/heic", 4, "ftypheic"],
  ["image/avif", 4, "ftypavif"],
  ["application/pdf", 0, "%PDF"],
  ["audio/wav", 8, "WAVE"],
  ["audio/mpeg", 0, "ID3"],
  ["audio/mpeg", 0, "\xff\xfb"],
  ["audio/mpeg", 0, "\xff\xfa"],
  ["audio/mpeg", 0, "\xff\xf3"],
  ["audio/mpeg", 0, "\xff\xf2"],
  ["audio/mpeg", 0, "\xff\xe3"],
  ["audio/mpeg", 0, "\xff\xe2"],
  ["audio/flac", 0, "fLaC"],
  ["audio/ogg", 0, "OggS"],
  ["audio/aac", 0, "\xff\xf1"],
  ["audio/aac", 0, "\xff\xf9"],
  ["audio/mp4", 4, "ftypM4A"],
  ["video/mp4", 4, "ftyp"],
  ["video/webm", 0, "\x1aE\xdf\xa3"],
];

/** @returns undefined when the first bytes are of no known kind, or the text is no base64 */
export function sniffMime(base64: string): string | undefined {
  return sniffMimeOfBytes(Buffer.from(base64.slice(0, charactersRead), "base64"));
}

/** @param start the first bytes of the file, 12 at least where it has as many */
export function sniffMimeOfBytes(start: Buffer): string | undefined {
  const head = start.toString("latin1", 0, charactersRead);
  return signatures.find(([, offset, bytes]) => head.startsWith(bytes, offset))?.[0];
}
