/**
 * Lists the names of the tools that the client runs, for `ToolNames`: these are fitted before any name that occurs only
 * in the history. Names of the history follow in their order, so that a later turn changes none of an earlier one: a
 * provider binds thinking to the bytes of all that came before.
 */
import type { Conversation } from "#proxy/neutral/conversation";

export function declaredNames({ tools }: Pick<Conversation, "tools">): readonly string[] {
  return tools.flatMap((tool) => (tool.kind === "hosted" ? [] : [tool.name]));
}
