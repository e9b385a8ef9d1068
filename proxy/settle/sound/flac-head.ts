/**
 * Reads the head of a FLAC file (RFC 9639, 8.2), which tells how many samples there are. Compressed samples take no more bytes than
 * bare ones, so a sound is at least as long as its bytes at that rate.
 */
import { type HeadReader, toTheEnd } from "./head-reader.ts";

const streamInfoAt = 8;
/** What nearly all of it is at most: 96 kHz, two channels of 24 bits. */
const bytesPerSecondMost = 96_000 * 2 * 3;

export class FlacHead implements HeadReader {
  #told = 0;
  #bytesPerSecond = bytesPerSecondMost;

  read(bytes: Buffer, at: number): number {
    const info = bytes.subarray(at + streamInfoAt, at + streamInfoAt + 18);
    if (info.length < 18) return toTheEnd;
    const packed = info.readBigUInt64BE(10);
    const rate = Number(packed >> 44n);
    const bytesEach = (Number((packed >> 41n) & 7n) + 1) * Math.ceil((Number((packed >> 36n) & 31n) + 1) / 8);
    if (rate === 0) return toTheEnd;
    this.#told = Number(packed & 0xf_ffff_ffffn) / rate;
    this.#bytesPerSecond = Math.min(rate * bytesEach, bytesPerSecondMost);
    return toTheEnd;
  }

  /** @returns undefined where the head leaves it open, as it does where it is written before the sound ends */
  seconds(bytes: number): number | undefined {
    return this.#told === 0 ? undefined : Math.max(this.#told, bytes / this.#bytesPerSecond);
  }
}
