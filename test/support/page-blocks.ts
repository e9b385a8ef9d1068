/** The fenced blocks of the pages, for tests that run them. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { projectRoot } from "#scripts/run";

/**
 * Pages whose every block is run: on this machine by `test/integration/pages.test.ts`, on a cluster by
 * `test/e2e/pages.test.ts`, in this order, since the blocks for a cluster go on from each other.
 */
export const pagesWithBlocks: readonly string[] = [
  "README.md",
  "docs/how-to/kubernetes.md",
  "docs/how-to/one-machine.md",
  "docs/how-to/clients.md",
  "docs/how-to/capabilities.md",
  "docs/coding-agents.md",
  "docs/how-to/keys.md",
  "docs/how-to/limits.md",
  "docs/how-to/channels.md",
  "docs/how-to/routes.md",
  "docs/how-to/pass-through.md",
  "docs/how-to/observability.md",
];

export interface Block {
  readonly language: string;
  readonly text: string;
  /** Where it begins, for the name of its test. */
  readonly line: number;
}

export interface PageBlock extends Block {
  /** Path of its page, from the root of the project. */
  readonly page: string;
}

export function readBlocks(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? "",
    text: match[2] ?? "",
    line: markdown.slice(0, match.index).split("\n").length,
  }));
}

/** The blocks of all those pages, in order. */
export async function readPageBlocks(): Promise<PageBlock[]> {
  const blocks = pagesWithBlocks.map(async (page) => {
    const read = readBlocks(await readFile(join(projectRoot, page), "utf8"));
    return read.map((block) => ({ ...block, page }));
  });
  return (await Promise.all(blocks)).flat();
}
