/**
 * Writes the texts of a whole reply as parts, with their sources.
 *
 * Providers cut a text into blocks to attach citations; this format does not. Where there are sources, neighbouring
 * texts become one part, so that offsets are the same in the part and in the text that clients join.
 */
import type { JsonObject } from "#proxy/json/json-value";
import type { ReplyBlock, TextBlock } from "#proxy/neutral/reply";
import { type CitedText, type PlacedCitation, placeCitation } from "./write-grounding.ts";

interface MergedText {
  text: string;
  readonly partIndex: number;
  readonly citations: PlacedCitation[];
}

export class TextParts {
  readonly #parts: JsonObject[];
  readonly #joins: boolean;
  readonly #texts: MergedText[] = [];

  /** @param parts of the content, to which texts are added; @param blocks of the whole reply */
  constructor(parts: JsonObject[], blocks: readonly ReplyBlock[]) {
    this.#parts = parts;
    this.#joins = blocks.some((block) => block.kind === "text" && block.citations.length > 0);
  }

  get cited(): readonly CitedText[] {
    return this.#texts;
  }

  /** A text of nothing has no part, and its sources none of its words. */
  add({ text, citations }: TextBlock): void {
    const part = this.#last(text !== "");
    const start = part.text.length;
    for (const citation of citations) part.citations.push(placeCitation(citation, start, text.length));
    if (text === "") return;
    part.text += text;
    this.#parts[part.partIndex] = { text: part.text };
  }

  #last(says: boolean): MergedText {
    const last = this.#texts.at(-1);
    const goesOn = this.#joins && last?.partIndex === this.#parts.length - 1;
    if (last !== undefined && (goesOn || !says)) return last;
    const text = { text: "", partIndex: this.#parts.length, citations: [] };
    this.#texts.push(text);
    return text;
  }
}
