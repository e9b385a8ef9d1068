/** Keeps a text that is streamed in pieces and arrives again in full, to find out what the full one adds. */
export class StreamedText {
  #text = "";

  get text(): string {
    return this.#text;
  }

  add(piece: string): void {
    this.#text += piece;
  }

  /** @returns what the full text says behind what was said; undefined where it says something else: that stays */
  restOf(full: string): string | undefined {
    // A shorter one is not looked at: comparing joins the pieces, and full texts may follow each of them.
    if (full.length < this.#text.length || !full.startsWith(this.#text)) return undefined;
    return full.slice(this.#text.length);
  }
}
