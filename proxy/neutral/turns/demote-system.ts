/**
 * Turns system text behind the beginning of a conversation into text of the user, for targets that accept system text
 * only at the beginning (docs/design/translation.md 4.1).
 *
 * The text stays where it is, marked: moved to the top it would mean something else and spoil the provider's prompt
 * cache, and left out it would be lost.
 */
import type { Part, Turn } from "#proxy/neutral/conversation";

/** Whether the target takes a system turn between these two; `next` is no system turn. */
export type AllowsSystem = (previous: Turn | undefined, next: Turn | undefined) => boolean;

/**
 * The leading run of system turns is left alone. A later one that is not allowed becomes text of the user turn that
 * follows (behind tool results, before its other parts), or a user turn of its own; later neighbours become one turn.
 *
 * Call it on turns whose results stand behind their calls (`pairResults`).
 */
export function demoteSystem(turns: readonly Turn[], allowed: AllowsSystem = () => false): readonly Turn[] {
  const first = turns.findIndex(({ role }) => role !== "system");
  if (first < 0 || !turns.some(({ role }, index) => role === "system" && index > first)) return turns;
  const rest = joinSystemTurns(turns.slice(first));
  const placed = turns.slice(0, first);
  let waiting: Part[] = [];
  for (const [index, turn] of rest.entries()) {
    if (turn.role === "system" && !allowed(rest[index - 1], rest[index + 1])) {
      // A client's list may be longer than what a call takes as arguments, here and wherever one list grows by another.
      for (const part of turn.parts) waiting.push(...demote(part));
      continue;
    }
    if (waiting.length === 0 || turn.role === "tool") {
      placed.push(turn);
      continue;
    }
    if (turn.role === "user") placed.push(inFront(waiting, turn));
    else placed.push({ role: "user", parts: waiting }, turn);
    waiting = [];
  }
  if (waiting.length > 0) placed.push({ role: "user", parts: waiting });
  return placed;
}

function joinSystemTurns(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  let parts: Part[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (turn.role !== "system" || last?.role !== "system") {
      parts = [...turn.parts];
      joined.push(turn.role === "system" ? { ...turn, parts } : turn);
    } else for (const part of turn.parts) parts.push(part);
  }
  return joined;
}

function demote(part: Part): Part[] {
  if (part.kind !== "text" || part.text.trim() === "") return [];
  return [{ ...part, text: `<system>\n${part.text}\n</system>` }];
}

function inFront(demoted: readonly Part[], turn: Turn): Turn {
  const firstOther = turn.parts.findIndex(({ kind }) => kind !== "result");
  const at = firstOther < 0 ? turn.parts.length : firstOther;
  return { ...turn, parts: [...turn.parts.slice(0, at), ...demoted, ...turn.parts.slice(at)] };
}
