/**
 * Measures how long a sound is by its bytes, for minutes that nobody reported. Samples and WAV files are measured exactly;
 * other containers by their head, or by the rate of their beginning. No more than that is ever parsed: a long sound need not be
 * held, and one that was made to take long takes little.
 */
import type { IFormat } from "music-metadata";
import { audioMillisecondsOf } from "./audio-duration.ts";

/** More of a sound's beginning says nothing more of its rate; some 4 s of the usual MP3. */
export const soundStartBytes = 64 * 1024;

/** Samples as OpenAI-style speech has them: 24 kHz, 16 bits, one channel. */
const samplesBytesPerSecond = 48_000;

export interface MeasuredSound {
  /** The first `soundStartBytes`, or all of a shorter one. */
  readonly start: Buffer;
  /** The last bytes, where they are at hand. */
  readonly end?: Buffer | undefined;
  readonly bytes: number;
}

/** Of bare samples, at 24 kHz unless given. @param rate samples a second, 16 bits each, of one channel */
export function samplesMilliseconds(bytes: number, rate = samplesBytesPerSecond / 2): number {
  return audioMillisecondsOf(bytes / (2 * rate)) ?? 0;
}

/**
 * Whole milliseconds of a sound in a container (MP3, Opus in Ogg, AAC, FLAC, WAV ...), rounded up.
 * @returns undefined where nothing that is known could be found
 */
export async function soundMilliseconds(sound: MeasuredSound): Promise<number | undefined> {
  if (sound.bytes === 0) return undefined;
  return wavMilliseconds(sound) ?? (await containerMilliseconds(sound));
}

/** By its rate and what came: files that are written while they are sent declare no length, or a wrong one. */
function wavMilliseconds({ start, bytes }: MeasuredSound): number | undefined {
  if (start.toString("latin1", 0, 4) !== "RIFF" || start.toString("latin1", 8, 12) !== "WAVE") return undefined;
  const format = chunkAt(start, "fmt ");
  const data = chunkAt(start, "data");
  if (format === undefined || data === undefined || format + 12 > start.length) return undefined;
  const bytesPerSecond = start.readUInt32LE(format + 8);
  return bytesPerSecond === 0 ? undefined : audioMillisecondsOf((bytes - data) / bytesPerSecond);
}

/** Where the content of a chunk of a RIFF file begins. */
function chunkAt(file: Buffer, name: string): number | undefined {
  for (let at = 12; at + 8 <= file.length; ) {
    if (file.toString("latin1", at, at + 4) === name) return at + 8;
    const length = file.readUInt32LE(at + 4);
    at += 8 + length + (length % 2);
  }
  return undefined;
}

/** Containers whose head does not tell the length of all of it: what is found stands for the bytes that were read. */
const partly: ReadonlySet<string | undefined> = new Set(["Ogg", "ADTS/MPEG-4", "MPEG"]);
/** By these the first frame of an MP3 tells how many there are; so far behind its beginning at most. */
const countedFrames = ["Xing", "Info", "VBRI"];
const firstFrameBytes = 64;

async function containerMilliseconds({ start, end, bytes }: MeasuredSound): Promise<number | undefined> {
  const whole = await parsed(start, bytes, false);
  const isTold = whole !== undefined && (!partly.has(whole.container) || tellsFrames(start));
  if (whole?.duration !== undefined && isTold) return audioMillisecondsOf(whole.duration);
  const last = whole?.container === "Ogg" && end !== undefined ? lastOggSeconds(start, end, whole) : undefined;
  if (last !== undefined) return audioMillisecondsOf(last);
  // Frame by frame: a start is short, and a rate that changes is better told by many of them.
  const read = await parsed(start, start.length, true);
  const seconds = read?.duration ?? secondsOf(start.length, read?.bitrate);
  return seconds === undefined || seconds === 0 ? undefined : audioMillisecondsOf((seconds * bytes) / start.length);
}

function tellsFrames(start: Buffer): boolean {
  const head = start.toString("latin1", 0, firstFrameBytes);
  return countedFrames.some((name) => head.includes(name));
}

type ParsedFormat = Pick<IFormat, "container" | "codec" | "duration" | "bitrate" | "sampleRate">;

/** @param bytes of the file that begins so @returns undefined for bytes that are no sound */
async function parsed(start: Buffer, bytes: number, readsAll: boolean): Promise<ParsedFormat | undefined> {
  // Few calls need it, and it is large: loaded with the first of them.
  const { parseBuffer } = await import("music-metadata");
  try {
    const { format } = await parseBuffer(start, { size: bytes }, { duration: readsAll, skipCovers: true });
    return format;
  } catch {
    // Bytes of a stranger: whatever is wrong with them, they have no length that is known.
    return undefined;
  }
}

/** Each page says how many samples end with it (RFC 3533 section 6); those of Opus are of 48 kHz (RFC 7845 section 4). */
function lastOggSeconds(start: Buffer, end: Buffer, { codec, sampleRate = 0 }: ParsedFormat): number | undefined {
  const page = end.lastIndexOf("OggS");
  if (page < 0 || page + 14 > end.length) return undefined;
  const opus = codec === "Opus" ? start.indexOf("OpusHead") : -1;
  const skipped = opus >= 0 && opus + 12 <= start.length ? start.readUInt16LE(opus + 10) : 0;
  const rate = codec === "Opus" ? 48_000 : sampleRate;
  const samples = Number(end.readBigInt64LE(page + 6)) - skipped;
  return rate <= 0 || samples <= 0 ? undefined : samples / rate;
}

function secondsOf(bytes: number, bitsPerSecond: number | undefined): number | undefined {
  return bitsPerSecond === undefined || bitsPerSecond <= 0 ? undefined : (8 * bytes) / bitsPerSecond;
}
