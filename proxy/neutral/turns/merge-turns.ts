/** Joins neighbouring turns of one side, for formats whose sides must alternate (docs/design/translation.md 4.2). */
import type { Part, Turn } from "#proxy/neutral/conversation";

/**
 * Parts keep their order; a turn is kept as it is when it has no neighbour of its side.
 * @param sideOf turns for which it gives the same name are of one side
 */
export function mergeTurns(turns: readonly Turn[], sideOf: (turn: Turn) => string = userOrAssistant): Turn[] {
  const merged: Turn[] = [];
  let parts: Part[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last === undefined || sideOf(last) !== sideOf(turn)) {
      merged.push(turn);
      parts = [];
      continue;
    }
    // The joined list is this function's own, so that a long run is not copied again and again.
    if (parts.length === 0) parts = [...last.parts];
    for (const part of turn.parts) parts.push(part);
    merged[merged.length - 1] = { ...last, role: last.role === turn.role ? last.role : "user", parts };
  }
  return merged;
}

/** Tool results are said by the user. */
function userOrAssistant({ role }: Turn): string {
  return role === "tool" ? "user" : role;
}
