/** Objects that are the same wherever the same text stands. */

/** Texts of one generation. */
const sizeMax = 2_048;

/** Two generations of values by their text, so that memory is bounded and values in use survive. */
export class SharedTexts<Value> {
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  find(text: string): Value | undefined {
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const old = this.#old.get(text);
    if (old !== undefined) this.keep(text, old);
    return old;
  }

  keep(text: string, value: Value): void {
    if (this.#young.size >= sizeMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(copyOf(text), value);
  }
}

/**
 * A string of its own: a part of a text would keep the whole file in memory.
 *
 * @param text of characters below U+0100
 */
export function copyOf(text: string): string {
  return text.length < 13 ? text : Buffer.from(text, "latin1").toString("latin1");
}
