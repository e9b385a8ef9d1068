/**
 * Cuts a byte stream into lines, with a bound that holds before anything is parsed: a peer that declares or sends more
 * costs no memory beyond one frame.
 */
import { frameBytesMax } from "./messages.ts";

/** Thrown when a line outgrows the bound. */
export class FrameTooLargeError extends Error {
  readonly code = "frame_too_large";
}

export class LineSplitter {
  readonly #bytesMax: number;
  #pieces: Buffer[] = [];
  #pendingBytes = 0;

  constructor(bytesMax: number = frameBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes of a line that has not ended. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /**
   * @yields each line that ends in this chunk, without its line feed.
   * @throws FrameTooLargeError
   */
  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    while (true) {
      const end = chunk.indexOf(0x0a, start);
      const piece = chunk.subarray(start, end === -1 ? chunk.length : end);
      this.#pendingBytes += piece.length;
      if (this.#pendingBytes > this.#bytesMax) throw new FrameTooLargeError(`a frame exceeds ${this.#bytesMax} bytes`);
      if (piece.length > 0) this.#pieces.push(piece);
      if (end === -1) return;
      yield Buffer.concat(this.#pieces).toString("utf8");
      this.#pieces = [];
      this.#pendingBytes = 0;
      start = end + 1;
    }
  }
}
