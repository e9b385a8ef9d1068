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

/** Opus in Ogg: one page a second, of 4,000 bytes. */
export function opusOf(seconds: number): Buffer {
  const head = Buffer.alloc(19);
  head.write("OpusHead", 0, "latin1");
  head.set([1, 1], 8);
  head.writeUInt16LE(312, 10);
  head.writeUInt32LE(24_000, 12);
  const vendor = Buffer.from("\x04\0\0\0none\0\0\0\0", "latin1");
  const pages = [oggPage(2, 0, 0, head), oggPage(0, 0, 1, Buffer.concat([Buffer.from("OpusTags"), vendor]))];
  for (let second = 1; second <= seconds; second += 1) {
    const flags = second === seconds ? 4 : 0;
    pages.push(oggPage(flags, 312 + 48_000 * second, 1 + second, Buffer.alloc(4_000, 7)));
  }
  return Buffer.concat(pages);
}

function oggPage(flags: number, granule: number, number: number, payload: Buffer): Buffer {
  const full = Math.floor(payload.length / 255);
  const segments = [...Array.from({ length: full }, () => 255), payload.length % 255];
  const head = Buffer.alloc(27 + segments.length);
  head.write("OggS", 0, "latin1");
  head[5] = flags;
  head.writeBigUInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(1, 14);
  head.writeUInt32LE(number, 18);
  head[26] = segments.length;
  head.set(segments, 27);
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
