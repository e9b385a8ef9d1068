/**
 * Holds the newest summary of each follower at the leader. A follower that falls silent is forgotten, so that proxies
 * of an operator that died count as unconnected until they appear elsewhere.
 */
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";
import type { OldProxy, ProxyGroup, Summary } from "./summary.ts";

interface Held {
  readonly summary: Summary;
  readonly cancel: () => void;
}

/** More replicas than anybody runs; a rolling Deployment has a few more than its number. */
const peersMax = 64;

export class PeerSummaries {
  readonly #timers: Timers;
  readonly #keptMs: number;
  readonly #byPod = new Map<string, Held>();
  readonly #listeners = new Set<() => void>();

  /** @param keptMs silence after which a follower counts as gone */
  constructor(keptMs: number, timers: Timers = systemTimers) {
    this.#keptMs = keptMs;
    this.#timers = timers;
  }

  /** Accepts a follower's newest summary. @param pod the follower's pod, from its token */
  accept(pod: string, summary: Summary): void {
    const held = this.#byPod.get(pod);
    if (held === undefined && this.#byPod.size >= peersMax) return;
    held?.cancel();
    this.#byPod.delete(pod);
    const cancel = this.#timers.after(this.#keptMs, () => this.#forget(pod));
    this.#byPod.set(pod, { summary, cancel });
    this.#changed();
  }

  get peers(): number {
    return this.#byPod.size;
  }

  /** Groups of proxies with the pod of their operator; the newest summary first. */
  *groups(): Generator<ProxyGroup & { readonly via: string }> {
    for (const [via, { summary }] of [...this.#byPod].reverse()) {
      for (const group of summary.groups) yield { ...group, via };
    }
  }

  /** Proxies of followers that lack some capability. */
  *old(): Generator<OldProxy> {
    for (const { summary } of this.#byPod.values()) yield* summary.old;
  }

  /** Forgets all: this operator no longer leads. */
  clear(): void {
    for (const { cancel } of this.#byPod.values()) cancel();
    if (this.#byPod.size === 0) return;
    this.#byPod.clear();
    this.#changed();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #forget(pod: string): void {
    this.#byPod.delete(pod);
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
