/**
 * Keeps one value for each place that a request can have been at: route, channel and format.
 *
 * Its maps are nested by the names themselves, which are the same strings for every request of a place: a joined name
 * would be built, hashed and compared for each request. It is bounded: when full it starts again or refuses, as its
 * owner chooses.
 */
export class PlaceMap<Value> {
  readonly #routes = new Map<string, Map<string, Map<string, Value>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(route: string, channel: string, format: string): Value | undefined {
    return this.#routes.get(route)?.get(channel)?.get(format);
  }

  set(route: string, channel: string, format: string, value: Value): void {
    let channels = this.#routes.get(route);
    if (channels === undefined) {
      channels = new Map();
      this.#routes.set(route, channels);
    }
    let formats = channels.get(channel);
    if (formats === undefined) {
      formats = new Map();
      channels.set(channel, formats);
    }
    if (!formats.has(format)) this.#size += 1;
    formats.set(format, value);
  }

  *values(): Generator<Value, void, void> {
    for (const channels of this.#routes.values()) for (const formats of channels.values()) yield* formats.values();
  }

  clear(): void {
    this.#routes.clear();
    this.#size = 0;
  }
}
