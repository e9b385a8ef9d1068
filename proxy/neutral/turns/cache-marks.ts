/** Places marks for a provider's cache: each mark ends a beginning of the prompt that later calls have in common. */
import type { CacheHint, Conversation, Part, ResultPart, Role, Turn } from "#proxy/neutral/conversation";
import type { Losses } from "#proxy/neutral/losses/losses";

/** The mark that reaches furthest; undefined when there is none. */
export function lastCache(parts: readonly Part[]): CacheHint | undefined {
  return parts.findLast(({ cache }) => cache !== undefined)?.cache;
}

/** Formats have one place for a mark on a result, which is its end: marks inside of it go there. */
export function markedResult(result: ResultPart): ResultPart {
  const inner = lastCache(result.content);
  if (inner === undefined) return result;
  const content = result.content.map((part) => (part.cache === undefined ? part : { ...part, cache: undefined }));
  return { ...result, content, cache: result.cache ?? inner };
}

/** How the client spelled it. */
export function markName({ isBreakpoint }: CacheHint): string {
  return isBreakpoint === true ? "prompt_cache_breakpoint" : "cache_control";
}

/** The path of a part's or a tool's mark in the client's body. */
export function markWhere({ where }: { readonly where?: string | undefined }, cache: CacheHint): string {
  return where === undefined ? markName(cache) : `${where}.${markName(cache)}`;
}

/** Every mark of a call. */
export function marksOf({ turns, tools }: Pick<Conversation, "turns" | "tools">): readonly CacheHint[] {
  const marks: CacheHint[] = [];
  for (const { parts } of turns) for (const { cache } of parts) if (cache !== undefined) marks.push(cache);
  for (const tool of tools) if (tool.kind === "function" && tool.cache !== undefined) marks.push(tool.cache);
  return marks;
}

/** What a target can do with marks. */
export interface MarkAbility {
  /** Whether it knows marks like this one. */
  readonly takes: (cache: CacheHint) => boolean;
  /** Whether a part has a place for one when it is written. */
  readonly hasPlace: (part: Part, role: Role) => boolean;
  /** Whether a text says nothing, and so is not written. */
  readonly isBlank: (text: string) => boolean;
}

/**
 * Turns whose marks can all be written; the others are declared. The mark of a text that says nothing moves to the part
 * before it, for there ends the same beginning of the prompt.
 * @returns the same turns when there are no marks
 */
export function placeMarks(turns: readonly Turn[], ability: MarkAbility, losses: Losses): readonly Turn[] {
  if (!turns.some(({ parts }) => parts.some(isMarked))) return turns;
  return turns.map((turn) => {
    return turn.parts.some(isMarked) ? { ...turn, parts: placeInTurn(turn, ability, losses) } : turn;
  });
}

function isMarked({ cache }: Part): boolean {
  return cache !== undefined;
}

function placeInTurn({ role, parts }: Turn, ability: MarkAbility, losses: Losses): readonly Part[] {
  const placed: Part[] = [];
  /** Where the last part that is written stands. */
  let last = -1;
  for (const part of parts) {
    const isBlank = (part.kind === "text" || part.kind === "refusal") && ability.isBlank(part.text);
    if (!isBlank) last = placed.length;
    placed.push(part.cache === undefined ? part : { ...part, cache: undefined });
    if (part.cache === undefined) continue;
    const holder = placed[last];
    const isAccepted = ability.takes(part.cache);
    if (!isAccepted) losses.drop(markName(part.cache));
    else if (holder === undefined || !ability.hasPlace(holder, role)) losses.drop(markWhere(part, part.cache));
    else placed[last] = { ...holder, cache: isBlank ? (holder.cache ?? part.cache) : part.cache };
  }
  return placed;
}

/** Whether a result has something that a mark could stand on. */
export function hasText({ content }: ResultPart): boolean {
  return content.some((part) => part.kind === "text" && part.text !== "");
}
