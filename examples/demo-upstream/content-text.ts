import { list, member, text } from "./json-view.ts";

/** Content that is a text, or a list of parts of which some hold one. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content)
    .map((part) => text(member(part, "text")) ?? "")
    .join("\n");
}
