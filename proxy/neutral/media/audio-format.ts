/**
 * Maps names of audio formats: media types, and the short words that OpenAI's bodies use
 * (docs/design/chat-completions.md 3).
 */

const mimeByFormat: Readonly<Record<string, string>> = {
  wav: "audio/wav",
  mp3: "audio/mpeg",
  flac: "audio/flac",
  opus: "audio/ogg",
  ogg: "audio/ogg",
  aac: "audio/aac",
  m4a: "audio/mp4",
  webm: "audio/webm",
  pcm16: "audio/l16",
};

/** Media types that mean the same as one of the table. */
const formatBySpelling: Readonly<Record<string, string>> = {
  "audio/x-wav": "wav",
  "audio/wave": "wav",
  "audio/vnd.wave": "wav",
  "audio/mp3": "mp3",
  "audio/x-mp3": "mp3",
  "audio/x-flac": "flac",
  "audio/opus": "opus",
  "audio/ogg": "opus",
  "audio/x-aac": "aac",
  "audio/x-m4a": "m4a",
  "audio/pcm": "pcm16",
};

/** @returns the media type of `wav`, `mp3` and the like, in any case; undefined for a word that names none */
export function audioMime(format: string): string | undefined {
  const word = format.toLowerCase();
  return Object.hasOwn(mimeByFormat, word) ? mimeByFormat[word] : undefined;
}

/** @returns OpenAI's word for a media type; undefined where it has none */
export function audioFormat(mime: string): string | undefined {
  const type = mime.toLowerCase().split(";", 1)[0]?.trim() ?? "";
  if (Object.hasOwn(formatBySpelling, type)) return formatBySpelling[type];
  return Object.entries(mimeByFormat).find(([, candidate]) => candidate === type)?.[0];
}
