/**
 * Keeps the last of several tools with the same name: providers refuse duplicates (docs/design/translation.md 5.1).
 */
import type { Tool } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";

/**
 * The tools in their order, of several with one name the last; tools that a provider runs are left alone.
 * @throws GatewayError naming the tool that would be left out, when the channel rejects
 */
export function uniqueTools(tools: readonly Tool[], losses: Losses): readonly Tool[] {
  const last = new Map<string, Tool>();
  for (const tool of tools) if (tool.kind !== "hosted") last.set(tool.name, tool);
  return tools.filter((tool) => {
    if (tool.kind === "hosted" || last.get(tool.name) === tool) return true;
    losses.drop(tool.where ?? "tools");
    return false;
  });
}
