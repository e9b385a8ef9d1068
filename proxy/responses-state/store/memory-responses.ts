/** Stores responses in this process: for proxies without a data folder of their own, and as the model for tests. */
import type { ReferenceKind, ResponseStore, StoreLimits } from "#proxy/responses-state/response-store";
import { itemIdsOf, type StoredResponse } from "#proxy/responses-state/stored-response";

interface Kept {
  readonly owner: string;
  readonly response: StoredResponse;
  readonly bytes: number;
}

interface Owned {
  /** In the order in which they were kept. */
  readonly responses: Map<string, Kept>;
  readonly items: Map<string, string>;
  bytes: number;
}

export interface MemoryResponsesOptions {
  readonly limits: StoreLimits;
  /** Wall clock, milliseconds since the epoch. */
  readonly now: () => number;
}

export class MemoryResponses implements ResponseStore {
  readonly #options: MemoryResponsesOptions;
  readonly #owners = new Map<string, Owned>();
  /** All of them, oldest first. */
  readonly #order = new Set<Kept>();
  #bytes = 0;

  constructor(options: MemoryResponsesOptions) {
    this.#options = options;
  }

  keep(owner: string, response: StoredResponse): void {
    const { limits } = this.#options;
    const bytes = Buffer.byteLength(JSON.stringify(response));
    this.#drop(this.#owners.get(owner)?.responses.get(response.id));
    if (bytes > limits.responseBytesMax) return;
    const owned = this.#owners.get(owner) ?? { responses: new Map(), items: new Map(), bytes: 0 };
    this.#owners.set(owner, owned);
    const kept = { owner, response, bytes };
    owned.responses.set(response.id, kept);
    for (const itemId of itemIdsOf(response)) owned.items.set(itemId, response.id);
    owned.bytes += bytes;
    this.#order.add(kept);
    this.#bytes += bytes;
    this.#trim(owned);
  }

  get(owner: string, id: string): Promise<StoredResponse | undefined> {
    return Promise.resolve(this.#find(owner, id));
  }

  chain(owner: string, id: string): Promise<readonly StoredResponse[] | undefined> {
    const links: StoredResponse[] = [];
    const seen = new Set<string>();
    const { chainLengthMax, chainBytesMax } = this.#options.limits;
    let bytes = 0;
    let next: string | undefined = id;
    while (next !== undefined) {
      const link = this.#find(owner, next);
      bytes += this.#bytesOf(owner, next);
      if (link === undefined || seen.has(next) || links.length === chainLengthMax || bytes > chainBytesMax) {
        return Promise.resolve(undefined);
      }
      seen.add(next);
      links.unshift(link);
      next = link.previousId;
    }
    return Promise.resolve(links);
  }

  findItem(owner: string, itemId: string): Promise<StoredResponse | undefined> {
    const id = this.#owners.get(owner)?.items.get(itemId);
    return Promise.resolve(id === undefined ? undefined : this.#find(owner, id));
  }

  async sizeOf(asked: ReferenceKind, owner: string, id: string): Promise<number> {
    if (asked === "chain") {
      const links = (await this.chain(owner, id)) ?? [];
      return links.reduce((sum, link) => sum + this.#bytesOf(owner, link.id), 0);
    }
    const found = asked === "item" ? await this.findItem(owner, id) : this.#find(owner, id);
    return found === undefined ? 0 : this.#bytesOf(owner, found.id);
  }

  remove(owner: string, id: string): Promise<boolean> {
    const found = this.#find(owner, id) !== undefined;
    this.#drop(this.#owners.get(owner)?.responses.get(id));
    return Promise.resolve(found);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #bytesOf(owner: string, id: string): number {
    return this.#owners.get(owner)?.responses.get(id)?.bytes ?? 0;
  }

  #find(owner: string, id: string): StoredResponse | undefined {
    const kept = this.#owners.get(owner)?.responses.get(id);
    if (kept === undefined || !this.#isOld(kept)) return kept?.response;
    this.#drop(kept);
    return undefined;
  }

  #isOld({ response }: Kept): boolean {
    return this.#options.now() - response.createdMs >= this.#options.limits.ttlMs;
  }

  #trim(owned: Owned): void {
    const { limits } = this.#options;
    while (owned.responses.size > limits.ownerResponsesMax || owned.bytes > limits.ownerBytesMax) {
      this.#drop(owned.responses.values().next().value);
    }
    for (const kept of this.#order) {
      if (this.#bytes <= limits.bytesMax && !this.#isOld(kept)) return;
      this.#drop(kept);
    }
  }

  #drop(kept: Kept | undefined): void {
    const owned = kept === undefined ? undefined : this.#owners.get(kept.owner);
    if (kept === undefined || owned === undefined || !this.#order.delete(kept)) return;
    owned.responses.delete(kept.response.id);
    owned.bytes -= kept.bytes;
    this.#bytes -= kept.bytes;
    for (const itemId of itemIdsOf(kept.response)) {
      if (owned.items.get(itemId) === kept.response.id) owned.items.delete(itemId);
    }
    if (owned.responses.size === 0) this.#owners.delete(kept.owner);
  }
}
