/**
 * Reads the boxes of MP4 and M4A (ISO/IEC 14496-12): packets of AAC are counted by the tables of their sizes, without which no
 * player finds them; of other codecs the movie's head tells. It may stand behind all of the sound, which is passed over.
 */
import { type HeadReader, toTheEnd } from "./head-reader.ts";

/** Boxes that hold others on the way to what tells of the sound. */
const holders: ReadonlySet<string> = new Set(["moov", "trak", "mdia", "minf", "stbl", "moof", "traf"]);
/** Samples of a packet of AAC. Of HE-AAC they are twice as many, and the movie's head is longer then. */
const samplesEach = 1_024;
/** AAC, 320 kbit/s for each of two channels; with pictures, and of other codecs, some 8 Mbit/s. */
const soundBytesPerSecondMost = 80_000;
const otherBytesPerSecondMost = 1_000_000;
const headBytes = 8;
const longHeadBytes = 16;

export class Mp4Boxes implements HeadReader {
  #told = 0;
  #counted = 0;
  /** Of the track that is read. */
  #aacRate = 0;
  #hasOtherTracks = false;

  read(bytes: Buffer, at: number): number {
    const box = readBox(bytes, at);
    if (box === undefined) return toTheEnd;
    if (holders.has(box.type)) {
      if (box.type === "trak") this.#aacRate = 0;
      return box.headBytes;
    }
    this.#readLeaf(box.type, bytes.subarray(at + box.headBytes, at + box.bytes));
    return box.bytes;
  }

  #readLeaf(type: string, content: Buffer): void {
    switch (type) {
      case "mvhd":
        this.#told = Math.max(this.#told, lengthOfHeader(content));
        break;
      case "stsd":
        this.#aacRate = aacRateOf(content);
        if (this.#aacRate === 0) this.#hasOtherTracks = true;
        break;
      case "stsz":
      case "stz2":
        if (this.#aacRate === 0 || content.length < 12) break;
        this.#counted = Math.max(this.#counted, (content.readUInt32BE(8) * samplesEach) / this.#aacRate);
        break;
      // Of a fragment, which is one of the sound where there is nothing else.
      case "trun":
        if (this.#hasOtherTracks || this.#aacRate === 0 || content.length < 8) break;
        this.#counted += (content.readUInt32BE(4) * samplesEach) / this.#aacRate;
        break;
    }
  }

  /** The movie of fragments is written before anybody knows how long all of them are, and tells 0. */
  seconds(bytes: number): number | undefined {
    if (this.#counted > 0) return Math.max(this.#counted, this.#told);
    const most = this.#hasOtherTracks ? otherBytesPerSecondMost : soundBytesPerSecondMost;
    return this.#told === 0 ? undefined : Math.max(this.#told, bytes / most);
  }
}

interface Box {
  readonly type: string;
  readonly headBytes: number;
  /** All of it. */
  readonly bytes: number;
}

/** @returns undefined for the last box of a file, which names no length, and for what is no box */
function readBox(file: Buffer, at: number): Box | undefined {
  if (at + headBytes > file.length) return undefined;
  const type = file.toString("latin1", at + 4, at + headBytes);
  const short = file.readUInt32BE(at);
  if (short !== 1) return short < headBytes ? undefined : { type, headBytes, bytes: short };
  if (at + longHeadBytes > file.length) return undefined;
  const bytes = Number(file.readBigUInt64BE(at + headBytes));
  return bytes < longHeadBytes ? undefined : { type, headBytes: longHeadBytes, bytes };
}

/** Its times have 32 bits, or 64 in version 1. @returns 0 where it says nothing */
function lengthOfHeader(header: Buffer): number {
  const isLong = header[0] === 1;
  if (header.length < (isLong ? 32 : 20)) return 0;
  const unitsPerSecond = header.readUInt32BE(isLong ? 20 : 12);
  const units = isLong ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  const isUnknown = units === (isLong ? Number(0xffff_ffff_ffff_ffffn) : 0xffff_ffff);
  return unitsPerSecond === 0 || isUnknown ? 0 : units / unitsPerSecond;
}

/** Samples a second by the first description of a track; 0 for what is no AAC. */
function aacRateOf(descriptions: Buffer): number {
  if (descriptions.length < 44 || descriptions.toString("latin1", 12, 16) !== "mp4a") return 0;
  return descriptions.readUInt16BE(40);
}
