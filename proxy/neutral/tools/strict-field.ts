import type { FunctionTool } from "#proxy/neutral/conversation";

/** How the client spelled that arguments must keep to the schema: beside the tool, or for all tools at once. */
export function strictField({ where, strictWhere }: Pick<FunctionTool, "where" | "strictWhere">): string {
  return strictWhere ?? `${where ?? "tools"}.strict`;
}
