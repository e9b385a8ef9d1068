/**
 * Queues the bytes that wait to be written to the temporary file of a form, in their order.
 *
 * Most pieces lie in the memory of the chunk in which they came, which is given back once they are written. Small ones are
 * copied together, since each piece that waits keeps its whole chunk and some hundred bytes beside it: a client that writes a
 * byte a chunk would otherwise take hundreds of times its bytes.
 */
import { releaseBuffer } from "#proxy/http1/server/release-buffer";

/** Smaller pieces are copied. */
const lentBytesLeast = 4 * 1024;
const roomBytes = 64 * 1024;

export interface WriteBatch {
  readonly pieces: readonly Buffer[];
  /** Gives the memory of the pieces back: they are written. */
  release(): void;
}

export class WriteQueue {
  #pieces: Buffer[] = [];
  /** Those in whose memory pieces lie. */
  #chunks: Buffer[] = [];
  /** Pieces of the chunk that comes now lie in its memory. */
  #isLent = false;
  /** For copies; behind `#roomUsed` it is free. */
  #room = Buffer.alloc(0);
  #roomUsed = 0;
  /** The last piece ends in the room where it is free. */
  #endsInRoom = false;

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** @param bytes of the chunk that `endChunk` gets next */
  add(bytes: Buffer): void {
    if (bytes.length < lentBytesLeast) {
      this.#copy(bytes);
      return;
    }
    this.#isLent = true;
    this.#endsInRoom = false;
    this.#pieces.push(bytes);
  }

  #copy(bytes: Buffer): void {
    if (this.#room.length - this.#roomUsed < bytes.length) {
      this.#room = Buffer.allocUnsafeSlow(roomBytes);
      this.#roomUsed = 0;
      this.#endsInRoom = false;
    }
    const begun = this.#endsInRoom ? (this.#pieces.pop()?.length ?? 0) : 0;
    const from = this.#roomUsed - begun;
    this.#roomUsed += bytes.copy(this.#room, this.#roomUsed);
    this.#endsInRoom = true;
    this.#pieces.push(this.#room.subarray(from, this.#roomUsed));
  }

  /** Nothing more of this chunk comes. Its memory is given back when its pieces are written. */
  endChunk(chunk: Buffer): void {
    if (this.#isLent) this.#chunks.push(chunk);
    else releaseBuffer(chunk);
    this.#isLent = false;
  }

  /** Takes all that waits out of the queue. */
  take(): WriteBatch {
    const [pieces, chunks] = [this.#pieces, this.#chunks];
    [this.#pieces, this.#chunks, this.#endsInRoom] = [[], [], false];
    return {
      pieces,
      release: () => {
        for (const chunk of chunks) releaseBuffer(chunk);
      },
    };
  }

  /** Nothing of it will be written, also of the chunk that comes now. */
  clear(): void {
    this.take().release();
    this.#isLent = false;
    this.#room = Buffer.alloc(0);
    this.#roomUsed = 0;
  }
}
