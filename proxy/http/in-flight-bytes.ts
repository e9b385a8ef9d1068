/** Counts the bytes of all request bodies that are held at once, against one cap; replies have a cap each, no common one. */
import { GatewayError } from "../errors.ts";

export class InFlightBytes {
  readonly #bytesMax: number;
  #bytes = 0;

  /** @param bytesMax `ProxyLimits.inFlightBytesMax` */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Whoever takes must `release` the same amount, on every way out.
   * @throws GatewayError `overloaded` when the cap would be passed; nothing is taken then
   */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax) {
      throw new GatewayError("overloaded", "The gateway holds as many bytes as it may at the moment. Try again.");
    }
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes < 0) throw new RangeError("more in-flight bytes released than were taken");
  }
}
