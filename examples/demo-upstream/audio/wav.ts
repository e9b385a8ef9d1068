/** WAV files of PCM: writing the header, and reading how long one plays. */

/** Sixteen bits, one channel, as the speech of OpenAI and Gemini. */
export const sampleRate = 24_000;
export const bytesPerSample = 2;

const headerBytes = 44;

/** @param pcm little-endian samples of 16 bits, one channel */
export function wavHeader(pcmBytes: number): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(headerBytes - 8 + pcmBytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * bytesPerSample, 28);
  header.writeUInt16LE(bytesPerSample, 32);
  header.writeUInt16LE(8 * bytesPerSample, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(pcmBytes, 40);
  return header;
}

/** How long a WAV file plays; undefined for what is none. A length beyond the end of the file is that of the file. */
export function secondsOfWav(bytes: Buffer): number | undefined {
  if (bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WAVE") return undefined;
  let bytesPerSecond: number | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString("latin1", at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    if (name === "fmt " && at + 20 <= bytes.length) bytesPerSecond = bytes.readUInt32LE(at + 16);
    if (name === "data")
      return bytesPerSecond === undefined || bytesPerSecond === 0
        ? undefined
        : Math.min(length, bytes.length - at - 8) / bytesPerSecond;
    // Chunks begin at even places.
    at += 8 + length + (length % 2);
  }
  return undefined;
}
