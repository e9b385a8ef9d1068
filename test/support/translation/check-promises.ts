/** What a reader of streams promises to every writer (`proxy/neutral/reply.ts`), checked on the events of one stream. */
import type { OpenedBlock, ReplyEvent } from "#proxy/neutral/reply";

interface Part {
  readonly block: OpenedBlock;
  text: string;
  isClosed: boolean;
}

interface Candidate {
  readonly parts: Part[];
  finish: string | undefined;
}

/** @returns one sentence for each promise that is broken; none for a stream that keeps them all */
export function brokenPromises(events: readonly ReplyEvent[]): string[] {
  const broken = new Set<string>();
  const candidates = new Map<number, Candidate>();
  for (const [index, event] of events.entries()) {
    if ((event.type === "start") !== (index === 0)) broken.add("start comes first and once");
    if ((event.type === "end") !== (index === events.length - 1)) broken.add("end comes last and once");
    if (!("candidate" in event)) continue;
    const candidate = candidates.get(event.candidate) ?? { parts: [], finish: undefined };
    candidates.set(event.candidate, candidate);
    checkPart(event, candidate, broken);
  }
  for (const index of candidates.keys()) if (index >= candidates.size) broken.add("candidates count 0, 1, 2");
  for (const { parts, finish } of candidates.values()) {
    if (finish === undefined) broken.add("each candidate finishes");
    if (parts.some(({ isClosed }) => !isClosed)) broken.add("each part closes");
    if (finish !== "length" && finish !== "content-filter" && parts.some(isBrokenCall))
      broken.add("arguments are JSON");
  }
  return [...broken];
}

function checkPart(event: Extract<ReplyEvent, { candidate: number }>, candidate: Candidate, broken: Set<string>): void {
  if (candidate.finish !== undefined) broken.add("nothing comes behind the finish");
  if (event.type === "finish") {
    if (candidate.parts.some(({ isClosed }) => !isClosed)) broken.add("the finish comes after all closes");
    candidate.finish = event.finish.reason;
    return;
  }
  if (event.type === "open") {
    if (event.part !== candidate.parts.length) broken.add("parts count 0, 1, 2 in the order of their open");
    candidate.parts[event.part] = { block: event.block, text: "", isClosed: false };
    return;
  }
  const part = candidate.parts[event.part];
  if (part === undefined || part.isClosed) {
    broken.add("pieces belong to an open part");
    return;
  }
  if (event.type === "close") part.isClosed = true;
  if (event.type !== "delta") return;
  if (event.text === "") broken.add("no delta is empty");
  part.text += event.text;
}

function isBrokenCall({ block, text }: Part): boolean {
  if (block.kind !== "call" || block.tool !== "function") return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}
