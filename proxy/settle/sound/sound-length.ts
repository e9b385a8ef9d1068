/**
 * Measures how long a sound is by its bytes, for minutes that nobody reported (docs/design/audio.md 5).
 *
 * Samples, frames and packets are counted. What a head tells is believed where nothing can be counted, and never to be shorter than
 * the bytes take at the highest rate. The sound comes in pieces, of which none is kept.
 */
import { audioMillisecondsOf } from "./audio-duration.ts";
import { FlacHead } from "./flac-head.ts";
import { densestBytesPerSecond, type HeadReader, HeadWalker, toTheEnd } from "./head-reader.ts";
import { Mp4Boxes } from "./mp4-boxes.ts";
import { MpegFrames, readMpegFrame } from "./mpeg-frames.ts";
import { OggPages } from "./ogg-pages.ts";
import { WavChunks } from "./wav-chunks.ts";
import { WebmElements } from "./webm-elements.ts";

/** Samples as OpenAI-style speech has them: 24 kHz, 16 bits, one channel. */
const usualRate = 24_000;
const tagHeadBytes = 10;

/** Of bare samples, at 24 kHz unless given. @param rate samples a second, 16 bits each, of one channel */
export function samplesMilliseconds(bytes: number, rate = usualRate): number {
  return audioMillisecondsOf(bytes / (2 * rate)) ?? 0;
}

/** One sound in a container: MP3, AAC, Opus and others in Ogg, FLAC, WAV, MP4, WebM. */
export class SoundLength {
  readonly #walker = new HeadWalker({ read: (bytes, at) => this.#read(bytes, at) });
  #reader: HeadReader | undefined;
  #bytes = 0;
  #tagBytes = 0;

  /** Bytes of what comes next that need not be shown: `skip` passes over them. */
  get skipped(): number {
    return this.#walker.skipped;
  }

  /** What it holds: a head at most. */
  get heldBytes(): number {
    return this.#walker.heldBytes;
  }

  /** Steps that it took so far, 0.1 to 0.2 us each. */
  get steps(): number {
    return this.#walker.heads;
  }

  skip(bytes: number): void {
    this.#bytes += bytes;
    this.#walker.skip(bytes);
  }

  /** @param chunk its memory may be used again afterwards */
  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#walker.push(chunk);
  }

  /** Whole milliseconds of all that came, rounded up; nothing more comes. @returns undefined where nothing tells */
  end(): number | undefined {
    this.#walker.end();
    const soundBytes = this.#bytes - this.#tagBytes;
    if (soundBytes <= 0) return undefined;
    const counted = this.#reader?.seconds(soundBytes);
    const seconds = this.#walker.isLost ? Math.max(counted ?? 0, soundBytes / densestBytesPerSecond) : counted;
    const milliseconds = audioMillisecondsOf(seconds);
    return milliseconds === 0 ? undefined : milliseconds;
  }

  #read(bytes: Buffer, at: number): number {
    const tagBytes = this.#reader === undefined ? lengthOfTag(bytes, at) : 0;
    if (tagBytes > 0) {
      this.#tagBytes += tagBytes;
      return tagBytes;
    }
    this.#reader ??= readerOf(bytes, at) ?? (this.#tagBytes > 0 ? new MpegFrames() : undefined);
    return this.#reader === undefined ? toTheEnd : this.#reader.read(bytes, at);
  }
}

/** Of ID3v2, which may hold a picture (https://id3.org/id3v2.4.0-structure 3.1): its size has seven bits a byte. */
function lengthOfTag(bytes: Buffer, at: number): number {
  if (bytes.length - at < tagHeadBytes || bytes.toString("latin1", at, at + 3) !== "ID3") return 0;
  const size = bytes.subarray(at + 6, at + tagHeadBytes);
  return size.reduce((length, byte) => (length << 7) | (byte & 0x7f), 0) + tagHeadBytes;
}

/** @returns undefined for a container that is not known */
function readerOf(bytes: Buffer, at: number): HeadReader | undefined {
  const head = bytes.toString("latin1", at, at + 12);
  if (/^(?:RIFF|RF64|BW64).{4}WAVE/s.test(head)) return new WavChunks();
  if (head.startsWith("fLaC")) return new FlacHead();
  if (head.startsWith("OggS")) return new OggPages();
  if (head.startsWith("ftyp", 4)) return new Mp4Boxes();
  if (head.startsWith("\x1aE\xdf\xa3")) return new WebmElements();
  return readMpegFrame(bytes, at) === undefined ? undefined : new MpegFrames();
}
