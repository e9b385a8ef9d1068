/**
 * Reads the elements of WebM and Matroska (RFC 9559): packets of Opus are counted; of other codecs the last block's time or the
 * head tells, and a sound is at least as long as its bytes at the highest rate. Browsers write no length, since they record
 * while they send.
 */
import { type HeadReader, toTheEnd } from "./head-reader.ts";
import { opusSeconds } from "./opus-packet.ts";

const ids = {
  segment: 0x18538067,
  info: 0x1549a966,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  cluster: 0x1f43b675,
  blockGroup: 0xa0,
  timeScale: 0x2ad7b1,
  duration: 0x4489,
  trackNumber: 0xd7,
  codec: 0x86,
  clusterTime: 0xe7,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const;

/** Elements that hold others. */
const holders: ReadonlySet<number> = new Set([
  ids.segment,
  ids.info,
  ids.tracks,
  ids.trackEntry,
  ids.cluster,
  ids.blockGroup,
]);
const leaves: ReadonlySet<number> = new Set(Object.values(ids).filter((id) => !holders.has(id)));
/** Vorbis, some 500 kbit/s; with pictures some 8 Mbit/s. */
const soundBytesPerSecondMost = 64_000;
const otherBytesPerSecondMost = 1_000_000;
const usualTimeScale = 1_000_000;

export class WebmElements implements HeadReader {
  #nanosPerTick = usualTimeScale;
  #told = 0;
  #clusterTime = 0;
  #firstTime: number | undefined;
  #lastTime = 0;
  #opusSeconds = 0;
  #track = 0;
  #opusTrack: number | undefined;
  #hasPictures = false;

  read(bytes: Buffer, at: number): number {
    const idBytes = lengthOfNumber(bytes, at, 4);
    const sizeBytes = lengthOfNumber(bytes, at + idBytes, 8);
    if (idBytes === 0 || sizeBytes === 0) return toTheEnd;
    const id = bytes.readUIntBE(at, idBytes);
    const head = idBytes + sizeBytes;
    const size = valueOfNumber(bytes, at + idBytes, sizeBytes);
    if (holders.has(id)) return head;
    if (leaves.has(id)) this.#readLeaf(id, bytes.subarray(at + head, at + head + size));
    return head + size;
  }

  #readLeaf(id: number, content: Buffer): void {
    switch (id) {
      case ids.timeScale:
        this.#nanosPerTick = unsigned(content) || usualTimeScale;
        break;
      case ids.duration:
        this.#told = content.length === 4 ? content.readFloatBE() : content.length === 8 ? content.readDoubleBE() : 0;
        break;
      case ids.trackNumber:
        this.#track = unsigned(content);
        break;
      case ids.codec:
        if (content.toString("latin1", 0, 6) === "A_OPUS") this.#opusTrack = this.#track;
        else if (content.toString("latin1", 0, 2) === "V_") this.#hasPictures = true;
        break;
      case ids.clusterTime:
        this.#clusterTime = unsigned(content);
        break;
      case ids.block:
      case ids.simpleBlock:
        this.#readBlock(content);
        break;
    }
  }

  /** Its track, its time after that of the cluster, some flags, and then its packet (RFC 9559, 10). */
  #readBlock(block: Buffer): void {
    const trackBytes = lengthOfNumber(block, 0, 8);
    if (trackBytes === 0 || block.length < trackBytes + 4) return;
    const time = this.#clusterTime + block.readInt16BE(trackBytes);
    this.#firstTime ??= time;
    this.#lastTime = Math.max(this.#lastTime, time);
    if (valueOfNumber(block, 0, trackBytes) === this.#opusTrack)
      this.#opusSeconds += opusSeconds(block, trackBytes + 3);
  }

  seconds(bytes: number): number | undefined {
    const ticks = Math.max(this.#told, this.#lastTime - (this.#firstTime ?? 0));
    const found = this.#opusSeconds > 0 ? this.#opusSeconds : (ticks * this.#nanosPerTick) / 1e9;
    const most = this.#hasPictures ? otherBytesPerSecondMost : soundBytesPerSecondMost;
    return found > 0 ? Math.max(found, bytes / most) : undefined;
  }
}

/** Bytes of a number of variable size (RFC 8794, 4); 0 for what is none. */
function lengthOfNumber(bytes: Buffer, at: number, most: number): number {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first) - 23;
  return length <= most && at + length <= bytes.length ? length : 0;
}

/** Without the bit that tells its length. A size of ones is unknown: of what holds no others it means the rest of the file. */
function valueOfNumber(bytes: Buffer, at: number, length: number): number {
  let value = bytes.readUInt8(at) & (0xff >> length);
  for (let index = 1; index < length; index += 1) value = value * 256 + bytes.readUInt8(at + index);
  return value;
}

function unsigned(content: Buffer): number {
  const { length } = content;
  return length > 0 && length <= 6 ? content.readUIntBE(0, length) : 0;
}
