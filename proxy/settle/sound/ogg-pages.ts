/**
 * Reads the pages of Ogg (RFC 3533, 6). Packets of Opus (RFC 7845) are counted; of every other codec the pages tell how many
 * samples end with them, and a sound is at least as long as its bytes at the highest rate.
 */
import { readFlacInfo } from "./flac-head.ts";
import type { HeadReader } from "./head-reader.ts";
import { opusSeconds } from "./opus-packet.ts";

const pageHeadBytes = 27;
/** Opus and Vorbis, some 500 kbit/s. */
const bytesPerSecondMost = 64_000;
/** In the first packet of FLAC in Ogg, the place of its own head (RFC 9639, 10.1). */
const flacAt = 9;
/** Streams whose numbers end alike share a place: a file of many takes no more memory. */
const streamsMost = 64;
/** Both packets that come before the sound begin so. */
const opusWord = Buffer.from("Opus");

interface Stream {
  /** What begins once more in its place does not change that. */
  readonly isOpus: boolean;
  /** Samples a second; 0 where the codec is not known. */
  readonly rate: number;
  /** By its last page. */
  samples: number;
}

export class OggPages implements HeadReader {
  /** Lengths of the packets of this page that have not been passed. */
  #packets: number[] = [];
  readonly #streams = new Map<number, Stream>();
  /** Of all streams: they follow one another. */
  #seconds = 0;
  #bytesPerSecondMost = bytesPerSecondMost;

  read(bytes: Buffer, at: number): number {
    const packet = this.#packets.shift();
    if (packet === undefined) return this.#readPage(bytes, at);
    if (packet > 0 && !bytes.subarray(at, at + 4).equals(opusWord)) this.#seconds += opusSeconds(bytes, at);
    return packet === 0 ? this.read(bytes, at) : packet;
  }

  #readPage(bytes: Buffer, at: number): number {
    if (bytes.toString("latin1", at, at + 4) !== "OggS" || at + pageHeadBytes > bytes.length) {
      const next = bytes.indexOf("OggS", at + 1, "latin1");
      // The beginning of the word may be the end of what is at hand.
      return next < 0 ? Math.max(1, bytes.length - at - 3) : next - at;
    }
    const flags = bytes.readUInt8(at + 5);
    const body = at + pageHeadBytes + bytes.readUInt8(at + 26);
    const lacing = bytes.subarray(at + pageHeadBytes, body);
    const place = bytes.readUInt32LE(at + 14) % streamsMost;
    if ((flags & 2) !== 0) this.#beginStream(place, bytes.subarray(body));
    const stream = this.#streams.get(place);
    if (stream?.isOpus === true) return body - at + this.#queuePackets(lacing, (flags & 1) !== 0);
    if (stream !== undefined) this.#countSamples(stream, Number(bytes.readBigInt64LE(at + 6)));
    return body - at + lacing.reduce((sum, segment) => sum + segment, 0);
  }

  /** @param isContinued the page begins within a packet @returns bytes of that packet */
  #queuePackets(lacing: Buffer, isContinued: boolean): number {
    const packets: number[] = [];
    let length = 0;
    for (const segment of lacing) {
      length += segment;
      if (segment === 255) continue;
      packets.push(length);
      length = 0;
    }
    if (length > 0) packets.push(length);
    this.#packets = packets;
    return isContinued ? (packets.shift() ?? 0) : 0;
  }

  /** One that follows another counts anew. @param head its first packet, which names the codec */
  #beginStream(place: number, head: Buffer): void {
    const isOpus = this.#streams.get(place)?.isOpus === true || head.toString("latin1", 0, 8) === "OpusHead";
    const flac = head.toString("latin1", 0, 5) === "\x7fFLAC" ? readFlacInfo(head, flacAt) : undefined;
    if (flac !== undefined) this.#bytesPerSecondMost = Math.max(this.#bytesPerSecondMost, flac.bytesPerSecond);
    this.#streams.set(place, { isOpus, rate: flac?.rate ?? rateOf(head), samples: 0 });
  }

  #countSamples(stream: Stream, samples: number): void {
    if (stream.rate === 0 || samples <= stream.samples) return;
    this.#seconds += (samples - stream.samples) / stream.rate;
    stream.samples = samples;
  }

  seconds(bytes: number): number | undefined {
    return this.#seconds === 0 ? undefined : Math.max(this.#seconds, bytes / this.#bytesPerSecondMost);
  }
}

/** Samples a second; 0 for a codec that is not known, and for Opus, which is counted. */
function rateOf(head: Buffer): number {
  if (head.toString("latin1", 0, 7) === "\x01vorbis" && head.length >= 16) return head.readUInt32LE(12);
  if (head.toString("latin1", 0, 8) === "Speex   " && head.length >= 40) return head.readUInt32LE(36);
  return 0;
}
