/** Reads the values on one line of plain YAML: flow maps and lists, quoted and plain strings, small integers. */

/** Thrown for text that the general parser must read. */
export class Unknown extends Error {
  constructor() {
    super("not plain");
    // Thrown often and never shown.
    this.stack = "";
  }
}

const depthMax = 16;
const plainPattern = /[A-Za-z0-9_./](?:[A-Za-z0-9_./*+@-]|:(?=[A-Za-z0-9/])| (?=[A-Za-z0-9_./]))*/y;
const doubleQuotedPattern = /"([ !#-[\]-~]*)"/y;
const singleQuotedPattern = /'([ -&(-~]*)'/y;
const namePattern = /([A-Za-z_][A-Za-z0-9_./-]{0,126}): +|"([A-Za-z_][A-Za-z0-9_./-]{0,126})": */y;
const wordPattern = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
/** Digits that cannot be the beginning of a number: `9f2c`, `200k`, `2026-09`, `10.0.0.0/8`. */
const textAfterDigits =
  /^(?:[0-9]+[acdf-np-wyzACDF-NP-WYZ-]|[1-9][0-9]*[bBoOxX]|[0-9]+[eE][0-9]*[A-Za-z]|[0-9.]+\/[0-9]+$)/;
const generationSizeMax = 2_048;
const sharedLengthMax = 512;

export class ReadFlow {
  #text = "";
  #at = 0;

  /** @throws Unknown when the text is not one such value as a whole */
  read(text: string): unknown {
    const isCollection = text.startsWith("{") || text.startsWith("[");
    if (!isCollection) return this.#readWhole(text);
    const known = shared.find(text);
    if (known !== undefined) return known;
    const value = this.#readWhole(text);
    if (text.length <= sharedLengthMax) shared.keep(text, value);
    return value;
  }

  #readWhole(text: string): unknown {
    this.#text = text;
    this.#at = 0;
    const value = this.#readValue(0);
    if (this.#at !== text.length) throw new Unknown();
    return value;
  }

  #readValue(depth: number): unknown {
    if (depth > depthMax) throw new Unknown();
    const { [this.#at]: first } = this.#text;
    if (first === "{") return this.#readMap(depth);
    if (first === "[") return this.#readList(depth);
    if (first === '"') return copyOf(this.#consume(doubleQuotedPattern)[1] ?? "");
    if (first === "'") return copyOf(this.#consume(singleQuotedPattern)[1] ?? "");
    return scalarOf(this.#consume(plainPattern)[0]);
  }

  #readMap(depth: number): { readonly [name: string]: unknown } {
    const object: { [name: string]: unknown } = {};
    this.#enter();
    if (this.#leave("}")) return Object.freeze(object);
    do {
      const match = this.#consume(namePattern);
      const name = match[1] ?? match[2] ?? "";
      if (name === "__proto__" || wordPattern.test(name) || Object.hasOwn(object, name)) throw new Unknown();
      object[name] = this.#readValue(depth + 1);
    } while (this.#goOn("}"));
    return Object.freeze(object);
  }

  #readList(depth: number): readonly unknown[] {
    const items: unknown[] = [];
    this.#enter();
    if (this.#leave("]")) return Object.freeze(items);
    do items.push(this.#readValue(depth + 1));
    while (this.#goOn("]"));
    return Object.freeze(items);
  }

  #enter(): void {
    this.#at += 1;
    this.#skipSpaces();
  }

  #leave(end: string): boolean {
    if (this.#text[this.#at] !== end) return false;
    this.#at += 1;
    return true;
  }

  /** @returns whether another item follows */
  #goOn(end: string): boolean {
    this.#skipSpaces();
    if (this.#leave(end)) return false;
    if (this.#text[this.#at] !== ",") throw new Unknown();
    this.#enter();
    return true;
  }

  #skipSpaces(): void {
    while (this.#text[this.#at] === " ") this.#at += 1;
  }

  #consume(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) throw new Unknown();
    this.#at = pattern.lastIndex;
    return match;
  }
}

function scalarOf(text: string): unknown {
  if (text === "true") return true;
  if (text === "false") return false;
  const first = text.charCodeAt(0);
  if (first >= 48 && first <= 57) {
    if (/^(?:0|[1-9][0-9]{0,14})$/.test(text)) return Number(text);
    if (!textAfterDigits.test(text)) throw new Unknown();
    return copyOf(text);
  }
  // "." begins numbers such as .5 and .inf, an exponent alone is one to some; the words are booleans in YAML 1.1.
  if (first === 46 || wordPattern.test(text) || /^[eE][-+]?[0-9]+$/.test(text)) throw new Unknown();
  return copyOf(text);
}

/** A string of its own: a part of a text would keep the whole file in memory. */
function copyOf(text: string): string {
  return text.length < 13 ? text : Buffer.from(text, "latin1").toString("latin1");
}

/** Two generations of values by their text, so that memory is bounded and values in use survive. */
class SharedTexts {
  #young = new Map<string, unknown>();
  #old = new Map<string, unknown>();

  find(text: string): unknown {
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const old = this.#old.get(text);
    if (old !== undefined) this.keep(text, old);
    return old;
  }

  keep(text: string, value: unknown): void {
    if (this.#young.size >= generationSizeMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(copyOf(text), value);
  }
}

const shared = new SharedTexts();
