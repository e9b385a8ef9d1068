/** What the beginning of a body says it is, whatever its headers say. Pure. */

/** Enough for the blanks that anybody puts in front. */
const startBytes = 64;

/** Server-sent events (a field or a comment), or Google's other form of a stream. */
export function isStream(body: Buffer): boolean {
  return /^\s*(?:\[|(?:data|event|id|retry)?:)/.test(body.toString("latin1", 0, startBytes));
}

/** JSON as every format's whole answer is. */
export function isObject(body: Buffer): boolean {
  return /^\s*\{/.test(body.toString("latin1", 0, startBytes));
}

/** JSON, or a stream: an answer of any format. */
export function mayBeAnswer(start: Buffer): boolean {
  return isStream(start) || isObject(start);
}

/** The pieces as one; nothing is copied where there is one only. */
export function joined(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}
