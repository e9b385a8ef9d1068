/** Makes sounds of a known length, byte by byte: silence in each container that audio endpoints give and take. */

/** Silent frames of MPEG 1 layer III: 128 kbit/s, 44.1 kHz; 1,152 samples each. */
export function mp3Of(frames: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0x64]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

/** 16 bits, one channel. @param declaredBytes what the header says; the truth unless given */
export function wavOf(seconds: number, options: { rate?: number; declaredBytes?: number } = {}): Buffer {
  const { rate = 24_000 } = options;
  const { declaredBytes = seconds * rate * 2 } = options;
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(Math.min(declaredBytes + 36, 0xffff_ffff), 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(declaredBytes, 40);
  return Buffer.concat([header, samplesOf(seconds, rate)]);
}

/** Bare samples: 16 bits, one channel. */
export function samplesOf(seconds: number, rate = 24_000): Buffer {
  return Buffer.alloc(seconds * rate * 2);
}

/** AAC in ADTS: 24 kHz, 1,024 samples each, 200 bytes each. */
export function aacOf(frames: number): Buffer {
  const length = 200;
  const frame = Buffer.alloc(length);
  frame.set([0xff, 0xf1, (1 << 6) | (6 << 2), (1 << 6) | (length >> 11), (length >> 3) & 0xff]);
  frame.set([((length & 7) << 5) | 0x1f, 0xfc], 5);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

/** Packets of Opus, 20 ms each: 50 of them are 4,000 bytes. */
function opusPackets(count: number): Buffer {
  const packet = Buffer.alloc(80, 7);
  packet[0] = 31 << 3;
  return Buffer.concat(Array.from({ length: count }, () => packet));
}

/** Opus in Ogg: one page a second. @param granule what the last page tells; the truth unless given */
export function opusOf(seconds: number, options: { granule?: number } = {}): Buffer {
  const head = Buffer.alloc(19);
  head.write("OpusHead", 0, "latin1");
  head.set([1, 1], 8);
  head.writeUInt16LE(312, 10);
  head.writeUInt32LE(24_000, 12);
  const vendor = Buffer.from("\x04\0\0\0none\0\0\0\0", "latin1");
  const comments = Buffer.concat([Buffer.from("OpusTags"), vendor]);
  const { granule = 312 + 48_000 * seconds } = options;
  return oggOf([head, comments], { seconds, rate: 48_000, start: 312, granule, segments: Array(50).fill(80) });
}

/** Vorbis in Ogg, with the head alone of its three: 24 kHz, one page a second. */
export function vorbisOf(seconds: number, options: { granule?: number } = {}): Buffer {
  const head = Buffer.alloc(30);
  head.write("\x01vorbis", 0, "latin1");
  head[11] = 1;
  head.writeUInt32LE(24_000, 12);
  const { granule = 24_000 * seconds } = options;
  return oggOf([head], { seconds, rate: 24_000, start: 0, granule, segments: Array(50).fill(80) });
}

interface OggSound {
  readonly seconds: number;
  /** Samples a second. */
  readonly rate: number;
  /** Samples before the sound. */
  readonly start: number;
  readonly granule: number;
  /** Of each page. */
  readonly segments: readonly number[];
}

function oggOf(heads: readonly Buffer[], { seconds, rate, start, granule, segments }: OggSound): Buffer {
  const pages = heads.map((head, index) => oggPage(index === 0 ? 2 : 0, 0, index, head));
  for (let second = 1; second <= seconds; second += 1) {
    const isLast = second === seconds;
    const samples = isLast ? granule : Math.min(granule, start + rate * second);
    pages.push(oggPage(isLast ? 4 : 0, samples, heads.length - 1 + second, opusPackets(50), segments));
  }
  return Buffer.concat(pages);
}

/** @param segments those of one packet unless given */
function oggPage(
  flags: number,
  granule: number,
  number: number,
  payload: Buffer,
  segments?: readonly number[],
): Buffer {
  const full = Math.floor(payload.length / 255);
  const lacing = segments ?? [...Array.from({ length: full }, () => 255), payload.length % 255];
  const head = Buffer.alloc(27 + lacing.length);
  head.write("OggS", 0, "latin1");
  head[5] = flags;
  head.writeBigUInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(1, 14);
  head.writeUInt32LE(number, 18);
  head[26] = lacing.length;
  head.set(lacing, 27);
  return Buffer.concat([head, payload]);
}

/** FLAC whose head tells its length: 24 kHz, 16 bits, one channel. */
export function flacOf(seconds: number): Buffer {
  const rate = 24_000;
  const info = Buffer.alloc(34);
  info.writeUInt16BE(4_096, 0);
  info.writeUInt16BE(4_096, 2);
  info.writeBigUInt64BE((BigInt(rate) << 44n) | (15n << 36n) | BigInt(rate * seconds), 10);
  const head = Buffer.from([0x66, 0x4c, 0x61, 0x43, 0x80, 0, 0, 34]);
  return Buffer.concat([head, info, Buffer.alloc(20_000 * seconds, 3)]);
}

/** A box of MP4. @param isLong its size has 64 bits */
export function boxOf(type: string, content: Buffer, isLong = false): Buffer {
  const head = Buffer.alloc(isLong ? 16 : 8);
  head.writeUInt32BE(isLong ? 1 : content.length + 8, 0);
  head.write(type, 4, "latin1");
  if (isLong) head.writeBigUInt64BE(BigInt(content.length + 16), 8);
  return Buffer.concat([head, content]);
}

export interface MovieOptions {
  /** Milliseconds in the head of the movie; the truth unless given. */
  readonly told?: number;
  readonly codec?: string;
  /** Sizes and times have 64 bits. */
  readonly isLong?: boolean;
  readonly isMovieLast?: boolean;
}

/** M4A: 48 kHz, packets of 1,024 samples, 200 bytes each. */
export function m4aOf(packets: number, options: MovieOptions = {}): Buffer {
  const { codec = "mp4a", isLong = false, isMovieLast = false } = options;
  const { told = Math.round((packets * 1_024) / 48) } = options;
  const header = Buffer.alloc(isLong ? 112 : 100);
  header[0] = isLong ? 1 : 0;
  header.writeUInt32BE(1_000, isLong ? 20 : 12);
  if (isLong) header.writeBigUInt64BE(BigInt(told), 24);
  else header.writeUInt32BE(told, 16);
  const description = Buffer.alloc(28);
  description.writeUInt16BE(48_000, 24);
  const descriptions = Buffer.concat([Buffer.from("0000000000000001", "hex"), boxOf(codec, description)]);
  const sizes = Buffer.alloc(12 + 4 * packets);
  sizes.writeUInt32BE(packets, 8);
  const table = boxOf("stbl", Buffer.concat([boxOf("stsd", descriptions), boxOf("stsz", sizes)]));
  const track = boxOf("trak", boxOf("mdia", boxOf("minf", table)));
  const movie = boxOf("moov", Buffer.concat([boxOf("mvhd", header), track]));
  const brand = boxOf("ftyp", Buffer.from("M4A \0\0\0\0"));
  const data = boxOf("mdat", Buffer.alloc(200 * packets, 5), isLong);
  return Buffer.concat(isMovieLast ? [brand, data, movie] : [brand, movie, data]);
}

/** The same in fragments, as it is recorded while it is sent: the movie tells nothing. @param packets of each fragment */
export function fragmentedM4aOf(packets: readonly number[]): Buffer {
  const fragments = packets.map((count) => {
    const run = Buffer.alloc(8);
    run.writeUInt32BE(count, 4);
    const fragment = boxOf("moof", boxOf("traf", boxOf("trun", run)));
    return Buffer.concat([fragment, boxOf("mdat", Buffer.alloc(200 * count, 5))]);
  });
  return Buffer.concat([m4aOf(0, { told: 0 }), ...fragments]);
}

export interface WebmOptions {
  /** Milliseconds in the head; none unless given. */
  readonly told?: number;
  readonly codec?: string;
  /** Between the times of two blocks. */
  readonly blockMs?: number;
}

/** WebM as browsers record it: sizes of what is not ended are unknown, one cluster a second, packets of 20 ms. */
export function webmOf(seconds: number, { told, codec = "A_OPUS", blockMs = 20 }: WebmOptions = {}): Buffer {
  const duration = Buffer.alloc(8);
  duration.writeDoubleBE(told ?? 0);
  const info = elementOf("1549a966", told === undefined ? Buffer.alloc(0) : elementOf("4489", duration));
  const track = Buffer.concat([elementOf("d7", Buffer.from([1])), elementOf("86", Buffer.from(codec))]);
  const tracks = elementOf("1654ae6b", elementOf("ae", track));
  const pieces = [elementOf("1a45dfa3", Buffer.alloc(20)), Buffer.from("18538067ff", "hex"), info, tracks];
  for (let second = 0; second < seconds; second += 1) {
    const time = Buffer.alloc(4);
    time.writeUInt32BE(blockMs === 0 ? 0 : 1_000 * second);
    pieces.push(Buffer.from("1f43b675ff", "hex"), elementOf("e7", time));
    for (let packet = 0; packet < 50; packet += 1) {
      const head = Buffer.from([0x81, 0, 0, 0x80]);
      head.writeInt16BE(blockMs * packet, 1);
      pieces.push(elementOf("a3", Buffer.concat([head, opusPackets(1)])));
    }
  }
  return Buffer.concat(pieces);
}

function elementOf(id: string, content: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(0x1000_0000 | content.length);
  return Buffer.concat([Buffer.from(id, "hex"), size, content]);
}

/** A sound behind an ID3v2 tag, as pictures come. */
export function taggedOf(sound: Buffer, tagBytes: number): Buffer {
  const size = [21, 14, 7, 0].map((shift) => (tagBytes >> shift) & 0x7f);
  const head = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, ...size]);
  return Buffer.concat([head, Buffer.alloc(tagBytes), sound]);
}
