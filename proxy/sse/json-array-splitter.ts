/**
 * Cuts a JSON array that arrives in pieces into its elements (docs/design/generate-content.md 5.2), without waiting for
 * its end. A bare object counts as one element: providers send errors that way. It returns elements as their bytes;
 * their reader checks whether they are valid JSON.
 */

const quote = 34;
const backslash = 92;
const openBrace = 123;
const closeBrace = 125;
const openBracket = 91;
const closeBracket = 93;

export class JsonArraySplitter {
  readonly #elementBytesMax: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isArray = false;
  #isClosed = false;

  constructor(elementBytesMax: number) {
    this.#elementBytesMax = elementBytesMax;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get isOverflowing(): boolean {
    return this.#heldBytes > this.#elementBytesMax;
  }

  /** The array's closing bracket has been seen, or the bare object is complete. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @returns the elements that are complete now */
  push(chunk: Buffer): Buffer[] {
    const elements: Buffer[] = [];
    // Depth 0 is outside of every element; the array's own brackets are not counted.
    let start = this.#depth > 0 ? 0 : -1;
    for (let position = 0; position < chunk.length; position += 1) {
      if (this.#isInString) {
        position = this.#skipString(chunk, position);
        continue;
      }
      const byte = chunk[position];
      if (byte === quote) this.#isInString = true;
      else if (byte === openBrace || (byte === openBracket && this.#depth > 0)) {
        if (this.#depth === 0) start = position;
        this.#depth += 1;
      } else if (byte === closeBrace || (byte === closeBracket && this.#depth > 0)) {
        this.#depth = Math.max(0, this.#depth - 1);
        if (this.#depth === 0 && start >= 0) {
          elements.push(this.#complete(chunk.subarray(start, position + 1)));
          start = -1;
          if (!this.#isArray) this.#isClosed = true;
        }
      } else if (byte === openBracket) this.#isArray = true;
      else if (byte === closeBracket) this.#isClosed = true;
    }
    if (start >= 0) {
      this.#held.push(chunk.subarray(start));
      this.#heldBytes += chunk.length - start;
    }
    return elements;
  }

  /** @returns the offset of the last byte it looked at */
  #skipString(chunk: Buffer, from: number): number {
    let position = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      position += 1;
    }
    for (; position < chunk.length; position += 1) {
      const byte = chunk[position];
      if (byte === backslash) {
        if (position + 1 === chunk.length) this.#isEscaped = true;
        position += 1;
      } else if (byte === quote) {
        this.#isInString = false;
        return position;
      }
    }
    return chunk.length;
  }

  #complete(last: Buffer): Buffer {
    if (this.#heldBytes === 0) return last;
    const element = Buffer.concat([...this.#held, last]);
    this.#held = [];
    this.#heldBytes = 0;
    return element;
  }
}
