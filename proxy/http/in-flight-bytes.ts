/**
 * Counts the bytes that are held at once against one cap: bodies of requests and files, what is made of large ones, answers
 * that are collected, events that are not whole (RELIABILITY.md section 5).
 */
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

  /** Whether so much could be held if nothing else was. */
  couldHold(bytes: number): boolean {
    return bytes <= this.#bytesMax;
  }

  /**
   * Whoever takes must `release` the same amount, on every way out.
   * @throws GatewayError `overloaded` when the cap would be passed; nothing is taken then
   */
  take(bytes: number): void {
    if (!this.tryTake(bytes)) throw tooManyBytes();
  }

  /** @returns false when the cap would be passed; nothing is taken then */
  tryTake(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax) return false;
    this.#bytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#bytes < 0) throw new RangeError("more in-flight bytes released than were taken");
  }
}

export function tooManyBytes(): GatewayError {
  return new GatewayError("overloaded", "The gateway holds as many bytes as it may at the moment. Try again.");
}
