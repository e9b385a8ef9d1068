/** Tells events with data from comments and blank lines, which many clients do not count as a sign of life. */

const colon = 0x3a;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** They mean nothing without data. */
const otherFields = ["event:", "id:", "retry:"].map((field) => Buffer.from(field));

/** @param block whole events, or part of a reply in another form @returns whether no line of it says anything */
export function hasNoData(block: Buffer): boolean {
  let at = 0;
  while (at < block.length) {
    const byte = block[at];
    if (byte === lineFeed || byte === carriageReturn) {
      at += 1;
      continue;
    }
    if (byte !== colon && !otherFields.some((field) => block.subarray(at, at + field.length).equals(field)))
      return false;
    while (at < block.length && block[at] !== lineFeed && block[at] !== carriageReturn) at += 1;
  }
  return true;
}
