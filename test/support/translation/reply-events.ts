/** Neutral events of candidate 0 in short, as a reader of any format makes them: what writers of streams are given. */
import type { OpenedBlock, ReplyEvent } from "#proxy/neutral/reply";

export const start: ReplyEvent = { type: "start", id: "up", model: "upstream" };
export const stopped: ReplyEvent = { type: "finish", candidate: 0, finish: { reason: "stop" } };
export const end: ReplyEvent = { type: "end" };

export function open(part: number, block: OpenedBlock): ReplyEvent {
  return { type: "open", candidate: 0, part, block };
}

export function openCall(part: number, id: string | undefined, name: string): ReplyEvent {
  return open(part, { kind: "call", id, name, tool: "function" });
}

export function delta(part: number, text: string): ReplyEvent {
  return { type: "delta", candidate: 0, part, text };
}

export function close(part: number): ReplyEvent {
  return { type: "close", candidate: 0, part };
}

/** Events of one whole part. */
export function textPart(part: number, text: string, kind: "text" | "reasoning" | "refusal" = "text"): ReplyEvent[] {
  return [open(part, { kind }), delta(part, text), close(part)];
}

/** Events of one whole call. */
export function callPart(
  part: number,
  id: string | undefined,
  name: string,
  ...pieces: readonly string[]
): ReplyEvent[] {
  return [openCall(part, id, name), ...pieces.map((text) => delta(part, text)), close(part)];
}
