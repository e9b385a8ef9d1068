/**
 * Counts the bytes of one reply that wait in the gateway, collected or in an open event, against the cap of all bytes
 * in flight.
 */
import type { ByteCount } from "#proxy/http/in-flight-bytes";

/**
 * So much of a reply is not counted: callers who fill the cap with bodies must not cut others' streams, nor take away
 * short replies that are paid for. The number of requests bounds it.
 */
const freeBytes = 128 * 1024;

export class HeldReply {
  readonly #inFlight: ByteCount;
  #bytes = 0;

  constructor(inFlight: ByteCount) {
    this.#inFlight = inFlight;
  }

  /** @param waiting all that waits now @returns false when there is no room for it; what was held stays so */
  hold(waiting: number): boolean {
    const bytes = Math.max(0, waiting - freeBytes);
    if (bytes < this.#bytes) this.#inFlight.release(this.#bytes - bytes);
    else if (!this.#inFlight.tryAcquire(bytes - this.#bytes)) return false;
    this.#bytes = bytes;
    return true;
  }

  /** Nothing waits any more. */
  release(): void {
    this.#inFlight.release(this.#bytes);
    this.#bytes = 0;
  }
}
