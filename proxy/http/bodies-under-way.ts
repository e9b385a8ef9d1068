/**
 * Counts the bodies that are still arriving, by key, so that one caller's slow bodies never hold every place of the
 * proxy (docs/design/reliability.md P8, O2): a key's own limits can count a call only when its body has been read.
 */
import { GatewayError } from "#proxy/errors";

/** What one key's unfinished bodies may hold of the requests that are served at once. */
const shareOfOneKey = 1 / 4;

export interface BodyOwner {
  readonly namespace: string;
  readonly name: string;
}

export class BodiesUnderWay {
  readonly #keyMax: number;
  readonly #byKey = new Map<string, number>();
  #count = 0;

  /** @param requestsMax `ProxyLimits.inFlightRequestsMax` */
  constructor(requestsMax: number) {
    this.#keyMax = Math.max(1, Math.floor(requestsMax * shareOfOneKey));
  }

  /** Bodies of all keys. */
  get count(): number {
    return this.#count;
  }

  /**
   * Before a body is asked for. While all keys together are below the share of one, nothing is looked up.
   * @throws GatewayError `overloaded` when this key holds its share
   */
  checkRoom(key: BodyOwner): void {
    if (this.#count < this.#keyMax || (this.#byKey.get(nameOf(key)) ?? 0) < this.#keyMax) return;
    throw new GatewayError("overloaded", "Too many request bodies of this key are still arriving. Try again.");
  }

  /** Counts a body until it is whole, refused or given up. */
  async waitFor<Body>(key: BodyOwner, body: Promise<Body>): Promise<Body> {
    const name = nameOf(key);
    this.#add(name, 1);
    try {
      return await body;
    } finally {
      this.#add(name, -1);
    }
  }

  #add(name: string, change: 1 | -1): void {
    this.#count += change;
    const count = (this.#byKey.get(name) ?? 0) + change;
    if (count === 0) this.#byKey.delete(name);
    else this.#byKey.set(name, count);
  }
}

function nameOf({ namespace, name }: BodyOwner): string {
  return `${namespace}/${name}`;
}
