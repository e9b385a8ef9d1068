/**
 * Measures how long a recording is: what is reserved before the call, and charged where its upstream reports nothing
 * (docs/design/audio.md 5).
 *
 * The file is read once, from head to head. A large part of it that tells nothing is not read at all, and a file that was made to
 * take long lets others have their turn.
 */
import { setImmediate as giveWay } from "node:timers/promises";
import type { SpooledContent } from "#proxy/multipart/form";
import { audioMillisecondsOf } from "#proxy/settle/sound/audio-duration";
import { SoundLength } from "#proxy/settle/sound/sound-length";

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
/** Of a recording that only the upstream gets to see. */
const unseenMilliseconds = 10 * 60 * 1_000;
/** To pass over less takes longer than to read it. */
const skippedBytesLeast = 512 * 1024;
const sliceBytes = 8 * 1024;
/** So many at a time, and those of one slice more: a few milliseconds at most. */
const stepsAtOnce = 4_000;

export function recordingOf(content: SpooledContent): Recording {
  let length: Promise<RecordingLength> | undefined;
  return {
    bySize: lengthBySize(content),
    length: () => {
      length ??= measure(content);
      return length;
    },
  };
}

/** One that the upstream gets by itself. @param content of a file beside the reference, which may be what is heard after all */
export function unseenRecording(content?: SpooledContent): Recording {
  const beside = content === undefined ? undefined : recordingOf(content);
  return {
    bySize: atLeastUnseen(beside?.bySize),
    length: async () => atLeastUnseen(await beside?.length()),
  };
}

function atLeastUnseen(beside: RecordingLength | undefined): RecordingLength {
  return { milliseconds: Math.max(unseenMilliseconds, beside?.milliseconds ?? 0), isMeasured: false };
}

async function measure(content: SpooledContent): Promise<RecordingLength> {
  const sound = new SoundLength();
  for (let at = 0; at < content.length; ) {
    for await (const chunk of content.chunks(at)) {
      await pushSlices(sound, chunk);
      at += chunk.length;
      if (sound.skipped >= skippedBytesLeast) break;
    }
    const skipped = Math.min(sound.skipped, content.length - at);
    sound.skip(skipped);
    at += skipped;
  }
  const milliseconds = sound.end();
  return milliseconds === undefined ? lengthBySize(content) : { milliseconds, isMeasured: true };
}

async function pushSlices(sound: SoundLength, chunk: Buffer): Promise<void> {
  let stepsBefore = sound.steps;
  for (let at = 0; at < chunk.length; at += sliceBytes) {
    sound.push(chunk.subarray(at, at + sliceBytes));
    if (sound.steps - stepsBefore < stepsAtOnce) continue;
    stepsBefore = sound.steps;
    await giveWay();
  }
}

function lengthBySize({ length }: SpooledContent): RecordingLength {
  const milliseconds = audioMillisecondsOf(length / usualBytesPerMillisecond / 1_000) ?? 0;
  return { milliseconds: Math.max(1, milliseconds), isMeasured: false };
}
