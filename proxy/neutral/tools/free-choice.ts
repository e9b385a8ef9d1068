/** Adapts the tool choice for models that decide themselves whether they call a tool (`traits.forcedTools`). */
import type { ToolChoice } from "#proxy/neutral/conversation";

/**
 * A choice that forces a call, left to the model where it refuses to be forced; which tools it may call stays.
 * @param lose told where the choice is another one
 */
export function freeChoice(
  choice: ToolChoice | undefined,
  { takesForcedTools }: { readonly takesForcedTools: boolean },
  lose: () => void,
): ToolChoice | undefined {
  if (takesForcedTools || (choice?.type !== "required" && choice?.type !== "named")) return choice;
  lose();
  return choice.type === "required" ? { ...choice, type: "auto" } : { type: "auto" };
}
