/**
 * Adds up the packets of each track of a file. The longest track is the sound: one that says less, or nothing, must not stand in
 * its place.
 */

/** Files number their tracks from 1. Those from here on count as one, so that a file of many takes no more memory. */
const numberMost = 127;

export class CountedTracks {
  readonly #rates = new Map<number, number>();
  readonly #seconds = new Map<number, number>();

  /** A track whose packets can be counted. @param rate samples a second; of a number that comes again the lowest holds */
  add(number: number, rate: number): void {
    const place = Math.min(number, numberMost);
    this.#rates.set(place, Math.min(rate, this.#rates.get(place) ?? rate));
  }

  /** Packets of a track that was not added tell nothing. */
  count(number: number, samples: number): void {
    const place = Math.min(number, numberMost);
    const rate = this.#rates.get(place);
    if (rate !== undefined) this.#seconds.set(place, (this.#seconds.get(place) ?? 0) + samples / rate);
  }

  has(number: number): boolean {
    return this.#rates.has(Math.min(number, numberMost));
  }

  /** Of the longest one. */
  get seconds(): number {
    return Math.max(0, ...this.#seconds.values());
  }
}
