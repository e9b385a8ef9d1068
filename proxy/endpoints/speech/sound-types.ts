/** Names the content types of sound, and tells by the one of a reply what came. Pure. */

/** By `response_format` of OpenAI-style speech; vendors have further ones. */
const typesByFormat: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
};

/** Of a format that only its vendor knows, until its upstream says what it is. */
const unknownType = "application/octet-stream";

/** @param format undefined: the call names none, and OpenAI's default is MP3 */
export function typeOfFormat(format: string | undefined): string {
  if (format === undefined) return typesByFormat["mp3"] ?? unknownType;
  return (Object.hasOwn(typesByFormat, format) ? typesByFormat[format] : undefined) ?? unknownType;
}

/** What a reply is: sound, server-sent events, or something else, which is no speech. */
export type ReplyKind = "sound" | "events" | "other";

/** Some servers do not say what they send; anything that is told to be text or a page is no sound. */
const soundType = /^(?:audio\/|video\/|application\/(?:ogg|octet-stream)\b|binary\/octet-stream\b|$)/i;

/** @param contentType as an upstream wrote it; empty: it wrote none */
export function kindOfReply(contentType: string): ReplyKind {
  const type = contentType.trim();
  if (/^text\/event-stream\b/i.test(type)) return "events";
  return soundType.test(type) ? "sound" : "other";
}

/** The type of an upstream's sound, where it says more than that it is bytes. */
export function namedSoundType(contentType: string): string | undefined {
  return /^(?:audio|video)\/[\w.+-]+(?:\s*;[\w\s.=+;"-]*)?$/i.test(contentType.trim()) ? contentType.trim() : undefined;
}
