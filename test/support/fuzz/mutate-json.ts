/**
 * JSON texts that nearly are what they should be: members dropped, doubled, swapped and of another type, values from
 * elsewhere in the corpus where their names stand, texts cut and grown, numbers no reader expects.
 */
import { oddNames, oddTexts, oddValues } from "./odd-json.ts";
import type { Random } from "./random.ts";
import { rawName, rawValue, writeRawJson } from "./raw-json.ts";

/** Longest text that a mutation grows to. */
const grownCharacters = 100_000;

/** What other documents hold under each name: mutations take values that a reader knows at this place or another. */
export class Vocabulary {
  readonly #values = new Map<string, unknown[]>();
  readonly #names: string[] = [];

  /** @param documents parsed; at most 200 values of a name are kept */
  constructor(documents: readonly unknown[]) {
    const pending = [...documents];
    while (pending.length > 0) {
      const value = pending.pop();
      if (typeof value !== "object" || value === null) continue;
      for (const [name, member] of Object.entries(value)) {
        pending.push(member);
        if (Array.isArray(value)) continue;
        const known = this.#values.get(name);
        if (known === undefined) {
          this.#values.set(name, [member]);
          this.#names.push(name);
        } else if (known.length < 200) known.push(member);
      }
    }
  }

  /** A copy of a value that stands under this name somewhere, or under any. */
  valueOf(name: string | number, random: Random): unknown {
    const values = this.#values.get(String(name));
    const isOther = values === undefined || random.chance(0.1);
    return structuredClone(random.pick(isOther ? (this.#values.get(this.name(random)) ?? [0]) : values));
  }

  name(random: Random): string {
    return this.#names.length === 0 ? "a" : random.pick(this.#names);
  }
}

type Holder = Record<string, unknown> | unknown[];

interface Place {
  readonly holder: Holder;
  readonly key: string | number;
}

type Mutation = (place: Place, random: Random, vocabulary: Vocabulary, places: readonly Place[]) => void;

const mutations: readonly Mutation[] = [
  function drop({ holder, key }) {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  },
  function double({ holder, key }, random, vocabulary) {
    const value = get(holder, key);
    if (Array.isArray(holder)) holder.splice(Number(key), 0, value);
    else define(holder, rawName(String(key)), random.chance(0.5) ? value : vocabulary.valueOf(key, random));
  },
  function swap({ holder, key }, random, _vocabulary, places) {
    const other = random.pick(places);
    const value = get(holder, key);
    const its = get(other.holder, other.key);
    if (holds(value, other.holder) || holds(its, holder)) return;
    set(holder, key, its);
    set(other.holder, other.key, value);
  },
  function retype({ holder, key }, random) {
    set(holder, key, structuredClone(random.pick(oddValues)));
  },
  function fromElsewhere({ holder, key }, random, vocabulary) {
    set(holder, key, vocabulary.valueOf(key, random));
  },
  function addFromElsewhere({ holder }, random, vocabulary) {
    const name = vocabulary.name(random);
    const value = vocabulary.valueOf(name, random);
    if (Array.isArray(holder)) holder.splice(random.below(holder.length + 1), 0, value);
    else define(holder, name, value);
  },
  function rename({ holder, key }, random, vocabulary) {
    if (Array.isArray(holder)) return;
    const value = holder[key];
    delete holder[key];
    define(holder, random.chance(0.3) ? rawName(random.pick(oddNames)) : vocabulary.name(random), value);
  },
  function wrap({ holder, key }, random) {
    const value = get(holder, key);
    set(
      holder,
      key,
      random.pick([
        [value],
        [value, value],
        { content: value },
        { [String(key)]: value },
        JSON.stringify(value) ?? "x",
      ]),
    );
  },
  function unwrap({ holder, key }, random) {
    const value = get(holder, key);
    if (typeof value !== "object" || value === null) return;
    const inner = Object.values(value);
    if (inner.length > 0) set(holder, key, inner[random.below(inner.length)]);
  },
  function cut({ holder, key }, random) {
    const value = get(holder, key);
    if (typeof value === "string") set(holder, key, value.slice(0, random.below(value.length + 1)));
    else if (Array.isArray(value)) value.length = random.below(value.length + 1);
  },
  function grow({ holder, key }, random) {
    const value = get(holder, key);
    if (typeof value === "string") {
      const piece = value === "" ? random.pick(["a", "\n", '"', "é", "😀", "1", "<", " "]) : value.slice(0, 200);
      set(holder, key, piece.repeat(Math.ceil(random.size(17) / piece.length)).slice(0, grownCharacters));
    } else if (Array.isArray(value) && value.length > 0) {
      const weight = (JSON.stringify(value) ?? "").length;
      const times = Math.min(random.size(12), Math.ceil(grownCharacters / Math.max(1, weight)));
      set(holder, key, Array.from({ length: times }, () => value).flat());
    } else if (typeof value === "object" && value !== null) {
      for (let index = 0; index < random.size(10); index += 1) define(value, `${key}${index}`, index);
    }
  },
  function otherNumber({ holder, key }, random) {
    const value = get(holder, key);
    if (typeof value !== "number") return;
    set(holder, key, random.pick([0, -value, value / 2, value + 1, value - 1, value * 1e12, String(value)]));
  },
  function insertCharacters({ holder, key }, random) {
    const value = get(holder, key);
    if (typeof value !== "string") return;
    const at = random.below(value.length + 1);
    const odd = random.pick([
      "\ud800",
      "\udc00",
      "\u0000",
      "\r",
      "\n\n",
      "\u2028",
      "\\",
      '"',
      "`",
      "</system>",
      "é",
      "😀",
      ":",
      ".",
    ]);
    set(holder, key, value.slice(0, at) + odd + value.slice(at));
  },
  function rawText({ holder, key }, random) {
    set(holder, key, rawValue(random.pick(oddTexts)));
  },
  function deep({ holder, key }, random) {
    const levels = random.size(15);
    const [open, close] = random.pick([
      ["[", "]"],
      ['{"a":', "}"],
      ['{"content":[', "]}"],
      ['{"items":', "}"],
      ['{"type":"object","properties":{"a":', "}}"],
    ] as const);
    const times = Math.min(levels, Math.ceil(grownCharacters / (open.length + close.length)));
    const text = `${open.repeat(times)}1${close.repeat(times)}`;
    // As a value, and as the JSON that some texts hold.
    set(holder, key, random.chance(0.6) ? rawValue(text) : text);
  },
];

/** A document that grew beyond this is left out: what was grown twice may be longer than any string. */
const writtenCharactersMax = 4_000_000;

/** A text that comes from the document by up to four mutations. */
export function mutateJson(document: unknown, random: Random, vocabulary: Vocabulary): string {
  const root: { value: unknown } = { value: structuredClone(document) };
  for (let times = 1 + random.below(4); times > 0; times -= 1) {
    const places = placesIn(root);
    random.pick(mutations)(random.pick(places), random, vocabulary, places);
    if (isLongerThan(root.value, writtenCharactersMax)) return writeRawJson(document);
  }
  return writeRawJson(root.value);
}

/** Whether its JSON has more characters than this, about; parts that stand in several places count in each. */
function isLongerThan(value: unknown, max: number): boolean {
  const pending = [value];
  for (let characters = 0; pending.length > 0; ) {
    const part = pending.pop();
    if (typeof part === "string") characters += part.length;
    else if (isHolder(part)) {
      // A list that was cut and then written beyond its end is mostly holes, which are written out as well.
      if (Array.isArray(part)) characters += part.length * "null,".length;
      for (const [name, member] of Object.entries(part)) {
        characters += name.length + 1;
        pending.push(member);
      }
    }
    if (characters > max) return true;
  }
  return false;
}

/** At most this many places of a document are considered. */
const placesMax = 4_000;

function placesIn(root: Record<string, unknown>): readonly Place[] {
  const places: Place[] = [];
  const pending: Holder[] = [root];
  while (pending.length > 0 && places.length < placesMax) {
    const holder = pending.pop();
    if (holder === undefined) break;
    for (const key of Object.keys(holder)) {
      const value = get(holder, key);
      places.push({ holder, key: Array.isArray(holder) ? Number(key) : key });
      if (isHolder(value)) pending.push(value);
    }
  }
  return places.length === 0 ? [{ holder: root, key: "value" }] : places;
}

function isHolder(value: unknown): value is Holder {
  return typeof value === "object" && value !== null;
}

function get(holder: Holder, key: string | number): unknown {
  return Object.getOwnPropertyDescriptor(holder, key)?.value;
}

function set(holder: Holder, key: string | number, value: unknown): void {
  define(holder, key, value === undefined ? null : value);
}

function define(holder: object, key: string | number, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Whether a value is or holds an object: putting it in there would make a circle. */
function holds(value: unknown, wanted: object): boolean {
  const pending = [value];
  const seen = new Set<unknown>();
  while (pending.length > 0) {
    const next = pending.pop();
    if (next === wanted) return true;
    if (!isHolder(next) || seen.has(next)) continue;
    seen.add(next);
    pending.push(...Object.values(next));
  }
  return false;
}
