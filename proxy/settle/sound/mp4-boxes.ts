/**
 * Reads the boxes of MP4 and M4A (ISO/IEC 14496-12): packets of AAC are counted by the tables of their sizes, without which no
 * player finds them; of other codecs the movie's head tells. It may stand behind all of the sound, which is passed over.
 */
import { aacConfigRate } from "./aac-config.ts";
import { CountedTracks } from "./counted-tracks.ts";
import { type HeadReader, toTheEnd } from "./head-reader.ts";

/** Boxes that hold others on the way to what tells of the sound. */
const holders: ReadonlySet<string> = new Set(["moov", "trak", "mdia", "minf", "stbl", "moof", "traf"]);
/** Samples of a packet of AAC. */
const samplesEach = 1_024;
/** AAC, 320 kbit/s for each of two channels; with pictures, and of codecs that lose nothing, some 8 Mbit/s. */
const soundBytesPerSecondMost = 80_000;
const otherBytesPerSecondMost = 1_000_000;
/** Decoders are chosen by these names. */
const losslessCodecs: ReadonlySet<string> = new Set([
  ...["alac", "fLaC", "ipcm", "fpcm", "lpcm", "sowt", "twos", "raw ", "in24", "in32", "fl32", "fl64"],
]);
const headBytes = 8;
const longHeadBytes = 16;

export class Mp4Boxes implements HeadReader {
  #told = 0;
  /** Of the track or the fragment that is read; 0 until it is told. */
  #track = 0;
  readonly #aacTracks = new CountedTracks();
  /** There are pictures, or a codec that loses nothing: many bytes are no long sound. */
  #isWide = false;

  read(bytes: Buffer, at: number): number {
    const box = readBox(bytes, at);
    if (box === undefined) return toTheEnd;
    if (holders.has(box.type)) {
      if (box.type === "trak" || box.type === "traf") this.#track = 0;
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
      case "tkhd":
        this.#track = numberAt(content, content[0] === 1 ? 20 : 12);
        break;
      case "hdlr":
        if (content.toString("latin1", 8, 12) === "vide") this.#isWide = true;
        break;
      case "stsd":
        this.#readDescriptions(content);
        break;
      case "stsz":
      case "stz2":
        this.#aacTracks.count(this.#track, samplesEach * numberAt(content, 8));
        break;
      case "tfhd":
        this.#track = numberAt(content, 4);
        break;
      case "trun":
        this.#aacTracks.count(this.#track, samplesEach * numberAt(content, 4));
        break;
    }
  }

  /** By the first of them. */
  #readDescriptions(content: Buffer): void {
    const codec = content.toString("latin1", 12, 16);
    if (losslessCodecs.has(codec)) this.#isWide = true;
    const rate = codec === "mp4a" ? aacRateOf(content) : 0;
    if (rate > 0) this.#aacTracks.add(this.#track, rate);
  }

  /** The movie of fragments is written before anybody knows how long all of them are, and tells 0. */
  seconds(bytes: number): number | undefined {
    const found = Math.max(this.#aacTracks.seconds, this.#told);
    const most = this.#isWide ? otherBytesPerSecondMost : soundBytesPerSecondMost;
    return found === 0 ? undefined : Math.max(found, bytes / most);
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

/** Samples a second of AAC: as its decoder reads it, else as players show it. @returns 0 where it says nothing */
function aacRateOf(descriptions: Buffer): number {
  return aacConfigRate(descriptions) ?? (descriptions.length < 44 ? 0 : descriptions.readUInt16BE(40));
}

/** @returns 0 where the box is too short */
function numberAt(content: Buffer, at: number): number {
  return content.length < at + 4 ? 0 : content.readUInt32BE(at);
}
