/**
 * Tells when JSON that arrives in pieces is closed: as many brackets closed as opened, outside of strings. It reads
 * each character once, so that the cost grows with the length of the arguments and not with the number of pieces.
 */

const quote = 34;
const backslash = 92;
const openBrace = 123;
const closeBrace = 125;
const openBracket = 91;
const closeBracket = 93;

export class JsonBalance {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasBegun = false;

  /** An object or list was opened and all that was opened is closed. Whether it is JSON is for a parser to say. */
  get isClosed(): boolean {
    return this.#hasBegun && this.#depth === 0;
  }

  add(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#isInString) this.#addToString(code);
      else if (code === quote) this.#isInString = true;
      else if (code === openBrace || code === openBracket) {
        this.#depth += 1;
        this.#hasBegun = true;
      } else if (code === closeBrace || code === closeBracket) this.#depth -= 1;
    }
  }

  #addToString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#isInString = false;
  }
}
