/**
 * Converts offsets in a text between bytes of UTF-8 (Google's) and UTF-16 units (all others').
 *
 * Marks along the text keep each look-up short: a reply may be long and name its sources by the hundred.
 */

/** UTF-16 units between two marks. */
const stride = 512;

export class ByteOffsets {
  readonly #text: string;
  /** Where each stretch begins, in both counts. */
  readonly #units: number[] = [0];
  readonly #bytes: number[] = [0];
  readonly bytesTotal: number;

  constructor(text: string) {
    this.#text = text;
    let bytes = 0;
    for (let start = 0; start < text.length; ) {
      const end = endOfStretch(text, start);
      bytes += Buffer.byteLength(text.slice(start, end));
      this.#units.push(end);
      this.#bytes.push(bytes);
      start = end;
    }
    this.bytesTotal = bytes;
  }

  /** @param units within the text */
  toBytes(units: number): number {
    const mark = lastAtMost(this.#units, units);
    const start = this.#units[mark] ?? 0;
    return (this.#bytes[mark] ?? 0) + Buffer.byteLength(this.#text.slice(start, units));
  }

  /** @returns undefined for an offset within a character or behind the text */
  toUnits(bytes: number): number | undefined {
    if (bytes > this.bytesTotal) return undefined;
    const mark = lastAtMost(this.#bytes, bytes);
    let left = bytes - (this.#bytes[mark] ?? 0);
    let units = this.#units[mark] ?? 0;
    while (left > 0) {
      const codePoint = this.#text.codePointAt(units) ?? 0;
      left -= codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
      units += codePoint < 0x10000 ? 1 : 2;
    }
    return left === 0 ? units : undefined;
  }
}

/** A stretch never ends within a character of two units. */
function endOfStretch(text: string, start: number): number {
  const end = Math.min(start + stride, text.length);
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 && end < text.length ? end + 1 : end;
}

/** Index of the last number that is not beyond the limit; the first number is 0. */
function lastAtMost(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? 0) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
