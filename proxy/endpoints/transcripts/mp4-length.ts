/**
 * Finds the length of an MP4 or M4A file in its movie header (ISO/IEC 14496-12, 4.2 and 8.2.2), which may stand behind all of
 * its sound.
 *
 * The boxes of the file are walked over and not read, and few of them: a file of a million empty boxes has no length.
 */
import type { SpooledContent } from "#proxy/multipart/form";
import { audioMillisecondsOf } from "#proxy/settle/audio-duration";
import { readAt } from "./read-at.ts";

/** Top-level boxes that are walked over: files have five or so. */
const boxesMax = 16;
/** The movie header is the first box of the movie, or close to it. */
const movieBytes = 4 * 1024;
const headerBytes = 16;

/** @returns undefined where there is none, or where it says nothing: fragments are written before anybody knows */
export async function mp4Milliseconds(content: SpooledContent): Promise<number | undefined> {
  let at = 0;
  for (let count = 0; count < boxesMax && at < content.length; count += 1) {
    const box = readBox(await readAt(content, at, headerBytes));
    if (box === undefined) return undefined;
    if (box.type === "moov") return lengthOfMovie(await readAt(content, at + box.headBytes, movieBytes));
    at += box.bytes;
  }
  return undefined;
}

interface Box {
  readonly type: string;
  readonly headBytes: number;
  /** All of it. */
  readonly bytes: number;
}

/** @returns undefined for the last box of a file, which names no length, and for what is no box */
function readBox(head: Buffer): Box | undefined {
  if (head.length < 8) return undefined;
  const type = head.toString("latin1", 4, 8);
  const short = head.readUInt32BE(0);
  if (short !== 1) return short < 8 ? undefined : { type, headBytes: 8, bytes: short };
  if (head.length < headerBytes) return undefined;
  const bytes = Number(head.readBigUInt64BE(8));
  return bytes < headerBytes ? undefined : { type, headBytes: headerBytes, bytes };
}

function lengthOfMovie(movie: Buffer): number | undefined {
  for (let at = 0, count = 0; at < movie.length && count < boxesMax; count += 1) {
    const box = readBox(movie.subarray(at, at + headerBytes));
    if (box === undefined) return undefined;
    if (box.type === "mvhd") return lengthOfHeader(movie.subarray(at + box.headBytes));
    at += box.bytes;
  }
  return undefined;
}

/** Its times have 32 bits, or 64 in version 1. */
function lengthOfHeader(header: Buffer): number | undefined {
  const isLong = header[0] === 1;
  if (header.length < (isLong ? 32 : 20)) return undefined;
  const unitsPerSecond = header.readUInt32BE(isLong ? 20 : 12);
  const units = isLong ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  const isUnknown = units === (isLong ? Number(0xffff_ffff_ffff_ffffn) : 0xffff_ffff);
  return unitsPerSecond === 0 || units === 0 || isUnknown ? undefined : audioMillisecondsOf(units / unitsPerSecond);
}
