import type { FunctionTool } from "../conversation.ts";
import type { Losses } from "../losses.ts";

/** Tells the loss of a keyword at the root of a tool's schema, by the client's own spelling of that place. */
export function loseKeyword({ where, schemaWhere }: FunctionTool, losses: Losses): (keyword: string) => void {
  return (keyword) => losses.drop(`${schemaWhere ?? where ?? "tools"}.${keyword}`);
}
