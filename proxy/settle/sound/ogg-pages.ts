/**
 * Reads the pages of Ogg (RFC 3533, 6). Packets of Opus (RFC 7845) are counted; of every other codec the pages tell how many
 * samples end with them, and a sound is at least as long as its bytes at the highest rate.
 */
import type { HeadReader } from "./head-reader.ts";
import { opusSeconds } from "./opus-packet.ts";

const pageHeadBytes = 27;
/** Opus and Vorbis, some 500 kbit/s. */
const bytesPerSecondMost = 64_000;
/** Both packets that come before the sound begin so. */
const opusWord = Buffer.from("Opus");

export class OggPages implements HeadReader {
  /** Lengths of the packets of this page that have not been passed. */
  #packets: number[] = [];
  #isOpus = false;
  #opusSeconds = 0;
  #rate = 0;
  /** Samples of streams that came before the present one, by their seconds. */
  #secondsBefore = 0;
  #samples = 0;

  read(bytes: Buffer, at: number): number {
    const packet = this.#packets.shift();
    if (packet === undefined) return this.#readPage(bytes, at);
    if (packet > 0 && !bytes.subarray(at, at + 4).equals(opusWord)) this.#opusSeconds += opusSeconds(bytes, at);
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
    if ((flags & 2) !== 0) this.#beginStream(bytes, body);
    const samples = Number(bytes.readBigInt64LE(at + 6));
    if (samples > this.#samples) this.#samples = samples;
    const length = lacing.reduce((sum, segment) => sum + segment, 0);
    if (!this.#isOpus) return body - at + length;
    return body - at + this.#queuePackets(lacing, (flags & 1) !== 0);
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

  /** One that follows another counts anew. @param at its first packet, which names the codec */
  #beginStream(bytes: Buffer, at: number): void {
    this.#secondsBefore += this.#told;
    this.#samples = 0;
    const head = bytes.subarray(at);
    this.#isOpus = head.toString("latin1", 0, 8) === "OpusHead";
    this.#rate = rateOf(head);
  }

  get #told(): number {
    return this.#rate === 0 ? 0 : this.#samples / this.#rate;
  }

  seconds(bytes: number): number | undefined {
    const found = this.#opusSeconds > 0 ? this.#opusSeconds : this.#secondsBefore + this.#told;
    return found === 0 ? undefined : Math.max(found, bytes / bytesPerSecondMost);
  }
}

/** Samples a second; 0 for a codec that is not known, and for Opus, which is counted. */
function rateOf(head: Buffer): number {
  if (head.toString("latin1", 0, 7) === "\x01vorbis" && head.length >= 16) return head.readUInt32LE(12);
  if (head.toString("latin1", 0, 8) === "Speex   " && head.length >= 40) return head.readUInt32LE(36);
  return 0;
}
