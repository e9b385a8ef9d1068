/**
 * Reads the chunks of a WAV file (RIFF, RF64): by the kind of its samples, and by the bytes that came, it is as long as it is.
 * Files that are written while they are sent declare no length, or a wrong one.
 */
import { type HeadReader, toTheEnd } from "./head-reader.ts";

/** Bytes of the file's own head. */
const riffBytes = 12;
/** Plain samples, those with a decimal point, both kinds of telephones, and those that a subtype tells apart. */
const sampleFormats: ReadonlySet<number> = new Set([1, 3, 6, 7, 0xfffe]);
/** The most that is recorded: 192 kHz, eight channels of 32 bits. */
const bytesPerSecondMost = 192_000 * 8 * 4;
/** Of sound that is compressed: what says that it has more would only be shorter. */
const compressedBytesPerSecond = 8_000;

export class WavChunks implements HeadReader {
  #bytesPerSecond = 0;
  #headBytes = 0;
  #isAtSamples = false;

  read(bytes: Buffer, at: number): number {
    const isFile = this.#headBytes === 0;
    const length = isFile ? riffBytes : this.#readChunk(bytes, at);
    this.#headBytes += length;
    return this.#isAtSamples ? toTheEnd : length;
  }

  /** @returns bytes of it, or those before the samples */
  #readChunk(bytes: Buffer, at: number): number {
    if (at + 8 > bytes.length) return bytes.length - at;
    const name = bytes.toString("latin1", at, at + 4);
    if (name === "data") {
      this.#isAtSamples = true;
      return 8;
    }
    if (name === "fmt " && this.#bytesPerSecond === 0) this.#bytesPerSecond = rateOf(bytes.subarray(at + 8));
    const length = bytes.readUInt32LE(at + 4);
    return 8 + length + (length % 2);
  }

  seconds(bytes: number): number | undefined {
    if (!this.#isAtSamples || this.#bytesPerSecond === 0) return undefined;
    return Math.max(0, bytes - this.#headBytes) / this.#bytesPerSecond;
  }
}

/** Bytes a second of a format chunk; 0 where it does not tell. */
function rateOf(format: Buffer): number {
  if (format.length < 16) return 0;
  const [kind, channels, rate] = [format.readUInt16LE(0), format.readUInt16LE(2), format.readUInt32LE(4)];
  // Rates are not believed where they can be computed, and never where they make the sound shorter.
  if (!sampleFormats.has(kind)) return Math.min(format.readUInt32LE(8), compressedBytesPerSecond);
  const each = Math.min(format.readUInt16LE(12), channels * Math.ceil(format.readUInt16LE(14) / 8));
  return Math.min(rate * each, bytesPerSecondMost);
}
