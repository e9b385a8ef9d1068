/**
 * The epoch: raised whenever the source itself goes back in time, as when etcd is restored from a backup, so that
 * proxies forget what they have seen of a past that never happened (`OPERATIONS.md` section 1 rule 12).
 *
 * Kept in a ConfigMap so that all operators agree. A restore may bring back an older epoch too: whoever has seen a
 * higher one, be it in a proxy's hello, raises above it. Any operator may raise; the ConfigMap is only ever written over
 * what was read.
 */
import type { OwnedData } from "../../certificates/owned-data.ts";

export interface Epochs {
  readonly current: number;
  /** Reads what other operators may have raised. @returns the epoch now */
  refresh(): Promise<number>;
  /** The source went back: raises above the present epoch and `seen`. @returns the epoch now */
  raise(seen: number): Promise<number>;
  /** Told when it was raised, here or elsewhere. @returns a function that ends the listening */
  onRaise(listener: (epoch: number) => void): () => void;
}

const attemptsMax = 8;
const member = "epoch";

export class StoredEpochs implements Epochs {
  readonly #store: OwnedData;
  readonly #listeners = new Set<(epoch: number) => void>();
  #current = 1;

  /** @param store the ConfigMap; in memory where the source is a folder */
  constructor(store: OwnedData) {
    this.#store = store;
  }

  get current(): number {
    return this.#current;
  }

  async refresh(): Promise<number> {
    return this.#adopt(read((await this.#store.read())?.data));
  }

  async raise(seen: number): Promise<number> {
    const known = this.#current;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const held = await this.#store.read();
      const stored = read(held?.data);
      // Another operator noticed the same and was faster.
      if (stored > known && stored > seen) return this.#adopt(stored);
      const next = Math.max(known, seen, stored) + 1;
      const data = { ...held?.data, [member]: String(next) };
      if (await this.#store.write(data, held?.version)) return this.#adopt(next);
    }
    throw new Error("the ConfigMap of the epoch is changed by others all the time");
  }

  onRaise(listener: (epoch: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #adopt(epoch: number): number {
    if (epoch <= this.#current) return this.#current;
    this.#current = epoch;
    for (const listener of [...this.#listeners]) listener(epoch);
    return epoch;
  }
}

/** For a source that never goes back. */
export function fixedEpoch(): Epochs {
  let data: { readonly data: Readonly<Record<string, string>>; readonly version: string } | undefined;
  return new StoredEpochs({
    read: async () => data,
    async write(next) {
      data = { data: next, version: "" };
      return true;
    },
  });
}

/** Epochs count from 1. */
function read(data: Readonly<Record<string, string>> | undefined): number {
  const text = data?.[member] ?? "";
  return /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : 1;
}
