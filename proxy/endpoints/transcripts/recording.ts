/**
 * Measures how long a recording is: what is reserved before the call, and charged where its upstream reports nothing
 * (docs/design/audio.md 5).
 *
 * Its own head is believed, as its readers believe it; samples are counted. Only its ends and heads are parsed: a file that was
 * made to take long takes little.
 */
import type { SpooledContent } from "#proxy/multipart/form";
import type { AudioContainer } from "#proxy/neutral/media/sniff-audio";
import { audioMillisecondsOf } from "#proxy/settle/audio-duration";
import { type MeasuredSound, soundMilliseconds, soundStartBytes } from "#proxy/settle/sound-length";
import { mp4Milliseconds } from "./mp4-length.ts";
import { readAt } from "./read-at.ts";

export interface RecordingLength {
  readonly milliseconds: number;
  /** False where only the size of the file tells. */
  readonly isMeasured: boolean;
}

export interface Recording {
  /** By its size alone, which costs nothing. */
  readonly bySize: RecordingLength;
  /** Measured with the first call; the form must not be released yet. */
  length(): Promise<RecordingLength>;
}

/** Speech is recorded with 64 kbit/s or less where nothing is known of it: browsers and telephones do. */
const usualBytesPerMillisecond = 8;
/** A page of Ogg has 65,307 bytes at most. */
const endBytes = 64 * 1024;
const tagHeadBytes = 10;

export function recordingOf(content: SpooledContent, container: AudioContainer): Recording {
  let length: Promise<RecordingLength> | undefined;
  return {
    bySize: lengthBySize(content),
    length: () => {
      length ??= measure(content, container);
      return length;
    },
  };
}

async function measure(content: SpooledContent, container: AudioContainer): Promise<RecordingLength> {
  const found = container === "mp4" ? await mp4Milliseconds(content) : await soundMilliseconds(await endsOf(content));
  if (found !== undefined && found > 0) return { milliseconds: found, isMeasured: true };
  return lengthBySize(content);
}

function lengthBySize({ length }: SpooledContent): RecordingLength {
  const milliseconds = audioMillisecondsOf(length / usualBytesPerMillisecond / 1_000) ?? 0;
  return { milliseconds: Math.max(1, milliseconds), isMeasured: false };
}

/** The two ends of the sound, without the tag before it, which may hold a picture. */
async function endsOf(content: SpooledContent): Promise<MeasuredSound> {
  const tagBytes = lengthOfTag(content.start);
  const bytes = content.length - tagBytes;
  if (bytes <= 0) return { start: Buffer.alloc(0), bytes: 0 };
  const start = await readAt(content, tagBytes, soundStartBytes);
  if (!startsAsOgg(start)) return { start, bytes };
  const end = bytes <= soundStartBytes ? start : await readAt(content, content.length - endBytes, endBytes);
  return { start, end, bytes };
}

/** Only its last page tells how long it is. */
function startsAsOgg(start: Buffer): boolean {
  return start.toString("latin1", 0, 4) === "OggS";
}

/** Of ID3v2 (https://id3.org/id3v2.4.0-structure 3.1): its size has seven bits a byte. */
function lengthOfTag(start: Buffer): number {
  if (start.length < tagHeadBytes || start.toString("latin1", 0, 3) !== "ID3") return 0;
  return start.subarray(6, tagHeadBytes).reduce((bytes, byte) => (bytes << 7) | (byte & 0x7f), 0) + tagHeadBytes;
}
