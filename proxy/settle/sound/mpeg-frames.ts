/**
 * Counts the frames of MPEG audio (ISO/IEC 11172-3, 2.4.1.3; 13818-3) and of AAC in ADTS (ISO/IEC 13818-7, 6.2): each begins with
 * twelve bits that are set, and says how long it is and how many samples it holds. What a first frame tells of the number of all
 * (`Xing`, `VBRI`) is not believed.
 */
import { aacRates } from "./aac-config.ts";
import { densestBytesPerSecond, type HeadReader } from "./head-reader.ts";

interface Frame {
  readonly bytes: number;
  readonly seconds: number;
}

/** By the four bits of the head, kbit/s: layers I, II and III of MPEG 1, then layer I and the others of MPEG 2 and 2.5. */
const bitRates: readonly (readonly number[])[] = [
  [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
/** By the two bits of MPEG 1; version 2 has half of them, 2.5 a quarter. */
const mpegRates: readonly number[] = [44_100, 48_000, 32_000];

/**
 * A sound in which more of its bytes begin like a frame and are none was made to take long: only some of them are tried, and
 * those that are passed over count as sound, since frames may be hidden there.
 */
const missesLeast = 1_000;
const bytesPerMiss = 8;
const missBytes = 16;
/** Of bytes that are all set, so many are passed over in a step: it must not take long. */
const runBytesMost = 32;

export class MpegFrames implements HeadReader {
  #seconds = 0;
  /** Bytes before the present place, and how many of them looked like the beginning of a frame. */
  #passed = 0;
  #misses = 0;
  /** There were too many of them, and no frame since. */
  #isPassingOver = false;

  read(bytes: Buffer, at: number): number {
    const frame = readMpegFrame(bytes, at);
    if (frame === undefined) return this.#lookOn(bytes, at);
    this.#isPassingOver = false;
    this.#passed += frame.bytes;
    this.#seconds += frame.seconds;
    return frame.bytes;
  }

  /** Behind bytes that are no frame the next one is looked for, as decoders do. @returns bytes to where it may be */
  #lookOn(bytes: Buffer, at: number): number {
    const isMiss = bytes[at] === 0xff && !isAllSet(bytes, at);
    if (isMiss) {
      this.#misses += 1;
      this.#isPassingOver = this.#misses > missesLeast + this.#passed / bytesPerMiss;
    }
    const next = nextStart(bytes, at + (isMiss && this.#isPassingOver ? missBytes : 1));
    if (this.#isPassingOver) this.#seconds += (next - at) / densestBytesPerSecond;
    this.#passed += next - at;
    return next - at;
  }

  seconds(): number | undefined {
    return this.#seconds === 0 ? undefined : this.#seconds;
  }
}

/** Whether three bytes are such as stand in no head: they fill what was never written. */
function isAllSet(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0xff && bytes[at + 1] === 0xff && bytes[at + 2] === 0xff;
}

/** Where a frame may begin; behind all that is at hand, if nowhere. */
function nextStart(bytes: Buffer, from: number): number {
  const first = bytes.indexOf(0xff, from);
  if (first < 0) return Math.max(from, bytes.length);
  let next = first;
  while (next - first < runBytesMost && isAllSet(bytes, next)) next += 1;
  return next;
}

/** @returns undefined for what is no frame, or one of the free format, which does not say how long it is */
export function readMpegFrame(bytes: Buffer, at: number): Frame | undefined {
  if (at + 4 > bytes.length) return undefined;
  const head = bytes.readUInt32BE(at);
  if (head >>> 21 !== 0x7ff) return undefined;
  const [version, layer] = [(head >>> 19) & 3, (head >>> 17) & 3];
  if (layer === 0) return version >= 2 ? readAacFrame(bytes, at) : undefined;
  const slot = (head >>> 10) & 3;
  if (version === 1 || slot === 3) return undefined;
  const isFirst = version === 3;
  const rate = (mpegRates[slot] ?? 0) / (isFirst ? 1 : version === 2 ? 2 : 4);
  const bitRate = 1_000 * (bitRates[tableOf(isFirst, layer)]?.[(head >>> 12) & 15] ?? 0);
  const samples = layer === 3 ? 384 : layer === 1 && !isFirst ? 576 : 1_152;
  const padding = (head >>> 9) & 1;
  // Layer I counts in slots of four bytes.
  const length =
    layer === 3
      ? 4 * (Math.floor((12 * bitRate) / rate) + padding)
      : Math.floor(((samples / 8) * bitRate) / rate) + padding;
  return bitRate === 0 ? undefined : { bytes: length, seconds: samples / rate };
}

/** @param layer as the head has it: 3 is layer I */
function tableOf(isFirst: boolean, layer: number): number {
  if (isFirst) return 3 - layer;
  return layer === 3 ? 3 : 4;
}

function readAacFrame(bytes: Buffer, at: number): Frame | undefined {
  if (at + 7 > bytes.length) return undefined;
  const rate = aacRates[(bytes.readUInt8(at + 2) >> 2) & 15];
  const length = (bytes.readUIntBE(at + 3, 3) >> 5) & 0x1fff;
  if (rate === undefined || length < 7) return undefined;
  const blocks = (bytes.readUInt8(at + 6) & 3) + 1;
  return { bytes: length, seconds: (1_024 * blocks) / rate };
}
