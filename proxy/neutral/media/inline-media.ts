/**
 * Lists the files that a client named by their address and a format accepts only by content, and puts their content in.
 * Pure: `upstream/request/download-media.ts` fetches them.
 */
import type { Conversation, MediaPart, Part } from "#proxy/neutral/conversation";

/** Every media part with an address that `needs` picks, results of tools included, each once. */
export function mediaToFetch(conversation: Conversation, needs: (part: MediaPart) => boolean): readonly MediaPart[] {
  const found: MediaPart[] = [];
  const collect = (part: Part): void => {
    if (part.kind === "media" && part.source.type === "url" && needs(part)) found.push(part);
    if (part.kind === "result") part.content.forEach(collect);
  };
  for (const turn of conversation.turns) turn.parts.forEach(collect);
  return found;
}

/** The same conversation with other media in the place of some. */
export function replaceMedia(
  conversation: Conversation,
  replacements: ReadonlyMap<MediaPart, MediaPart>,
): Conversation {
  const replace = (part: Part): Part => {
    if (part.kind === "media") return replacements.get(part) ?? part;
    if (part.kind !== "result") return part;
    const content = part.content.map((inner) => (inner.kind === "media" ? (replacements.get(inner) ?? inner) : inner));
    return { ...part, content };
  };
  return {
    ...conversation,
    turns: conversation.turns.map((turn) => ({ ...turn, parts: turn.parts.map(replace) })),
  };
}

/** What servers say of files that they know nothing about. */
const unknownTypes: ReadonlySet<string> = new Set(["application/octet-stream", "binary/octet-stream"]);

/**
 * Whether what came can be the file that a client spoke of: a login page where a picture should be is none.
 * @param mime as the bytes tell, else as their server does
 */
export function canBe(media: MediaPart["media"], mime: string | undefined): boolean {
  if (media === "document" || mime === undefined || unknownTypes.has(mime)) return true;
  // Clients put PDFs where only pictures have a place, and containers hold sound and pictures alike.
  if (media === "image") return mime.startsWith("image/") || mime === "application/pdf";
  return /^(?:audio|video)\//.test(mime) || mime === "application/ogg";
}
