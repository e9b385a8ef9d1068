/**
 * Measures how long a recording is: what is reserved before the call, and charged where its upstream reports nothing
 * (docs/design/audio.md 5).
 *
 * The file is read from the spool piece by piece. Its own head is believed, as its readers believe it; samples are counted.
 */
import { Readable } from "node:stream";
import type { SpooledContent } from "#proxy/multipart/form";
import type { AudioContainer } from "#proxy/neutral/media/sniff-audio";
import { audioMillisecondsOf } from "#proxy/settle/audio-duration";
import { soundMilliseconds, soundStartBytes } from "#proxy/settle/sound-length";

export interface RecordingLength {
  readonly milliseconds: number;
  /** False where only the size of the file tells. */
  readonly isMeasured: boolean;
}

export interface Recording {
  /** Measured with the first call; the form must not be released yet. */
  length(): Promise<RecordingLength>;
}

/** Speech is recorded with 64 kbit/s or less where nothing is known of it: browsers and telephones do. */
const usualBytesPerMillisecond = 8;

export function recordingOf(content: SpooledContent, container: AudioContainer): Recording {
  let length: Promise<RecordingLength> | undefined;
  return {
    length: () => {
      length ??= measure(content, container);
      return length;
    },
  };
}

async function measure(content: SpooledContent, container: AudioContainer): Promise<RecordingLength> {
  const milliseconds = container === "wav" ? await lengthOfWav(content) : await lengthByHead(content);
  if (milliseconds !== undefined && milliseconds > 0) return { milliseconds, isMeasured: true };
  const { length } = content;
  const bySize = audioMillisecondsOf(length / usualBytesPerMillisecond / 1_000) ?? 0;
  return { milliseconds: Math.max(1, bySize), isMeasured: false };
}

async function lengthOfWav(content: SpooledContent): Promise<number | undefined> {
  for await (const chunk of content.chunks()) {
    return soundMilliseconds({ start: chunk.subarray(0, soundStartBytes), bytes: content.length });
  }
  return undefined;
}

/** First by what the head says, then by all of its frames. */
async function lengthByHead(content: SpooledContent): Promise<number | undefined> {
  return (await parsedLength(content, false)) ?? (await parsedLength(content, true));
}

async function parsedLength(content: SpooledContent, readsAll: boolean): Promise<number | undefined> {
  // Few calls need it, and it is large: loaded with the first of them.
  const { parseStream } = await import("music-metadata");
  const file = Readable.from(copies(content), { objectMode: false, highWaterMark: soundStartBytes });
  try {
    const { format } = await parseStream(file, { size: content.length }, { duration: readsAll, skipCovers: true });
    return format.duration === 0 ? undefined : audioMillisecondsOf(format.duration);
  } catch {
    // A file of a stranger: whatever is wrong with it, its length is not known.
    return undefined;
  } finally {
    file.destroy();
  }
}

/** A piece of the spool is valid until the next one is read. */
async function* copies(content: SpooledContent): AsyncGenerator<Buffer> {
  for await (const chunk of content.chunks()) yield Buffer.from(chunk);
}
