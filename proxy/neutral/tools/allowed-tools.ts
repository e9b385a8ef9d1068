/**
 * Selects the tools that are still offered when the client allows only some of them (docs/design/translation.md 5.2).
 */
import type { ToolChoice } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";
import { hostedNames, type KeptTools } from "./hosted-tools.ts";

export interface AllowedToolsOptions {
  /** What the target's own form of the choice keeps from being called: these may be offered beside allowed ones. */
  readonly heldBack: "all" | "own" | "none";
  readonly losses: Losses;
  /** How the client spells its choice among the tools. */
  readonly choiceField: string;
}

/**
 * Without the tools that the client does not allow and the target could not hold back. A choice whose names fit no tool
 * allows none: it is declared, and nothing is offered, for the model would be free to call what the client forbade.
 * @param kept what the target can run
 */
export function allowedTools(
  kept: KeptTools,
  choice: ToolChoice | undefined,
  { heldBack, losses, choiceField }: AllowedToolsOptions,
): KeptTools {
  if (choice === undefined || choice.type === "named" || choice.type === "none" || choice.only === undefined) {
    return kept;
  }
  const only = new Set(choice.only);
  const own = kept.own.filter(({ name }) => only.has(name));
  // A name stands for the client's own tool first.
  for (const { name } of own) only.delete(name);
  const hosted = kept.hosted.filter((tool) => hostedNames(tool).some((name) => only.has(name)));
  const fitsNone = own.length === 0 && hosted.length === 0;
  if (fitsNone && kept.own.length + kept.hosted.length > 0) losses.drop(choiceField);
  if (heldBack === "all" && !fitsNone) return kept;
  const stays = new Set(hosted);
  for (const tool of kept.hosted) if (!stays.has(tool)) losses.drop(tool.where ?? "tools");
  return { own: heldBack === "own" && own.length > 0 ? kept.own : own, hosted };
}
