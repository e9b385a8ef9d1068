/**
 * Collects bytes in one piece of memory that grows. A list of the pieces would cost some hundred bytes for each of them,
 * and a client may write one byte at a time.
 */
const grownBytesLeast = 1024;

export class GrowingBuffer {
  #memory = Buffer.alloc(0);
  #length = 0;
  readonly #bytesMax: number;

  /** @param bytesMax no more is ever added */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get length(): number {
    return this.#length;
  }

  /** All of it, in the memory that is added to. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  /** Copies the bytes. */
  add(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#memory.length) {
      // Most of what is collected comes in one piece.
      const room = this.#length === 0 ? length : Math.max(grownBytesLeast, 2 * length);
      const larger = Buffer.allocUnsafe(Math.min(this.#bytesMax, room));
      this.#memory.copy(larger, 0, 0, this.#length);
      this.#memory = larger;
    }
    bytes.copy(this.#memory, this.#length);
    this.#length = length;
  }

  /** Lets go of the memory. */
  clear(): void {
    this.#memory = Buffer.alloc(0);
    this.#length = 0;
  }
}
