/** Tools of one name: providers refuse them, so the last one counts (`protocols/translation.md` section 5.1). */
import type { Tool } from "../conversation.ts";

/** The tools in their order, of several with one name the last; tools that a provider runs are left alone. */
export function uniqueTools(tools: readonly Tool[]): readonly Tool[] {
  const last = new Map<string, Tool>();
  for (const tool of tools) if (tool.kind !== "hosted") last.set(tool.name, tool);
  return tools.filter((tool) => tool.kind === "hosted" || last.get(tool.name) === tool);
}
