/**
 * Cuts a stream of server-sent events into blocks of whole events, at the level of bytes.
 *
 * Bytes arrive cut anywhere: inside a line, inside a UTF-8 sequence, between `\r` and `\n`. The blocks that it returns
 * end with a blank line, come in order and together equal the input: it does not decode or normalise, and copies
 * nothing where a chunk already ends at an event's end, which is the usual case.
 *
 * A line ends with `\n`, `\r\n` or `\r`, in any mixture. A block is released on the `\r` of a blank line; a `\n` that
 * completes it in the next chunk then leads the next block, where it is one more blank line and means nothing.
 */

import type { EventFraming } from "./event-framing.ts";

const LF = 10;
const CR = 13;
const blankLF = Buffer.from("\n\n");
const blankLFCR = Buffer.from("\n\r");
const blankCRCR = Buffer.from("\r\r");
const heldBytesMin = 4 * 1024;
const nothing = Buffer.alloc(0);

export class EventSplitter implements EventFraming {
  /** A body may end with an event that lacks its blank line: nothing else marks the end of a stream. */
  readonly isCut = false;
  readonly eventBytesMax: number;
  #held: Buffer = nothing;
  #heldBytes = 0;
  /** The memory of `#held` is ours to grow into; else it belongs to a chunk of the network. */
  #heldIsOwn = false;

  /** @param eventBytesMax an incomplete event beyond this makes `isOverflowing` true */
  constructor(eventBytesMax: number) {
    this.eventBytesMax = eventBytesMax;
  }

  /** Bytes of the incomplete event that waits. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The incomplete event is over the cap; what was pushed last is not held completely. */
  get isOverflowing(): boolean {
    return this.#heldBytes > this.eventBytesMax;
  }

  /** Adds bytes; returns the whole events that are complete now as one block, or undefined. */
  push(chunk: Buffer): Buffer | undefined {
    if (this.#heldBytes === 0) {
      if (endsEvent(chunk)) return chunk;
      const end = lastEventEnd(chunk, 0);
      if (end === 0) {
        this.#hold(chunk);
        return undefined;
      }
      this.#hold(chunk.subarray(end));
      return chunk.subarray(0, end);
    }
    // Two bytes before the seam can belong to a blank line that the new bytes complete.
    const from = Math.max(0, this.#heldBytes - 2);
    this.#append(chunk);
    const bytes = this.#held.subarray(0, this.#heldBytes);
    const end = lastEventEnd(bytes, from);
    if (end === 0) return undefined;
    this.#clear();
    if (end < bytes.length) this.#hold(bytes.subarray(end));
    return bytes.subarray(0, end);
  }

  /** Takes what waits: an event whose blank line never came. */
  takeRest(): Buffer | undefined {
    if (this.#heldBytes === 0) return undefined;
    const rest = this.#held.subarray(0, this.#heldBytes);
    this.#clear();
    return rest;
  }

  #clear(): void {
    this.#held = nothing;
    this.#heldBytes = 0;
    this.#heldIsOwn = false;
  }

  #hold(bytes: Buffer): void {
    this.#held = bytes;
    this.#heldBytes = bytes.length;
    this.#heldIsOwn = false;
  }

  // Doubling keeps a long event that drips in linear; memory handed out is never written again.
  #append(chunk: Buffer): void {
    const needed = this.#heldBytes + chunk.length;
    if (!this.#heldIsOwn || this.#held.length < needed) {
      const grown = Buffer.allocUnsafe(Math.max(heldBytesMin, needed, Math.min(needed * 2, this.eventBytesMax)));
      this.#held.copy(grown, 0, 0, this.#heldBytes);
      this.#held = grown;
      this.#heldIsOwn = true;
    }
    chunk.copy(this.#held, this.#heldBytes);
    this.#heldBytes = needed;
  }
}

/** Whether the last bytes are a blank line, in any spelling of line ends. */
function endsEvent(bytes: Buffer): boolean {
  const length = bytes.length;
  if (length < 2) return false;
  const last = bytes[length - 1];
  const before = bytes[length - 2];
  if (last === LF) {
    if (before === LF) return true;
    if (before !== CR || length < 3) return false;
    const third = bytes[length - 3];
    return third === LF || third === CR;
  }
  return last === CR && (before === LF || before === CR);
}

/** Offset after the last blank line at or after `from`; 0 when there is none. Searches natively. */
function lastEventEnd(bytes: Buffer, from: number): number {
  const tail = from === 0 ? bytes : bytes.subarray(from);
  let end = tail.lastIndexOf(blankLF);
  end = end < 0 ? 0 : end + 2;
  if (tail.indexOf(CR) >= 0) {
    end = Math.max(end, endOfCarriageBlank(tail, blankLFCR), endOfCarriageBlank(tail, blankCRCR));
  }
  return end === 0 ? 0 : from + end;
}

function endOfCarriageBlank(bytes: Buffer, pattern: Buffer): number {
  const at = bytes.lastIndexOf(pattern);
  if (at < 0) return 0;
  return bytes[at + 2] === LF ? at + 3 : at + 2;
}
