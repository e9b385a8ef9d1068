/**
 * Detects what holds a recording by its first bytes, for endpoints that take files of sound: clients name them as they like.
 *
 * The kinds are those that transcriptions take (`flac`, `mp3`, `mp4` with `m4a`, `mpeg`, `mpga`, `ogg`, `wav`, `webm`). A file
 * with pictures beside the sound is one of them as well.
 */

export type AudioContainer = "flac" | "mp3" | "mp4" | "mpeg" | "ogg" | "wav" | "webm";

const signatures: readonly (readonly [container: AudioContainer, offset: number, bytes: string])[] = [
  ["flac", 0, "fLaC"],
  ["mp3", 0, "ID3"],
  ["mp4", 4, "ftyp"],
  /** A program stream of MPEG. */
  ["mpeg", 0, "\x00\x00\x01\xba"],
  ["ogg", 0, "OggS"],
  ["webm", 0, "\x1aE\xdf\xa3"],
];
const riffForms: readonly string[] = ["RIFF", "RIFX", "RF64", "BW64"];

/**
 * @param start the first bytes of the file, 12 at least where it has as many
 * @returns undefined for what is none of these
 */
export function sniffAudio(start: Buffer): AudioContainer | undefined {
  const head = start.toString("latin1", 0, 12);
  if (riffForms.includes(head.slice(0, 4)) && head.startsWith("WAVE", 8)) return "wav";
  const found = signatures.find(([, offset, bytes]) => head.startsWith(bytes, offset));
  if (found !== undefined) return found[0];
  return isMpegAudioFrame(start) ? "mp3" : undefined;
}

/** The header of a frame of MPEG audio (ISO/IEC 11172-3, 2.4.1.3), where nothing in it is reserved. */
function isMpegAudioFrame(start: Buffer): boolean {
  if (start.length < 4 || start.readUInt16BE(0) < 0xff_e0) return false;
  const [version, layer] = [(start.readUInt8(1) >> 3) & 3, (start.readUInt8(1) >> 1) & 3];
  const [bitRate, sampleRate] = [start.readUInt8(2) >> 4, (start.readUInt8(2) >> 2) & 3];
  // Layers II and III. 0 is that of AAC, which nobody takes without a container; I looks like text in UTF-16.
  return version !== 1 && (layer === 1 || layer === 2) && bitRate !== 15 && sampleRate !== 3;
}
