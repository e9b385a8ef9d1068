import type { FunctionTool } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";

/**
 * Tells the loss of a keyword at the root of a tool's schema.
 * @param schemaField how the client spells the schema of a tool
 */
export function loseKeyword(
  { where = "tools" }: FunctionTool,
  schemaField: string,
  losses: Losses,
): (keyword: string) => void {
  return (keyword) => losses.drop(`${where}.${schemaField}.${keyword}`);
}
