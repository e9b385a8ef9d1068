/**
 * Wraps bare samples in a WAV file, which players know (docs/design/translation.md 11.4): Google's speech is 16 bits a
 * sample, one channel, least byte first, with the rate in its media type (`audio/L16;codec=pcm;rate=24000`).
 */

/** Google's own where the type names none. */
const usualRate = 24_000;
const headerBytes = 44;

export interface Samples {
  readonly bytes: Buffer;
  /** Samples a second, never 0. */
  readonly rate: number;
}

/** @param mime media type of the data @returns undefined for what is no samples */
export function samplesOf(mime: string, base64: string): Samples | undefined {
  if (!/^audio\/(?:l16|pcm)\b/i.test(mime)) return undefined;
  const rate = Number(/;\s*rate=(\d{1,6})\b/i.exec(mime)?.[1] ?? usualRate);
  return { bytes: Buffer.from(base64, "base64"), rate: rate === 0 ? usualRate : rate };
}

/** @returns the file in base64; undefined for what is no samples */
export function wavFile(mime: string, base64: string): string | undefined {
  const samples = samplesOf(mime, base64);
  return samples === undefined ? undefined : Buffer.concat([wavHeader(samples), samples.bytes]).toString("base64");
}

/** The beginning of a WAV file, which its samples follow. */
export function wavHeader({ bytes: samples, rate }: Samples): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(headerBytes - 8 + samples.length, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  // Plain samples, one channel.
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(samples.length, 40);
  return header;
}
