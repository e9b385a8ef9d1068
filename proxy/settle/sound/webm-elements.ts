/**
 * Reads the elements of WebM and Matroska (RFC 9559): packets of Opus are counted; of other codecs the last block's time or the
 * head tells, and a sound is at least as long as its bytes at the highest rate. Browsers write no length, since they record
 * while they send.
 */
import { CountedTracks } from "./counted-tracks.ts";
import { type HeadReader, toTheEnd } from "./head-reader.ts";
import { opusSeconds, opusSecondsMost } from "./opus-packet.ts";

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
  /** That is read. */
  #track = 0;
  readonly #opusTracks = new CountedTracks();
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
        if (content.toString("latin1", 0, 6) === "A_OPUS") this.#opusTracks.add(this.#track, 1);
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

  /** Its track, its time after that of the cluster, some flags, and then its packets (RFC 9559, 10). */
  #readBlock(block: Buffer): void {
    const trackBytes = lengthOfNumber(block, 0, 8);
    if (trackBytes === 0 || block.length < trackBytes + 4) return;
    const time = this.#clusterTime + block.readInt16BE(trackBytes);
    this.#firstTime ??= time;
    this.#lastTime = Math.max(this.#lastTime, time);
    const track = valueOfNumber(block, 0, trackBytes);
    if (this.#opusTracks.has(track)) this.#opusTracks.count(track, opusSecondsOf(block, trackBytes + 2));
  }

  /** Between the first block and the last one. */
  get #span(): number {
    return this.#lastTime - (this.#firstTime ?? 0);
  }

  seconds(bytes: number): number | undefined {
    // Silence may be left out of packets, and times may lie.
    const packets = this.#opusTracks.seconds;
    const times = ((packets > 0 ? this.#span : Math.max(this.#told, this.#span)) * this.#nanosPerTick) / 1e9;
    const found = Math.max(packets, times);
    const most = this.#hasPictures ? otherBytesPerSecondMost : soundBytesPerSecondMost;
    return found > 0 ? Math.max(found, bytes / most) : undefined;
  }
}

const lacing = { bits: 0x06, xiph: 0x02, fixed: 0x04 } as const;

/**
 * Packets that share a block are told by its flags, and are as many as the next byte says and one more (RFC 9559, 10.3). Each is
 * as long as the first.
 *
 * @param at of the flags
 */
function opusSecondsOf(block: Buffer, at: number): number {
  const kind = block.readUInt8(at) & lacing.bits;
  if (kind === 0) return opusSeconds(block, at + 1);
  const packets = (block[at + 1] ?? 0) + 1;
  const first = firstPacketAt(block, at + 2, kind, packets - 1);
  // Where the sizes are too long to be at hand, a packet is not said to be short.
  return packets * (first < block.length ? opusSeconds(block, first) : opusSecondsMost);
}

/** Behind the sizes of all packets but the last one, if any. @returns the end of the block, or more, where it is not at hand */
function firstPacketAt(block: Buffer, sizesAt: number, kind: number, sizes: number): number {
  let at = sizesAt;
  if (kind === lacing.fixed) return at;
  for (let size = 0; size < sizes && at < block.length; size += 1) {
    // By Xiph a size ends with the first byte that is not 255.
    if (kind === lacing.xiph) while (block[at] === 255) at += 1;
    at += kind === lacing.xiph ? 1 : lengthOfNumber(block, at, 8) || block.length;
  }
  return at;
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
