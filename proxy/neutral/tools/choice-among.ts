/** Maps the client's tool choice to the tools that a target is offered (docs/design/translation.md 5.2). */
import type { ToolChoice } from "#proxy/neutral/conversation";

/**
 * The choice without names that stand for no offered tool: providers refuse a call that names one.
 * @param lose told when nothing is left of a choice that meant something
 */
export function choiceAmong(
  offered: ReadonlySet<string>,
  choice: ToolChoice | undefined,
  lose: () => void,
): ToolChoice | undefined {
  const left = choice === undefined || offered.size === 0 ? undefined : withoutOthers(choice, offered);
  if (left === undefined && choice !== undefined && choice.type !== "auto") lose();
  return left;
}

function withoutOthers(choice: ToolChoice, offered: ReadonlySet<string>): ToolChoice | undefined {
  if (choice.type === "named") return offered.has(choice.name) ? choice : undefined;
  if (choice.only === undefined) return choice;
  const only = choice.only.filter((name) => offered.has(name));
  return only.length === 0 ? undefined : { ...choice, only };
}
