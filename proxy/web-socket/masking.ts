/**
 * Undoes and applies the masks of frames (PURE; RFC 6455 section 5.3), four bytes at a time.
 */

/** Longer than most messages: 100 ms of audio have some 7 KiB. */
const scratchBytes = 64 * 1024;
const scratch = Buffer.allocUnsafeSlow(scratchBytes);
const scratchWords = new Int32Array(scratch.buffer, 0, scratchBytes / 4);
/** A mask as bytes and as one word, whatever the order of bytes is here. */
const maskBytes = new Uint8Array(4);
const maskWord = new Int32Array(maskBytes.buffer);

/**
 * @param maskAt where the four bytes of the mask stand in `source`
 * @returns the payload between `start` and `end`, readable until the next call: most messages are only looked at
 */
export function unmasked(source: Buffer, maskAt: number, start: number, end: number): Buffer {
  const length = end - start;
  const isShort = length <= scratchBytes;
  const target = isShort ? scratch : Buffer.allocUnsafeSlow((length + 3) & ~3);
  source.copy(target, 0, start, end);
  source.copy(maskBytes, 0, maskAt, maskAt + 4);
  const words = isShort ? scratchWords : new Int32Array(target.buffer);
  const mask = maskWord[0] ?? 0;
  const count = (length + 3) >> 2;
  for (let index = 0; index < count; index += 1) words[index] = (words[index] ?? 0) ^ mask;
  return target.subarray(0, length);
}

/** Masks all behind `start`, in place, with the four bytes before it. */
export function maskFrom(frame: Buffer, start: number): void {
  const mask = frame.subarray(start - 4, start);
  for (let index = start; index < frame.length; index += 1) {
    frame[index] = (frame[index] ?? 0) ^ (mask[(index - start) & 3] ?? 0);
  }
}
