/** Tells from the first bytes of a body whether it is JSON or a stream, whatever its headers say. Pure. */

/** Enough for the blanks that anybody puts in front. */
const startBytes = 64;

/** Server-sent events (a field or a comment), or Google's other form of a stream. */
export function startsWithStream(body: Buffer): boolean {
  return /^\s*(?:\[|(?:data|event|id|retry)?:)/.test(body.toString("latin1", 0, startBytes));
}

/** JSON, as the whole reply of every format is. */
export function startsWithObject(body: Buffer): boolean {
  return /^\s*\{/.test(body.toString("latin1", 0, startBytes));
}

/** JSON, or a stream: a reply of any format. */
export function mayBeReply(start: Buffer): boolean {
  return startsWithStream(start) || startsWithObject(start);
}

/** The pieces as one; nothing is copied where there is one only. */
export function joined(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}
