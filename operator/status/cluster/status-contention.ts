/**
 * What became of the writes of the last minutes: whether somebody else changes back what was written, and how long to
 * wait before the next try. Two releases that watch one namespace would else write against each other without end, as
 * each puts right what the other wrote.
 *
 * The wait doubles with each write that was undone, up to a minute; a new generation of the object begins anew, so that
 * the first word about a change of the spec is never late. Holds what was written within the time in which it matters:
 * the pace of the writer is its bound. No clock of its own.
 */
import { isSameMeaning } from "#operator/status/same-meaning";
import type { StatusDocument } from "#operator/status/status-document";
import type { ObservedStatus } from "./observed-statuses.ts";

interface Write {
  readonly uid: string;
  readonly generation: number;
  /** As the API server had it right after. */
  readonly document: StatusDocument;
  readonly atMs: number;
  /** How many before it, one after the other, were undone. */
  readonly undone: number;
}

export class StatusContention {
  /** All waits that there are. */
  readonly delaysMs: readonly number[];
  readonly #mostMs: number;
  /** By `resultId`, the longest ago first. */
  readonly #writes = new Map<string, Write>();

  /** @param firstMs between a write that somebody undoes and the next @param mostMs what that grows to */
  constructor(firstMs = 1_000, mostMs = 60_000) {
    const delaysMs: number[] = [];
    for (let delayMs = firstMs; delayMs < mostMs; delayMs *= 2) delaysMs.push(delayMs);
    this.delaysMs = [...delaysMs, mostMs];
    this.#mostMs = mostMs;
  }

  /** Takes note of a write. @param replaced what was written over @param document what observed now */
  wrote(id: string, replaced: ObservedStatus, document: StatusDocument, nowMs: number): void {
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

  /** How many writes of an object were undone one after the other, the last among them. */
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

  /** Another operator writes from now on. */
  clear(): void {
    this.#writes.clear();
  }

  /** Longer than any wait, or what is waited for would be forgotten before. */
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
