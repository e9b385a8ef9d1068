/** Reads a part of a file from the spool, which is read from its beginning. */
import type { SpooledContent } from "#proxy/multipart/form";

/** @returns fewer bytes where the file ends before, none beyond its end */
export async function readAt(content: SpooledContent, from: number, length: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let at = 0;
  if (from >= content.length) return Buffer.alloc(0);
  for await (const chunk of content.chunks()) {
    const end = at + chunk.length;
    const isLast = end >= Math.min(from + length, content.length);
    const piece = chunk.subarray(Math.max(0, from - at), from + length - at);
    // A chunk is valid until the next one is asked for: the last one for good.
    if (end > from && isLast && pieces.length === 0) return piece;
    if (end > from) pieces.push(Buffer.from(piece));
    if (isLast) break;
    at = end;
  }
  return Buffer.concat(pieces);
}
