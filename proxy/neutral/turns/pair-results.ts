/**
 * Moves every tool result directly behind its call, because providers refuse with 400 a call without a result, a result
 * without a call, and results out of their place (docs/design/translation.md 4.2).
 *
 * Writers call it before anything else reads the turns; afterwards each run of assistant turns with calls is followed
 * by one tool turn that holds one result for each of them, in the order of the calls, and no other result exists.
 */
import type { CallPart, Part, ResultPart, Turn } from "#proxy/neutral/conversation";

/** A call and its result. */
interface Slot {
  readonly call: CallPart;
  result: ResultPart | undefined;
}

/** The calls of one id in one run; usually a single one. */
interface SameId {
  readonly slots: Slot[];
  /** How many of them have their result. */
  resultCount: number;
}

/**
 * Calls without a result get one that says so, as an error; results without a call become user text; of several results
 * for one call the last counts. A result belongs to the nearest call of its id before it, because clients use ids again.
 */
export function pairResults(turns: readonly Turn[]): readonly Turn[] {
  if (!turns.some(({ parts }) => parts.some(isCallOrResult))) return turns;
  const { slotsByRun, orphans } = assignResults(turns);
  const paired: Turn[] = [];
  for (const [index, turn] of turns.entries()) {
    paired.push(...withoutResults(turn, orphans));
    const slots = slotsByRun.get(index);
    if (slots !== undefined) paired.push({ role: "tool", parts: slots.map(resultOf) });
  }
  return paired;
}

function isCallOrResult({ kind }: Part): boolean {
  return kind === "call" || kind === "result";
}

/** @returns the calls of each run of assistant turns by the index of its last turn, and the results nobody asked for */
function assignResults(turns: readonly Turn[]): {
  slotsByRun: ReadonlyMap<number, readonly Slot[]>;
  orphans: ReadonlySet<ResultPart>;
} {
  const slotsByRun = new Map<number, readonly Slot[]>();
  const orphans = new Set<ResultPart>();
  /** By id, the calls of the latest run that has it. */
  const latest = new Map<string, SameId>();
  let run: Slot[] = [];
  for (const [index, turn] of turns.entries()) {
    for (const part of turn.parts) {
      if (part.kind === "call") run.push({ call: part, result: undefined });
      if (part.kind === "result" && !assign(part, latest)) orphans.add(part);
    }
    if (run.length === 0 || turns[index + 1]?.role === "assistant") continue;
    for (const { call } of run) latest.set(call.id, { slots: [], resultCount: 0 });
    for (const slot of run) latest.get(slot.call.id)?.slots.push(slot);
    slotsByRun.set(index, run);
    run = [];
  }
  return { slotsByRun, orphans };
}

/** The first call without a result gets it, else the last one. */
function assign(result: ResultPart, latest: ReadonlyMap<string, SameId>): boolean {
  const same = latest.get(result.callId);
  const slot = same?.slots[same.resultCount] ?? same?.slots.at(-1);
  if (same === undefined || slot === undefined) return false;
  slot.result = result;
  same.resultCount += 1;
  return true;
}

function resultOf({ call, result }: Slot): ResultPart {
  if (result !== undefined) return { ...result, name: result.name ?? call.name };
  const content = [{ kind: "text", text: "[no result]" }] as const;
  return { kind: "result", callId: call.id, name: call.name, content, isError: true };
}

/** The turn without its results; a result without a call becomes text of the user, at its place. */
function withoutResults(turn: Turn, orphans: ReadonlySet<ResultPart>): Turn[] {
  if (!turn.parts.some(({ kind }) => kind === "result")) return [turn];
  const parts = turn.parts.flatMap((part) => {
    if (part.kind !== "result") return [part];
    return orphans.has(part) ? textOfOrphan(part) : [];
  });
  if (parts.length === 0) return [];
  return [{ ...turn, role: turn.role === "tool" ? "user" : turn.role, parts }];
}

/** Text has no flag for a tool that failed, so it says so (docs/design/translation.md 5.5). */
function textOfOrphan({ name, content, cache, where, isError }: ResultPart): Part[] {
  const said = content.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  const texts = isError === true && !/^error\b/i.test(said[0] ?? "") ? ["Error:", ...said] : said;
  const label = name === undefined ? "[tool result]" : `[tool result ${name}]`;
  const media = content.filter(({ kind }) => kind === "media");
  return [{ kind: "text", text: [label, ...texts].join(" ").trim(), cache, where }, ...media];
}
