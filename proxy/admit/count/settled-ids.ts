/**
 * Remembers the ids settled last, to tell a repeated settlement from an unknown one.
 *
 * Neither posts anything: a ring is enough, and adding to it costs nanoseconds. A lookup walks the ring, and only
 * unexpected settlements need one.
 */
const idsMax = 8_192;

export class SettledIds {
  readonly #ids: string[] = [];
  #next = 0;

  add(id: string): void {
    this.#ids[this.#next] = id;
    this.#next = (this.#next + 1) % idsMax;
  }

  has(id: string): boolean {
    return this.#ids.includes(id);
  }
}
