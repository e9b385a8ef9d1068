/** Defines what the readers of content blocks share: how a block is continued, and its first and last event. */
import type { JsonObject } from "#proxy/json/json-value";
import type { OpenedBlock, ReplyEvent } from "#proxy/neutral/reply";

/** Reads one block that is open. */
export interface BlockReader {
  /** Events of a delta. */
  read(piece: JsonObject): readonly ReplyEvent[];
  /** Last events of the block, its `close` among them. */
  stop(): readonly ReplyEvent[];
}

/** First events of a block, and what reads the rest of it. */
export interface StartedBlock {
  readonly events: readonly ReplyEvent[];
  readonly reader: BlockReader;
}

/** Gives out the numbers of parts in the order of their `open`. */
export interface Numbering {
  next(): number;
}

/** This format has one candidate only. */
export function open(part: number, block: OpenedBlock): ReplyEvent {
  return { type: "open", candidate: 0, part, block };
}

export function close(part: number): ReplyEvent {
  return { type: "close", candidate: 0, part };
}

/** No event for no text: a `delta` is never empty. */
export function delta(part: number, text: string): readonly ReplyEvent[] {
  return text === "" ? [] : [{ type: "delta", candidate: 0, part, text }];
}
