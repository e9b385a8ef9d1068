/**
 * Walks over a sound that comes in pieces, from one head to the next: nothing but heads is ever read, and nothing is held but
 * one that is cut. A container says by its reader what its heads mean.
 *
 * Everything here is bytes of a stranger. A sound that was made to take long takes as many steps as `headsLeast` and some more for
 * its bytes, and is then lost.
 */

/** So many bytes are at hand where a head is read, and fewer only where the sound ends: a page of Ogg has the longest. */
export const headBytes = 27 + 255 + 8;

/**
 * Heads that any sound may have, seven hours of MP3, and one more for every few bytes: what is heard has fewer. A head takes 0.1 to
 * 0.2 us, so the worst sound of 1 MB takes some 0.1 s, and of 25 MB 0.5 s.
 */
const headsLeast = 1_000_000;
const bytesPerHead = 8;

/** Of speech, 8 kbit/s: bytes that were made to be passed over must not cost less than what they hide. */
export const densestBytesPerSecond = 1_000;

/** Nothing more has to be read: what follows tells nothing of the length. */
export const toTheEnd = Number.POSITIVE_INFINITY;

/** What one container knows of its heads. */
export interface HeadReader {
  /** Reads the head at a place. @returns bytes from there to the next one, 1 at least, or `toTheEnd` */
  read(bytes: Buffer, at: number): number;
  /** Length by all heads so far; undefined where they do not tell. @param bytes of sound that came, tags before it excluded */
  seconds(bytes: number): number | undefined;
}

const noBytes = Buffer.alloc(0);

export class HeadWalker {
  readonly #reader: Pick<HeadReader, "read">;
  #held: Buffer = noBytes;
  #skipped = 0;
  #heads = 0;
  #headsMost = headsLeast;

  constructor(reader: Pick<HeadReader, "read">) {
    this.#reader = reader;
  }

  /** Bytes of what comes next that need not be shown. */
  get skipped(): number {
    return this.#skipped;
  }

  get heldBytes(): number {
    return this.#held.length;
  }

  /** Heads read so far: what the walk has cost. */
  get heads(): number {
    return this.#heads;
  }

  /** There were too many heads: the reader has not seen all of them. */
  get isLost(): boolean {
    return this.#heads > this.#headsMost;
  }

  /** Passes over bytes unseen, `skipped` at most. */
  skip(bytes: number): void {
    this.#skipped -= bytes;
  }

  /** @param chunk its memory may be used again afterwards */
  push(chunk: Buffer): void {
    if (this.isLost) return;
    this.#headsMost += chunk.length / bytesPerHead;
    if (this.#skipped >= chunk.length) {
      this.#skipped -= chunk.length;
      return;
    }
    const from = this.#held.length === 0 ? this.#skipped : this.#walkHeld(chunk);
    const at = this.#walk(chunk, from, chunk.length, headBytes);
    this.#skipped = Math.max(0, at - chunk.length);
    if (at < chunk.length) this.#held = Buffer.from(chunk.subarray(at));
  }

  /** Reads the heads that begin in what is held. @returns where the next one is in the chunk: behind it, where all is held now */
  #walkHeld(chunk: Buffer): number {
    const heldBytes = this.#held.length;
    const bytes = Buffer.concat([this.#held, chunk.subarray(0, headBytes)]);
    const next = this.#walk(bytes, 0, heldBytes, headBytes);
    const isStillHeld = next < heldBytes;
    this.#held = isStillHeld ? bytes.subarray(next) : noBytes;
    return isStillHeld ? chunk.length : next - heldBytes;
  }

  /** Reads heads that are as short as the end of the sound leaves them. The sound may go on all the same. */
  end(): void {
    const rest = this.#held;
    this.#held = noBytes;
    this.#walk(rest, 0, rest.length, 1);
  }

  /** Reads the heads that begin before `end`, as long as there are bytes enough. @returns where the next one begins */
  #walk(bytes: Buffer, from: number, end: number, bytesLeast: number): number {
    let at = from;
    while (at < end && bytes.length - at >= bytesLeast && !this.isLost) {
      this.#heads += 1;
      at += this.#reader.read(bytes, at);
    }
    return at;
  }
}
