/** Reads a part of a file from the spool, which is read from its beginning. */
import type { SpooledContent } from "#proxy/multipart/form";

/** @returns fewer bytes where the file ends before, none beyond its end */
export async function readAt(content: SpooledContent, from: number, length: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let at = 0;
  if (from >= content.length) return Buffer.alloc(0);
  for await (const chunk of content.chunks()) {
    // Copied: a chunk is valid until the next one is read.
    if (at + chunk.length > from) pieces.push(Buffer.from(chunk.subarray(Math.max(0, from - at), from + length - at)));
    at += chunk.length;
    if (at >= from + length) break;
  }
  return Buffer.concat(pieces);
}
