/** Joins neighbouring turns of one side, for formats whose sides must alternate (`protocols/translation.md` section 4.2). */
import type { Turn } from "../conversation.ts";

/**
 * Parts keep their order; a turn is kept as it is when it has no neighbour of its side.
 * @param sideOf turns for which it gives the same name are of one side
 */
export function mergeTurns(turns: readonly Turn[], sideOf: (turn: Turn) => string = userOrAssistant): Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (last !== undefined && sideOf(last) === sideOf(turn)) merged[merged.length - 1] = join(last, turn);
    else merged.push(turn);
  }
  return merged;
}

/** Tool results are said by the user. */
function userOrAssistant({ role }: Turn): string {
  return role === "tool" ? "user" : role;
}

function join(first: Turn, second: Turn): Turn {
  const role = first.role === second.role ? first.role : "user";
  return { ...first, role, parts: [...first.parts, ...second.parts] };
}
