/**
 * Writes a placeholder for a file that a model made where the client's format has no place for it (`translation.md`
 * section 11.4).
 */
import type { MediaBlock } from "#proxy/neutral/reply";

const kinds: ReadonlySet<string> = new Set(["image", "audio", "video"]);

export function omittedText({ mime }: MediaBlock): string {
  const [kind = ""] = mime.toLowerCase().split("/");
  return `[${kinds.has(kind) ? kind : "file"} omitted]`;
}
