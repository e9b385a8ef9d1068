/**
 * Measures how long a sound is by its bytes, for minutes that nobody reported. Samples and WAV files are measured exactly;
 * other containers by the rate of their beginning, so that a long sound never has to be held.
 */
import { audioMillisecondsOf } from "./audio-duration.ts";

/** More of a sound's beginning says nothing more of its rate; some 4 s of the usual MP3. */
export const soundStartBytes = 64 * 1024;

/** Samples as OpenAI-style speech has them: 24 kHz, 16 bits, one channel. */
const samplesBytesPerSecond = 48_000;

export interface MeasuredSound {
  /** The first `soundStartBytes`, or all of a shorter one. */
  readonly start: Buffer;
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

async function containerMilliseconds({ start, bytes }: MeasuredSound): Promise<number | undefined> {
  // Few calls need it, and it is large: loaded with the first of them.
  const { parseBuffer } = await import("music-metadata");
  try {
    const { format } = await parseBuffer(start, { size: start.length }, { duration: true, skipCovers: true });
    const { duration = secondsOf(start.length, format.bitrate), container } = format;
    if (duration === undefined || duration === 0) return undefined;
    // Its head tells the length of all of it.
    const isWhole = container === "FLAC" || bytes <= start.length;
    return audioMillisecondsOf(isWhole ? duration : (duration * bytes) / start.length);
  } catch {
    // Bytes of a stranger: whatever is wrong with them, they have no length that is known.
    return undefined;
  }
}

function secondsOf(bytes: number, bitsPerSecond: number | undefined): number | undefined {
  return bitsPerSecond === undefined || bitsPerSecond <= 0 ? undefined : (8 * bytes) / bitsPerSecond;
}
