/**
 * Collects the bytes of a frame, or of a message in several frames, that come in parts. It grows with what has come, never
 * by what a length promises: a peer that announces much and sends little holds little.
 */
const firstBytes = 1_024;

export class FrameBuffer {
  #bytes: Buffer | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** @param expected of all that will come, where it is known: nothing beyond it is set aside */
  append(source: Buffer, start: number, end: number, expected = Number.POSITIVE_INFINITY): void {
    const needed = this.#length + end - start;
    if (this.#bytes === undefined || this.#bytes.length < needed) this.#grow(needed, expected);
    if (this.#bytes !== undefined) source.copy(this.#bytes, this.#length, start, end);
    this.#length = needed;
  }

  #grow(needed: number, expected: number): void {
    const roomy = Math.min(Math.max(firstBytes, needed, 2 * this.#length), Math.max(needed, expected));
    const grown = Buffer.allocUnsafeSlow(roomy);
    this.#bytes?.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }

  /** What has come so far. */
  view(): Buffer {
    return this.#bytes?.subarray(0, this.#length) ?? Buffer.alloc(0);
  }

  /** @returns what has come; it is empty again, and writes into these bytes no more */
  take(): Buffer {
    const taken = this.view();
    this.#bytes = undefined;
    this.#length = 0;
    return taken;
  }
}
