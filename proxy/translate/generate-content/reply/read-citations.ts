/**
 * Sources of a candidate's text: `groundingMetadata` and `citationMetadata` (`protocols/gemini.md` section 4).
 *
 * They may come before the text they speak of (pitfall 128), and their offsets count bytes of UTF-8, so they are
 * gathered and told at the end, when the text is known.
 */
import { asList, isObject, member, memberAt } from "../../../protocols/json-value.ts";
import type { Citation } from "../../reply.ts";
import { ByteOffsets } from "./byte-offsets.ts";

/** Neither may grow without end; beyond it texts have no offsets, and sources are not told. */
const textCharactersMax = 1_048_576;
const citationsMax = 1000;
/** Looking for words in a long text takes time. */
const searchesMax = 100;

interface FoundCitation {
  readonly url: string;
  readonly title: string | undefined;
  readonly startByte: number | undefined;
  readonly endByte: number | undefined;
  readonly citedText: string | undefined;
}

export class CitationCollector {
  readonly #found = new Map<string, FoundCitation>();
  #text = "";
  #searches = 0;
  #isTextWhole = true;

  /** Visible text of the candidate, in order. */
  addText(text: string): void {
    if (this.#text.length + text.length <= textCharactersMax) this.#text += text;
    else this.#isTextWhole = false;
  }

  read(candidate: unknown): void {
    const grounding = member(candidate, "groundingMetadata");
    if (isObject(grounding)) this.#readGrounding(grounding);
    const cited = member(candidate, "citationMetadata");
    if (!isObject(cited)) return;
    for (const source of [...asList(cited["citationSources"]), ...asList(cited["citations"])]) {
      this.#add(member(source, "uri"), member(source, "title"), {
        startByte: byteOffset(member(source, "startIndex")) ?? 0,
        endByte: byteOffset(member(source, "endIndex")),
      });
    }
  }

  get isEmpty(): boolean {
    return this.#found.size === 0;
  }

  /** @param textStart where the text of the block begins in the candidate's text, in UTF-16 units */
  *citations(textStart: number): Generator<Citation> {
    const offsets = this.#isTextWhole ? new ByteOffsets(this.#text) : undefined;
    for (const { url, title, citedText, ...range } of this.#found.values()) {
      const place = offsets && this.#place(range, citedText, offsets);
      const start = place === undefined ? -1 : place.start - textStart;
      yield {
        url,
        ...(title === undefined ? {} : { title }),
        ...(place !== undefined && start >= 0 ? { start, end: place.end - textStart } : {}),
        ...(citedText === undefined ? {} : { citedText }),
      };
    }
  }

  #readGrounding(grounding: Readonly<Record<string, unknown>>): void {
    const chunks = asList(grounding["groundingChunks"]).map(
      (chunk) => member(chunk, "web") ?? member(chunk, "maps") ?? member(chunk, "retrievedContext"),
    );
    const supported = new Set<unknown>();
    for (const support of asList(grounding["groundingSupports"])) {
      const segment = member(support, "segment");
      const text = member(segment, "text");
      for (const index of asList(member(support, "groundingChunkIndices"))) {
        const source = typeof index === "number" ? chunks[index] : undefined;
        if (source === undefined) continue;
        supported.add(source);
        this.#add(member(source, "uri"), member(source, "title"), {
          startByte: byteOffset(memberAt(segment, "startIndex")) ?? 0,
          endByte: byteOffset(memberAt(segment, "endIndex")),
          ...(typeof text === "string" && text !== "" ? { citedText: text } : {}),
        });
      }
    }
    for (const source of chunks) {
      if (!supported.has(source)) this.#add(member(source, "uri"), member(source, "title"), {});
    }
  }

  #add(url: unknown, title: unknown, range: Partial<FoundCitation>): void {
    if (typeof url !== "string" || url === "" || this.#found.size >= citationsMax) return;
    const found: FoundCitation = {
      url,
      title: typeof title === "string" && title !== "" ? title : undefined,
      startByte: range.startByte,
      endByte: range.endByte,
      citedText: range.citedText,
    };
    // Frames repeat what earlier ones said.
    this.#found.set(`${found.startByte} ${found.endByte} ${url}`, found);
  }

  /** The words themselves decide where offsets do not lead to them: parts and frames count differently by model. */
  #place(
    { startByte, endByte }: Pick<FoundCitation, "startByte" | "endByte">,
    words: string | undefined,
    offsets: ByteOffsets,
  ): { start: number; end: number } | undefined {
    const start = startByte === undefined ? undefined : offsets.toUnits(startByte);
    const end = endByte === undefined ? undefined : offsets.toUnits(endByte);
    if (start !== undefined && end !== undefined && start < end) {
      if (words === undefined || this.#text.startsWith(words, start)) return { start, end };
    }
    if (words === undefined || this.#searches >= searchesMax) return undefined;
    this.#searches += 1;
    const found = this.#text.indexOf(words);
    return found < 0 ? undefined : { start: found, end: found + words.length };
  }
}

function byteOffset(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
