/** Makes sounds of a known length, byte by byte: silence in each container that audio endpoints give and take. */

/** The densest frames of MPEG audio: version 2.5, 8 kbit/s, 8 kHz; 72 bytes and milliseconds each. */
export function denseMp3Of(frames: number): Buffer {
  const frame = Buffer.alloc(72);
  frame.set([0xff, 0xe3, 0x18]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

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

interface OpusOptions {
  /** What the last page tells; the truth unless given. */
  readonly granule?: number;
  /** First packets of other streams, which begin behind that of the sound and say nothing more. */
  readonly others?: readonly { readonly head: Buffer; readonly serial: number }[];
}

/** Opus in Ogg: one page a second. */
export function opusOf(seconds: number, options: OpusOptions = {}): Buffer {
  const head = Buffer.alloc(19);
  head.write("OpusHead", 0, "latin1");
  head.set([1, 1], 8);
  head.writeUInt16LE(312, 10);
  head.writeUInt32LE(24_000, 12);
  const vendor = Buffer.from("\x04\0\0\0none\0\0\0\0", "latin1");
  const comments = Buffer.concat([Buffer.from("OpusTags"), vendor]);
  const { granule = 312 + 48_000 * seconds, others } = options;
  return oggOf([head, comments], { seconds, rate: 48_000, start: 312, granule, others });
}

/** Vorbis in Ogg, with the head alone of its three: 24 kHz, one page a second. */
export function vorbisOf(seconds: number, options: { granule?: number } = {}): Buffer {
  const { granule = 24_000 * seconds } = options;
  return oggOf([vorbisHead(24_000)], { seconds, rate: 24_000, start: 0, granule });
}

/** @param rate samples a second */
export function vorbisHead(rate: number): Buffer {
  const head = Buffer.alloc(30);
  head.write("\x01vorbis", 0, "latin1");
  head[11] = 1;
  head.writeUInt32LE(rate, 12);
  return head;
}

/** FLAC in Ogg: 24 kHz, 16 bits, one channel, one page a second. */
export function oggFlacOf(seconds: number): Buffer {
  const rate = 24_000;
  const head = Buffer.concat([Buffer.from("\x7fFLAC\x01\0\0\0", "latin1"), flacHead(rate, 0)]);
  return oggOf([head], { seconds, rate, start: 0, granule: rate * seconds });
}

interface OggSound {
  readonly seconds: number;
  /** Samples a second. */
  readonly rate: number;
  /** Samples before the sound. */
  readonly start: number;
  readonly granule: number;
  readonly others?: OpusOptions["others"] | undefined;
}

function oggOf(heads: readonly Buffer[], sound: OggSound): Buffer {
  const { seconds, rate, start, granule, others = [] } = sound;
  const pages = heads.map((head, index) => oggPage(index === 0 ? 2 : 0, 0, index, head));
  pages.splice(1, 0, ...others.map(({ head, serial }) => oggPage(2, 0, 0, head, { serial })));
  for (let second = 1; second <= seconds; second += 1) {
    const isLast = second === seconds;
    const samples = isLast ? granule : Math.min(granule, start + rate * second);
    pages.push(
      oggPage(isLast ? 4 : 0, samples, heads.length - 1 + second, opusPackets(50), { segments: Array(50).fill(80) }),
    );
  }
  return Buffer.concat(pages);
}

interface OggPage {
  readonly serial?: number;
  /** Those of one packet unless given. */
  readonly segments?: readonly number[];
}

function oggPage(
  flags: number,
  granule: number,
  number: number,
  payload: Buffer,
  { serial = 1, segments }: OggPage = {},
): Buffer {
  const full = Math.floor(payload.length / 255);
  const lacing = segments ?? [...Array.from({ length: full }, () => 255), payload.length % 255];
  const head = Buffer.alloc(27 + lacing.length);
  head.write("OggS", 0, "latin1");
  head[5] = flags;
  head.writeBigUInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(serial, 14);
  head.writeUInt32LE(number, 18);
  head[26] = lacing.length;
  head.set(lacing, 27);
  return Buffer.concat([head, payload]);
}

/** FLAC whose head tells its length: 24 kHz, 16 bits, one channel. */
export function flacOf(seconds: number): Buffer {
  const rate = 24_000;
  return Buffer.concat([flacHead(rate, rate * seconds), Buffer.alloc(20_000 * seconds, 3)]);
}

function flacHead(rate: number, samples: number): Buffer {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(4_096, 0);
  info.writeUInt16BE(4_096, 2);
  info.writeBigUInt64BE((BigInt(rate) << 44n) | (15n << 36n) | BigInt(samples), 10);
  return Buffer.concat([Buffer.from([0x66, 0x4c, 0x61, 0x43, 0x80, 0, 0, 34]), info]);
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
  /** What the description of the sound tells, samples a second. */
  readonly toldRate?: number;
  /** Place of 48 kHz in the table of rates that decoders read; absent: they have the description alone. */
  readonly decoderRate?: number;
  /** The same in a box that no decoder reads. */
  readonly decoyRate?: number;
  /** Sizes and times have 64 bits. */
  readonly isLong?: boolean;
  readonly isMovieLast?: boolean;
  /** Beside the sound stands a track of pictures. */
  readonly hasPictures?: boolean;
}

/** M4A: 48 kHz, packets of 1,024 samples, 200 bytes each. The sound is track 2. */
export function m4aOf(packets: number, options: MovieOptions = {}): Buffer {
  const { codec = "mp4a", isLong = false, isMovieLast = false, hasPictures = false } = options;
  const { told = Math.round((packets * 1_024) / 48), toldRate = 48_000, decoderRate, decoyRate } = options;
  const header = Buffer.alloc(isLong ? 112 : 100);
  header[0] = isLong ? 1 : 0;
  header.writeUInt32BE(1_000, isLong ? 20 : 12);
  if (isLong) header.writeBigUInt64BE(BigInt(told), 24);
  else header.writeUInt32BE(told, 16);
  const description = Buffer.alloc(28);
  description.writeUInt16BE(toldRate, 24);
  const decoy = decoyRate === undefined ? Buffer.alloc(0) : boxOf("free", decoderConfigOf(decoyRate));
  const decoder = decoderRate === undefined ? decoy : Buffer.concat([decoy, decoderConfigOf(decoderRate)]);
  const sound = trackOf(2, "soun", boxOf(codec, Buffer.concat([description, decoder])), { packets, isLong });
  const pictures = hasPictures ? trackOf(1, "vide", boxOf("avc1", Buffer.alloc(70)), { packets: 0, isLong }) : "";
  const movie = boxOf("moov", Buffer.concat([boxOf("mvhd", header), Buffer.from(pictures), sound]));
  const brand = boxOf("ftyp", Buffer.from("M4A \0\0\0\0"));
  const data = boxOf("mdat", Buffer.alloc(200 * packets, 5), isLong);
  return Buffer.concat(isMovieLast ? [brand, data, movie] : [brand, movie, data]);
}

function trackOf(
  id: number,
  kind: string,
  description: Buffer,
  { packets, isLong }: { packets: number; isLong: boolean },
): Buffer {
  const header = Buffer.alloc(isLong ? 96 : 84);
  header[0] = isLong ? 1 : 0;
  header.writeUInt32BE(id, isLong ? 20 : 12);
  const handler = Buffer.alloc(25);
  handler.write(kind, 8, "latin1");
  const sizes = Buffer.alloc(12 + 4 * packets);
  sizes.writeUInt32BE(packets, 8);
  const descriptions = boxOf("stsd", Buffer.concat([Buffer.from("0000000000000001", "hex"), description]));
  const table = boxOf("minf", boxOf("stbl", Buffer.concat([descriptions, boxOf("stsz", sizes)])));
  return boxOf(
    "trak",
    Buffer.concat([boxOf("tkhd", header), boxOf("mdia", Buffer.concat([boxOf("hdlr", handler), table]))]),
  );
}

/** What decoders of AAC read, its lengths in four bytes each as most writers have them. */
function decoderConfigOf(rate: number): Buffer {
  const config = Buffer.from([(2 << 3) | (rate >> 1), ((rate & 1) << 7) | (1 << 3)]);
  const decoder = Buffer.concat([Buffer.from([0x40, 0x15]), Buffer.alloc(11), descriptorOf(5, config)]);
  return boxOf(
    "esds",
    Buffer.concat([Buffer.alloc(4), descriptorOf(3, Buffer.concat([Buffer.alloc(3), descriptorOf(4, decoder)]))]),
  );
}

function descriptorOf(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, 0x80, 0x80, 0x80, content.length]), content]);
}

/** The same in fragments, as it is recorded while it is sent: the movie tells nothing. @param packets of each fragment */
export function fragmentedM4aOf(packets: readonly number[], options: MovieOptions = {}): Buffer {
  const { hasPictures = false } = options;
  const fragments = packets.map((count) => {
    const pictures = hasPictures ? fragmentOf(1, 3 * count) : "";
    const fragment = boxOf("moof", Buffer.concat([Buffer.from(pictures), fragmentOf(2, count)]));
    return Buffer.concat([fragment, boxOf("mdat", Buffer.alloc(200 * count, 5))]);
  });
  return Buffer.concat([m4aOf(0, { ...options, told: 0 }), ...fragments]);
}

function fragmentOf(track: number, packets: number): Buffer {
  const [header, run] = [Buffer.alloc(8), Buffer.alloc(8)];
  header.writeUInt32BE(track, 4);
  run.writeUInt32BE(packets, 4);
  return boxOf("traf", Buffer.concat([boxOf("tfhd", header), boxOf("trun", run)]));
}

export interface WebmOptions {
  /** Milliseconds in the head; none unless given. */
  readonly told?: number;
  readonly codec?: string;
  /** Between the times of two packets. */
  readonly blockMs?: number;
  /** How packets share a block, five of them each. */
  readonly lacing?: keyof typeof lacings;
  /** Of the tracks, which all have the codec; the sound is the first. */
  readonly tracks?: number;
}

/** The bits of a block's flags, and what stands before packets of 80 bytes. */
const lacings = {
  none: { packets: 1, flags: 0x80, head: [] },
  xiph: { packets: 5, flags: 0x82, head: [4, 80, 80, 80, 80] },
  fixed: { packets: 5, flags: 0x84, head: [4] },
  ebml: { packets: 5, flags: 0x86, head: [4, 0x80 | 80, 0xbf, 0xbf, 0xbf] },
} as const;

/** WebM as browsers record it: sizes of what is not ended are unknown, one cluster a second, packets of 20 ms. */
export function webmOf(seconds: number, options: WebmOptions = {}): Buffer {
  const { told, codec = "A_OPUS", blockMs = 20, lacing = "none", tracks = 1 } = options;
  const duration = Buffer.alloc(8);
  duration.writeDoubleBE(told ?? 0);
  const info = elementOf("1549a966", told === undefined ? Buffer.alloc(0) : elementOf("4489", duration));
  const entries = Array.from({ length: tracks }, (_, index) => {
    const entry = [elementOf("d7", Buffer.from([index + 1])), elementOf("86", Buffer.from(codec))];
    return elementOf("ae", Buffer.concat(entry));
  });
  const trackList = elementOf("1654ae6b", Buffer.concat(entries));
  const pieces = [elementOf("1a45dfa3", Buffer.alloc(20)), Buffer.from("18538067ff", "hex"), info, trackList];
  const { packets, flags, head } = lacings[lacing];
  for (let second = 0; second < seconds; second += 1) {
    const time = Buffer.alloc(4);
    time.writeUInt32BE(blockMs === 0 ? 0 : 1_000 * second);
    pieces.push(Buffer.from("1f43b675ff", "hex"), elementOf("e7", time));
    for (let packet = 0; packet < 50; packet += packets) {
      const block = Buffer.from([0x81, 0, 0, flags, ...head]);
      block.writeInt16BE(blockMs * packet, 1);
      pieces.push(elementOf("a3", Buffer.concat([block, opusPackets(packets)])));
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
