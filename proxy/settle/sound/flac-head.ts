/**
 * Reads the head of a FLAC file (RFC 9639, 8.2), which tells how many samples there are. Compressed samples take no more bytes than
 * bare ones, so a sound is at least as long as its bytes at that rate.
 */
import { type HeadReader, toTheEnd } from "./head-reader.ts";

const streamInfoAt = 8;
/** What nearly all of it is at most: 96 kHz, two channels of 24 bits. */
const bytesPerSecondMost = 96_000 * 2 * 3;

export interface FlacInfo {
  /** Samples a second. */
  readonly rate: number;
  /** Of all samples; 0 where the head leaves it open, as it does where it is written before the sound ends. */
  readonly seconds: number;
  /** Of bare samples at that rate. */
  readonly bytesPerSecond: number;
}

export class FlacHead implements HeadReader {
  #info: FlacInfo | undefined;

  read(bytes: Buffer, at: number): number {
    this.#info = readFlacInfo(bytes, at);
    return toTheEnd;
  }

  /** @returns undefined where the head leaves it open */
  seconds(bytes: number): number | undefined {
    if (this.#info === undefined || this.#info.seconds === 0) return undefined;
    return Math.max(this.#info.seconds, bytes / this.#info.bytesPerSecond);
  }
}

/** @param at of the word `fLaC` @returns undefined where the head is cut or names no rate */
export function readFlacInfo(bytes: Buffer, at: number): FlacInfo | undefined {
  const info = bytes.subarray(at + streamInfoAt, at + streamInfoAt + 18);
  if (info.length < 18) return undefined;
  const packed = info.readBigUInt64BE(10);
  const rate = Number(packed >> 44n);
  if (rate === 0) return undefined;
  const bytesEach = (Number((packed >> 41n) & 7n) + 1) * Math.ceil((Number((packed >> 36n) & 31n) + 1) / 8);
  const seconds = Number(packed & 0xf_ffff_ffffn) / rate;
  return { rate, seconds, bytesPerSecond: Math.min(rate * bytesEach, bytesPerSecondMost) };
}
