/**
 * Detects that somebody else changes back the statuses that this operator writes, and says how long to wait before the
 * next write. Without it, two releases that watch one namespace would write against each other without end.
 *
 * The wait doubles with each write that was undone, up to a minute. A new generation of the object starts over, so that
 * the first status after a change of the spec is never late. It remembers writes only as long as they matter; the pace
 * of the writer bounds it. It has no clock of its own.
 */
import { isSameMeaning } from "#operator/status/same-meaning";
import type { StatusDocument } from "#operator/status/status-document";
import type { ObservedStatus } from "./observed-statuses.ts";

interface Write {
  readonly uid: string;
  readonly generation: number;
  /** The status that the API server had right after the write. */
  readonly document: StatusDocument;
  readonly atMs: number;
  /** How many writes before it were undone in a row. */
  readonly undone: number;
}

export class StatusContention {
  /** All waits that can occur. */
  readonly delaysMs: readonly number[];
  readonly #mostMs: number;
  /** By `resultId`, oldest first. */
  readonly #writes = new Map<string, Write>();

  /** @param firstMs wait after the first write that was undone @param mostMs the longest wait */
  constructor(firstMs = 1_000, mostMs = 60_000) {
    const delaysMs: number[] = [];
    for (let delayMs = firstMs; delayMs < mostMs; delayMs *= 2) delaysMs.push(delayMs);
    this.delaysMs = [...delaysMs, mostMs];
    this.#mostMs = mostMs;
  }

  /** Notes a write. @param replaced the status before it @param document the status after it */
  noteWrite(id: string, replaced: ObservedStatus, document: StatusDocument, nowMs: number): void {
    const { uid, generation } = replaced;
    const before = this.#find(id, replaced, nowMs);
    const undoneBefore = before?.undone ?? 0;
    const undone = before && isUndone(before, replaced) ? undoneBefore + 1 : Math.max(0, undoneBefore - 1);
    this.#writes.delete(id);
    this.#writes.set(id, { uid, generation, document, atMs: nowMs, undone });
    for (const [oldest, { atMs }] of this.#writes) {
      if (nowMs - atMs <= this.#rememberMs) break;
      this.#writes.delete(oldest);
    }
  }

  /** How many writes of an object were undone in a row, up to the last one. */
  timesUndone(id: string, observed: ObservedStatus, nowMs: number): number {
    const last = this.#find(id, observed, nowMs);
    return last !== undefined && isUndone(last, observed) ? last.undone + 1 : 0;
  }

  /** How long to wait before an object is written again: 0, or one of `delaysMs`. */
  waitMs(id: string, observed: ObservedStatus, nowMs: number): number {
    const times = this.timesUndone(id, observed, nowMs);
    const last = this.#writes.get(id);
    if (times === 0 || last === undefined) return 0;
    const intervalMs = this.delaysMs[Math.min(times, this.delaysMs.length) - 1] ?? this.#mostMs;
    const leftMs = last.atMs + intervalMs - nowMs;
    return leftMs <= 0 ? 0 : (this.delaysMs.find((delayMs) => delayMs >= leftMs) ?? this.#mostMs);
  }

  /** Forgets everything: another operator writes from now on. */
  clear(): void {
    this.#writes.clear();
  }

  /** Longer than any wait, or a write would be forgotten before its wait is over. */
  get #rememberMs(): number {
    return 2 * this.#mostMs;
  }

  #find(id: string, { uid, generation }: ObservedStatus, nowMs: number): Write | undefined {
    const write = this.#writes.get(id);
    if (write === undefined || write.uid !== uid || write.generation !== generation) return undefined;
    return nowMs - write.atMs <= this.#rememberMs ? write : undefined;
  }
}

function isUndone({ document }: Write, observed: ObservedStatus): boolean {
  if (observed.document === document) return false;
  return observed.document === undefined || !isSameMeaning(observed.document, document);
}
