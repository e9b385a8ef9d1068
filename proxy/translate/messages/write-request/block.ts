/** A JSON object under construction: a content block, a tool. */
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
