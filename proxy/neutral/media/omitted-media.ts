/**
 * Writes a placeholder for a file that a model made where the client's format has no place for it
 * (docs/design/translation.md 11.4).
 */
import type { MediaBlock } from "#proxy/neutral/reply";

const kinds: ReadonlySet<string> = new Set(["image", "audio", "video"]);

export function omittedText({ mime }: MediaBlock): string {
  const [kind = ""] = mime.toLowerCase().split("/");
  return `[${kinds.has(kind) ? kind : "file"} omitted]`;
}
