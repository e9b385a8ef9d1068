/** Defines a JSON object under construction: a content block, a tool. */
export type Block = { [name: string]: unknown };

/** A message under construction. */
export interface Message {
  readonly role: "user" | "assistant" | "system";
  readonly blocks: readonly Block[];
}

/** Blocks that hold thinking of the vendor. */
export function isThinkingBlock(block: Block | undefined): boolean {
  return block?.["type"] === "thinking" || block?.["type"] === "redacted_thinking";
}

/** A single text stands as a string, as people write it. */
export function bareText(blocks: readonly Block[]): string | readonly Block[] {
  const [only] = blocks;
  const isBare = blocks.length === 1 && only?.["type"] === "text" && only["cache_control"] === undefined;
  return isBare && typeof only["text"] === "string" ? only["text"] : blocks;
}
