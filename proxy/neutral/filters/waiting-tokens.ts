/**
 * Holds tokens of a streamed text until the text they spell has been sent.
 *
 * Tokens arrive before or after their piece of text, depending on the upstream's format, and their spellings do not add
 * up to the text where a character is several tokens: each piece of text corrects the count.
 */
import type { TokenLogprob } from "#proxy/neutral/reply";

interface PlacedToken {
  readonly token: TokenLogprob;
  /** Where it ends in the text, in UTF-16 units. */
  readonly end: number;
}

export class WaitingTokens {
  #waiting: PlacedToken[] = [];
  #released = 0;
  #heard = 0;
  /** Where the tokens begin that come next. */
  #next = 0;
  /** A piece of text came whose tokens may still come. */
  #isOwed = false;

  /** A piece of the text. */
  addText(text: string): void {
    // Tokens in front of it have been placed; without any they come behind it.
    this.#isOwed = this.#next <= this.#heard;
    if (this.#isOwed) this.#next = this.#heard;
    this.#heard += text.length;
    if (!this.#isOwed) this.#next = this.#heard;
  }

  add(tokens: readonly TokenLogprob[]): void {
    for (const token of tokens) {
      this.#next += charactersOf(token);
      this.#waiting.push({ token, end: this.#next });
    }
    if (this.#isOwed) this.#next = this.#heard;
    this.#isOwed = false;
  }

  /** @param released characters of the text that have gone out @returns the tokens that spell them, each once */
  release(released: number): readonly TokenLogprob[] {
    const free: TokenLogprob[] = [];
    for (let next = this.#waiting[this.#released]; next !== undefined && next.end <= released; ) {
      free.push(next.token);
      this.#released += 1;
      next = this.#waiting[this.#released];
    }
    if (this.#released === this.#waiting.length) {
      this.#waiting = [];
      this.#released = 0;
    }
    return free;
  }
}

/** UTF-16 units of the text that a token spells: by its bytes, which tell parts of a character apart. */
export function charactersOf({ token, bytes }: TokenLogprob): number {
  if (bytes === undefined) return token.length;
  let units = 0;
  for (const byte of bytes) if (byte < 0x80 || byte >= 0xc0) units += byte >= 0xf0 ? 2 : 1;
  return units;
}
