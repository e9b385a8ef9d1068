/**
 * Holds what a streaming client was told before its response began, the same over all attempts of its call: signs of
 * life name one response and number their events, and the response itself continues from there.
 */

/** Fresh ids: prefix and 24 letters and digits. */
type NewId = (prefix: string) => string;

export class StreamOpening {
  /** Events that were numbered so far (responses). */
  sequence = 0;
  readonly inputTokensEstimate: number;
  readonly nowSeconds: number;
  readonly isOurs: boolean;
  readonly #newId: NewId;
  #id: string | undefined;

  /**
   * @param inputTokensEstimate prompt tokens as estimated for the reservation
   * @param isOurs whichever target serves the call, the gateway writes the response and gives it its id
   */
  constructor(inputTokensEstimate: number, nowSeconds: number, newId: NewId, isOurs: boolean) {
    this.inputTokensEstimate = inputTokensEstimate;
    this.nowSeconds = nowSeconds;
    this.#newId = newId;
    this.isOurs = isOurs;
  }

  /** Whether numbered events have gone to the client. */
  get isNumbered(): boolean {
    return this.sequence > 0;
  }

  /** Of the response; drawn on first use, with that use's prefix. */
  idWith(prefix: string): string {
    this.#id ??= this.#newId(prefix);
    return this.#id;
  }
}
