/**
 * Forgets counters that no longer matter, a slice at a time so that requests never wait for it: an hour after the start
 * and then every hour. The spending of a deleted object is kept for 30 days (docs/design/limits-and-money.md 6).
 */
import type { Snapshot } from "#proxy/snapshot/snapshot";

const sweepEveryMs = 3_600_000;
const countersASlice = 1_000;

export interface SweptLedger {
  sweep(isLive: (counter: string) => boolean, max: number): Generator<void, void, void>;
}

/**
 * @param pin the configuration in force
 * @returns a function that ends it
 */
export function sweepRegularly(ledger: SweptLedger, pin: () => Snapshot, everyMs: number = sweepEveryMs): () => void {
  let slice: NodeJS.Immediate | undefined;
  const go = (sweep: Generator<void, void, void>): void => {
    slice = sweep.next().done === true ? undefined : setImmediate(go, sweep);
  };
  const timer = setInterval(() => {
    const snapshot = pin();
    // Before the first configuration nothing is known to be gone.
    if (snapshot.revision > 0 && slice === undefined) go(ledger.sweep(liveCounters(snapshot), countersASlice));
  }, everyMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    clearImmediate(slice);
  };
}

/** Whether the object of a counter `kind/namespace/name…` is in the configuration. */
export function liveCounters(snapshot: Snapshot): (counter: string) => boolean {
  const routes = new Set(snapshot.routes.map(({ namespace, name }) => `${namespace}/${name}`));
  return (counter) => {
    const [kind, namespace = "", name = ""] = counter.split("/");
    if (kind === "key") return snapshot.keyByName(namespace, name) !== undefined;
    if (kind === "account") return snapshot.account(namespace, name) !== undefined;
    if (kind === "channel") return snapshot.channel(`${namespace}/${name}`) !== undefined;
    return kind === "route" && routes.has(`${namespace}/${name}`);
  };
}
