/**
 * Refuses JSON of an upstream, or inside a text, that is nested deeper than anything written for a purpose.
 *
 * The parser accepts any depth, but code that writes or walks such a value runs out of stack. Bodies of clients have
 * their own limit (`strict-json.ts`); replies, events and texts that hold JSON have this one.
 */

/** Four times what a client's body may have. */
export const levelsMax = 256;

const quote = 0x22;
const backslash = 0x5c;

/** Whether a JSON text has more levels than `levelsMax`; says nothing sensible about what is no JSON. */
export function isTooDeep(text: string): boolean {
  if (text.length <= 2 * levelsMax || !mayBeDeep(text)) return false;
  let level = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at + 1);
      if (at < 0) return false;
    } else if (code === 0x7b || code === 0x5b) {
      level += 1;
      if (level > levelsMax) return true;
    } else if (code === 0x7d || code === 0x5d) level -= 1;
  }
  return false;
}

/** Whether a text has more opening brackets than there may be levels, wherever they stand: most have a few. */
function mayBeDeep(text: string): boolean {
  let left = levelsMax;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      left -= 1;
      if (left < 0) return true;
    }
  }
  return false;
}

/** Offset of the quote that ends a string; -1 when none does. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return -1;
}
