/**
 * Runs the work on large bodies one at a time and counts its memory: a body of 30 MiB that is read, translated and
 * written again takes six times that much memory and tenths of a second of the event loop
 * (docs/design/reliability.md P8).
 *
 * Bodies of the usual size never come here. Used through `large-body-work.ts`.
 */
import { GatewayError } from "#proxy/errors";
import type { InFlightBytes } from "#proxy/http/in-flight-bytes";
import { KeyedMutex } from "#proxy/runtime/keyed-mutex";

/** Above this a body is large: a translation below it is a few milliseconds, and its memory soon collected. */
const largeBodyBytesLeast = 1024 * 1024;

/** While a body is read or written its text is held beside it, at two bytes a character. */
const textBytesOfByte = 2;

/** All large bodies wait in the same queue. */
const everyone = "";

export class LargeBodyQueue {
  readonly #inFlight: InFlightBytes;
  readonly #mutex = new KeyedMutex();

  constructor(inFlight: InFlightBytes) {
    this.#inFlight = inFlight;
  }

  isLarge(bytes: number): boolean {
    return bytes > largeBodyBytesLeast;
  }

  /**
   * @param bytes of the body
   * @param besides that the call holds or will hold while it is worked on
   * @throws GatewayError `body_too_large` for one that never has room, however often it is tried
   */
  checkSize(bytes: number, besides: number): void {
    if (this.#inFlight.couldHold(bytes * textBytesOfByte + besides)) return;
    throw new GatewayError("body_too_large", "With its files this call is too large to be translated for this model.");
  }

  /**
   * Does the work when that on the large bodies before it is done. Its text counts as long as it lasts; what stays of it
   * is counted by the work itself.
   * @param bytes of the body
   * @throws GatewayError `overloaded` when there is no room for the text
   */
  inTurn<Result>(bytes: number, work: () => Promise<Result>): Promise<Result> {
    const textBytes = bytes * textBytesOfByte;
    return this.#mutex.run(everyone, async () => {
      this.#inFlight.acquire(textBytes);
      try {
        return await work();
      } finally {
        this.#inFlight.release(textBytes);
      }
    });
  }
}
