/**
 * Knows how far the published configuration follows its source, in the source's own versions
 * (docs/design/configuration.md 3.12), so that this operator serves no proxy that has seen more than it has.
 *
 * `complete` must never be too high, or a lagging replica would bring back a deleted key: it is read before a pass
 * begins and counts once the pass's changes are published. `seen` must never be too low, or a proxy would believe
 * itself older than it is: it is read as a transaction leaves. A source without versions has neither.
 */
import { noVersions, type ResourceVersions, watchesBehind } from "#proxy/snapshot/push/resource-versions";
import type { Timers } from "#proxy/snapshot/push/timers";

/** How far a source has come, by watch; a live view. */
export interface SourcePosition {
  /**
   * The newest object change handed out, without bookmarks, which reach each replica at other times. Another replica with
   * the same watches gets the same events and reaches this version too; one whose `complete` is lower is behind.
   */
  readonly seen: ResourceVersions;
  /** The version up to which every change has been handed out, including bookmarks. */
  readonly complete: ResourceVersions;
}

/** Between two checks while a proxy waits. */
const nudgeEveryMs = 100;

export class SourceProgress {
  readonly #read: () => SourcePosition;
  readonly #nudge: () => void;
  readonly #listeners = new Set<() => void>();
  #complete: ResourceVersions = noVersions;

  /** @param nudge starts a pass although no object changed, as after a bookmark */
  constructor(
    read: () => SourcePosition = () => ({ seen: noVersions, complete: noVersions }),
    nudge: () => void = () => {},
  ) {
    this.#read = read;
    this.#nudge = nudge;
  }

  /** The newest changes that a transaction leaving now may contain. */
  get seen(): ResourceVersions {
    // A copy: the source may keep counting in the object it shows.
    return { ...this.#read().seen };
  }

  /** The versions up to which the published configuration contains everything. */
  get complete(): ResourceVersions {
    return this.#complete;
  }

  /**
   * Call it before a pass reads the resources.
   *
   * @returns a function to call once all changes of the pass are published
   */
  beginPass(): () => void {
    const complete = { ...this.#read().complete };
    return () => {
      this.#complete = complete;
      for (const listener of [...this.#listeners]) listener();
    };
  }

  /** Whether this operator has seen less than `claimed`. */
  isBehind(claimed: ResourceVersions): boolean {
    return watchesBehind(this.#complete, claimed).length > 0;
  }

  /** @returns whether it caught up with `claimed` within the time; false also when the signal came first */
  async catchUp(claimed: ResourceVersions, withinMs: number, timers: Timers, signal: AbortSignal): Promise<boolean> {
    if (!this.isBehind(claimed)) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const look = () => {
      if (!this.isBehind(claimed)) resolve(true);
    };
    const giveUp = () => resolve(false);
    this.#listeners.add(look);
    signal.addEventListener("abort", giveUp, { once: true });
    const cancel = timers.after(withinMs, giveUp);
    let cancelNudge = () => {};
    const nudge = () => {
      this.#nudge();
      cancelNudge = timers.after(nudgeEveryMs, nudge);
    };
    nudge();
    try {
      return await promise;
    } finally {
      cancel();
      cancelNudge();
      signal.removeEventListener("abort", giveUp);
      this.#listeners.delete(look);
    }
  }
}
