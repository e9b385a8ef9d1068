/**
 * Reads the sources of a candidate's text: `groundingMetadata` and `citationMetadata`
 * (docs/design/generate-content.md 4).
 *
 * They may come before the text that they cite (pitfall 128), and their offsets count bytes of UTF-8, so they are
 * collected and emitted at the end, when the text is known.
 */
import { asList, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { Citation, FoundSource } from "#proxy/neutral/reply";
import { ByteOffsets } from "./byte-offsets.ts";

/** Neither may grow without end; beyond it texts have no offsets, and sources are not told. */
const textCharactersMax = 1_048_576;
const citationsMax = 1000;
/** Looking for words in a long text takes time. */
const searchesMax = 100;

/** Where in the text a source is used. */
interface Place {
  readonly startByte?: number | undefined;
  readonly endByte?: number | undefined;
  readonly citedText?: string | undefined;
}

interface Support extends Place {
  readonly sources: readonly unknown[];
}

export class CitationCollector {
  /** Frames hold what is new, and count over all of them. */
  #sources: FoundSource[] = [];
  readonly #supports: Support[] = [];
  readonly #cited: (FoundSource & Place)[] = [];
  /** Later frames may say again what an earlier one said. */
  readonly #queries = new Set<string>();
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
      if (this.#cited.length < citationsMax) this.#cited.push({ ...readSource(source), ...readPlace(source) });
    }
  }

  /** What was searched for, so far. */
  get queries(): Iterable<string> {
    return this.#queries;
  }

  /** What was found, so far, as far as it has an address. */
  get sources(): readonly FoundSource[] {
    return this.#sources.filter(({ url }) => url !== "");
  }

  /** Offsets count UTF-16 units of the candidate's whole text. */
  *citations(): Generator<Citation> {
    const offsets = this.#isTextWhole ? new ByteOffsets(this.#text) : undefined;
    for (const { url, title, citedText, ...range } of this.#all()) {
      const place = offsets && this.#place(range, citedText, offsets);
      yield {
        url,
        ...(title === undefined ? {} : { title }),
        ...place,
        ...(citedText === undefined ? {} : { citedText }),
      };
    }
  }

  #readGrounding(grounding: JsonObject): void {
    for (const query of asList(grounding["webSearchQueries"])) {
      if (typeof query === "string" && this.#queries.size < citationsMax) this.#queries.add(query);
    }
    const chunks = asList(grounding["groundingChunks"])
      .slice(0, citationsMax)
      .map((chunk) => readSource(member(chunk, "web") ?? member(chunk, "maps") ?? member(chunk, "retrievedContext")));
    // Some models say everything again with each frame.
    const isRepeated = this.#sources.every(({ url }, index) => url === chunks[index]?.url);
    if (isRepeated) this.#sources = chunks;
    else this.#sources = [...this.#sources, ...chunks].slice(0, citationsMax);
    for (const support of asList(grounding["groundingSupports"])) {
      if (this.#supports.length >= citationsMax) return;
      const sources = asList(member(support, "groundingChunkIndices")).slice(0, citationsMax);
      this.#supports.push({ ...readPlace(member(support, "segment")), sources });
    }
  }

  /** Each use of a source once, then the sources that no words are named for. */
  #all(): Iterable<FoundSource & Place> {
    const found = new Map<string, FoundSource & Place>();
    const add = (source: FoundSource, place: Place): void => {
      if (source.url === "" || found.size >= citationsMax) return;
      found.set(`${place.startByte} ${place.endByte} ${source.url}`, { ...source, ...place });
    };
    const used = new Set<FoundSource>();
    for (const { sources, ...place } of this.#supports) {
      for (const index of sources) {
        const source = typeof index === "number" ? this.#sources[index] : undefined;
        if (source === undefined) continue;
        used.add(source);
        add(source, place);
      }
    }
    for (const source of this.#sources) if (!used.has(source)) add(source, {});
    for (const { url, title, ...place } of this.#cited) add({ url, title }, place);
    return found.values();
  }

  /** The words themselves decide where offsets do not lead to them: parts and frames count differently by model. */
  #place(
    { startByte, endByte }: Pick<Place, "startByte" | "endByte">,
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

function readSource(value: unknown): FoundSource {
  const title = asText(member(value, "title"));
  return { url: asText(member(value, "uri")), title: title === "" ? undefined : title };
}

/** An offset of 0 is left out on the wire. */
function readPlace(value: unknown): Place {
  const text = asText(member(value, "text"));
  return {
    startByte: byteOffset(member(value, "startIndex")) ?? 0,
    endByte: byteOffset(member(value, "endIndex")),
    ...(text === "" ? {} : { citedText: text }),
  };
}

function byteOffset(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
