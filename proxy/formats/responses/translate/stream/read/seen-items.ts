/**
 * Matches the items of a stream with the items of the final response.
 *
 * Their places need not agree: relays count from arbitrary numbers, hide items from one of the two and change ids on
 * the way. So an item is known by the id of its call, then by its own, then by its place among those of its kind. Only
 * an item that matches none of them is new: a call that is wrongly held for new is made twice.
 */
import { asText, type JsonObject } from "#proxy/json/json-value";

/** What an item is known by, the surest first: its call's id, its own, its kind. Empty where it has none. */
type Marks = readonly [callId: string, id: string, kind: string];

interface SeenItem {
  readonly index: number;
  /** As it was announced and as it was done, the later one first: ids may change and names may come between the two. */
  marks: readonly Marks[];
}

export interface FinalItems {
  /** Of the items seen, by their index. */
  readonly known: ReadonlyMap<number, JsonObject>;
  readonly unseen: readonly JsonObject[];
}

export class SeenItems {
  readonly #items = new Map<number, SeenItem>();

  get size(): number {
    return this.#items.size;
  }

  has(index: number): boolean {
    return this.#items.has(index);
  }

  add(index: number, item: JsonObject): void {
    const earlier = this.#items.get(index)?.marks ?? [];
    this.#items.set(index, { index, marks: [marksOf(item), ...earlier] });
  }

  /** Finds the items seen among those of the final response, each at most once. */
  findIn(output: readonly JsonObject[]): FinalItems {
    const known = new Map<number, JsonObject>();
    const free = new Map(output.entries());
    const waiting = new Set([...this.#items.values()].sort((left, right) => left.index - right.index));
    const assign = (seen: SeenItem, place: number | undefined): void => {
      const item = place === undefined ? undefined : free.get(place);
      if (place === undefined || item === undefined) return;
      known.set(seen.index, item);
      free.delete(place);
      waiting.delete(seen);
    };
    for (const by of [0, 1, 2] as const) {
      const places = placesBy(by, free);
      for (const seen of waiting) if (isMarked(seen, by, free.get(seen.index))) assign(seen, seen.index);
      for (const seen of waiting) assign(seen, nextPlace(seen, by, places, free));
    }
    return { known, unseen: [...free.values()] };
  }
}

function marksOf(item: JsonObject): Marks {
  const type = asText(item["type"]);
  const marked = (id: string): string => (id === "" ? "" : `${type} ${id}`);
  // Calls of two names are never one call.
  return [marked(asText(item["call_id"])), marked(asText(item["id"])), `${type} ${asText(item["name"])}`];
}

/** A finished item's marks of one sort: its kind is also the kind of those that were announced without a name. */
function marksBy(by: 0 | 1 | 2, item: JsonObject): readonly string[] {
  const mark = marksOf(item)[by];
  return by === 2 ? [mark, `${asText(item["type"])} `] : [mark];
}

function isMarked({ marks }: SeenItem, by: 0 | 1 | 2, item: JsonObject | undefined): boolean {
  if (item === undefined) return false;
  const given = marksBy(by, item);
  return marks.some(({ [by]: mark }) => mark !== "" && given.includes(mark));
}

/** Places in the final response by what the items there are known by, the last one first. */
function placesBy(by: 0 | 1 | 2, items: ReadonlyMap<number, JsonObject>): ReadonlyMap<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [place, item] of [...items].reverse()) {
    for (const mark of new Set(marksBy(by, item))) {
      const known = places.get(mark);
      if (known === undefined) places.set(mark, [place]);
      else known.push(place);
    }
  }
  return places;
}

function nextPlace(
  { marks }: SeenItem,
  by: 0 | 1 | 2,
  places: ReadonlyMap<string, number[]>,
  free: ReadonlyMap<number, JsonObject>,
): number | undefined {
  for (const { [by]: mark } of marks) {
    const left = mark === "" ? undefined : places.get(mark);
    for (let place = left?.pop(); place !== undefined; place = left?.pop()) if (free.has(place)) return place;
  }
  return undefined;
}
