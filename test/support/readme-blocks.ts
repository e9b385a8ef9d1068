/** The fenced blocks of a page, for tests that run them. */

export interface Block {
  readonly language: string;
  readonly text: string;
  /** Where it begins, for the name of its test. */
  readonly line: number;
}

export function readBlocks(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? "",
    text: match[2] ?? "",
    line: markdown.slice(0, match.index).split("\n").length,
  }));
}
