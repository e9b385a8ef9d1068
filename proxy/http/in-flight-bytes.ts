/**
 * Counts the bytes that are held at once against one cap: bodies of requests, downloaded files, copies of large bodies,
 * replies that are collected, events that are incomplete (docs/design/reliability.md S2). Beyond half of the cap a key
 * holds no more than its share, so that one caller's large calls leave room for the others'
 * (docs/design/reliability.md P8 and O2).
 */
import { GatewayError } from "#proxy/errors";

/** From this part of the cap on keys are held to their shares. */
const pressedFrom = 1 / 2;
const shareOfOneKey = 1 / 4;
/** With replies, which are paid for: less room for others is better than a reply that was made for nothing. */
const shareWithReplies = 1 / 2;
/** What is no larger is no part of a share: a key's one large call must not refuse its short ones. */
const shortCallBytes = 128 * 1024;

/** Beyond so many, names of keys that hold nothing are forgotten. */
const namesMax = 10_000;

/** Whose bytes are counted together: an edited key is the same one. */
export interface BytesOwner {
  readonly namespace: string;
  readonly name: string;
}

/** Bytes that one key holds, over all its calls. */
interface KeyShare {
  bytes: number;
}

/** Counts the bytes that a holder has: for a call, or for the gateway itself. */
export type ByteCount = Pick<InFlightBytes, "acquire" | "tryAcquire" | "release">;

export class InFlightBytes {
  readonly #bytesMax: number;
  readonly #shares = new WeakMap<BytesOwner, KeyShare>();
  /** An edited key is another object of the same name. */
  readonly #byName = new Map<string, KeyShare>();
  #forgetAt = namesMax;
  #bytes = 0;

  /** @param bytesMax `ProxyLimits.inFlightBytesMax` */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The count of one call. @param key of its caller, as the configuration has it: goes when that does */
  ofCall(key: BytesOwner): CallBytes {
    return new CallBytes(this, this.#shares.get(key) ?? this.#shareByName(key));
  }

  #shareByName(key: BytesOwner): KeyShare {
    if (this.#byName.size >= this.#forgetAt) this.#forgetIdle();
    const name = `${key.namespace}/${key.name}`;
    const share = this.#byName.get(name) ?? { bytes: 0 };
    this.#byName.set(name, share);
    this.#shares.set(key, share);
    return share;
  }

  /** Looked for again when there are twice as many as hold anything, so that a new key costs no walk over all of them. */
  #forgetIdle(): void {
    for (const [name, share] of this.#byName) if (share.bytes === 0) this.#byName.delete(name);
    this.#forgetAt = Math.max(namesMax, 2 * this.#byName.size);
  }

  /** Whether a key that holds so much may hold no more, as much as all hold. @param share of the cap */
  exceedsShare(keyBytes: number, more: number, share: number): boolean {
    return this.#bytes + more > this.#bytesMax * pressedFrom && keyBytes + more > this.#bytesMax * share;
  }

  /** Whether so much could be held if nothing else was. */
  couldHold(bytes: number): boolean {
    return bytes <= this.#bytesMax;
  }

  /**
   * The caller must `release` the same amount, on every way out.
   * @throws GatewayError `overloaded` when the cap would be passed; nothing is taken then
   */
  acquire(bytes: number): void {
    if (!this.tryAcquire(bytes)) throw tooManyBytes();
  }

  /** @returns false when the cap would be passed; nothing is taken then */
  tryAcquire(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes < 0) throw new RangeError("more in-flight bytes released than were taken");
  }
}

/** What one call holds, counted for its key as well. */
export class CallBytes implements ByteCount {
  readonly #all: InFlightBytes;
  readonly #share: KeyShare;
  #bytes = 0;

  constructor(all: InFlightBytes, share: KeyShare) {
    this.#all = all;
    this.#share = share;
  }

  /** @throws GatewayError `overloaded`, as that of all */
  acquire(bytes: number): void {
    if (!this.#fitsShare(bytes, shareOfOneKey)) {
      const message = "The gateway is overloaded: the calls of this key are at their share of its memory. Try again.";
      throw new GatewayError("overloaded", message);
    }
    this.#all.acquire(bytes);
    this.#add(bytes);
  }

  /** For the part of a reply that has come. */
  tryAcquire(bytes: number): boolean {
    if (!this.#fitsShare(bytes, shareWithReplies) || !this.#all.tryAcquire(bytes)) return false;
    this.#add(bytes);
    return true;
  }

  release(bytes: number): void {
    this.#all.release(bytes);
    this.#add(-bytes);
  }

  /** A key's only call may be as large as the cap lets one call be. */
  #fitsShare(more: number, share: number): boolean {
    if (more === 0 || this.#bytes + more <= shortCallBytes || this.#share.bytes === this.#bytes) return true;
    return !this.#all.exceedsShare(this.#share.bytes, more, share);
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    this.#share.bytes += bytes;
  }
}

export function tooManyBytes(): GatewayError {
  return new GatewayError(
    "overloaded",
    "The gateway is overloaded: it is at its memory limit for bodies and replies. Try again.",
  );
}
