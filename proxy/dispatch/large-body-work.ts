/**
 * Counts what the work on one call's body holds beside it, and lets large bodies take turns (`large-body-queue.ts`).
 *
 * There is one instance for each call that is served; what it holds is released when the call is over.
 */
import { ClientGoneError } from "#proxy/http/read-body";
import type { AdmittedCall } from "./admitted-call.ts";

/** What stays of each byte of a large body that was read: its strings, most of which take a byte a character. */
export const readBytesOfByte = 1;
/** And of one that was written: its bytes, and those with the channel's edits. */
export const writtenBytesOfByte = 2;

export class LargeBodyWork {
  readonly #admitted: Pick<AdmittedCall, "call" | "exchange" | "services" | "inFlightBytes">;
  /** Taken from those in flight, in all. */
  #heldBytes = 0;

  constructor(admitted: Pick<AdmittedCall, "call" | "exchange" | "services" | "inFlightBytes">) {
    this.#admitted = admitted;
  }

  /** Of the client's body; a form is no large body, since its files are not in memory. */
  get bodyBytes(): number {
    return this.#admitted.call.body?.bytes.length ?? 0;
  }

  /** @param bytes of the body with all that is put into it */
  isLarge(bytes: number): boolean {
    return this.#admitted.services.largeBodyQueue.isLarge(bytes);
  }

  /** @throws GatewayError `overloaded` when there is no room */
  hold(bytes: number): void {
    this.#admitted.inFlightBytes.acquire(bytes);
    this.#heldBytes += bytes;
  }

  /** All that is held, when the call is over, or a part of it before. */
  release(bytes = this.#heldBytes): void {
    this.#admitted.inFlightBytes.release(bytes);
    this.#heldBytes -= bytes;
  }

  /**
   * Works on a large body in its turn; what takes long gives way to others' work between its steps.
   * @param keptBytes that stay until `release`
   * @throws GatewayError `body_too_large`, `overloaded`; ClientGoneError
   */
  inTurn<Result>(bytes: number, keptBytes: number, work: () => Promise<Result>): Promise<Result> {
    const { exchange, services } = this.#admitted;
    services.largeBodyQueue.checkSize(bytes, this.bodyBytes + this.#heldBytes + keptBytes);
    return services.largeBodyQueue.inTurn(bytes, () => {
      if (exchange.response.destroyed) throw new ClientGoneError();
      this.hold(keptBytes);
      return work();
    });
  }
}
