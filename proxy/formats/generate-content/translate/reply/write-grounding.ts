/**
 * Writes the sources of texts and the search queries as `groundingMetadata` (docs/design/generate-content.md 4);
 * offsets count bytes of UTF-8.
 */
import type { JsonObject } from "#proxy/json/json-value";
import type { Citation } from "#proxy/neutral/reply";
import { ByteOffsets } from "./byte-offsets.ts";

/** A text with its sources. */
export interface CitedText {
  /** Undefined when it was too long to keep: sources then have no offsets. */
  readonly text: string | undefined;
  /** Each with its offsets in this text. */
  readonly citations: readonly PlacedCitation[];
  /** Index of the part in its content; undefined in streams, whose parts are pieces. */
  readonly partIndex?: number | undefined;
}

export type PlacedCitation = Citation & { readonly start: number; readonly end: number };

/**
 * Where a source is used, in a text that its block is part of.
 * @param start of the block in the text; @param length of the block: a source without offsets is one of all of it
 */
export function placeCitation(citation: Citation, start: number, length: number): PlacedCitation {
  const end = Math.min(citation.end ?? length, length);
  return { ...citation, start: start + Math.min(citation.start ?? 0, end), end: start + end };
}

/** @returns undefined when there are neither sources nor queries */
export function writeGrounding(texts: readonly CitedText[], queries: Iterable<string>): JsonObject | undefined {
  const chunks = new Map<string, { readonly index: number; readonly chunk: JsonObject }>();
  const supports: JsonObject[] = [];
  for (const cited of texts) {
    const used = new Map<string, { readonly place: PlacedCitation; readonly indexes: Set<number> }>();
    for (const citation of cited.citations) {
      const { url, title, start, end } = citation;
      const known = chunks.get(url) ?? {
        index: chunks.size,
        chunk: { web: { uri: url, ...(title === undefined ? {} : { title }) } },
      };
      chunks.set(url, known);
      const support = used.get(`${start} ${end}`) ?? { place: citation, indexes: new Set() };
      used.set(`${start} ${end}`, support);
      support.indexes.add(known.index);
    }
    const offsets = cited.text === undefined || used.size === 0 ? undefined : new ByteOffsets(cited.text);
    for (const { place, indexes } of used.values()) {
      const segment = offsets && writeSegment(cited, place, offsets);
      if (segment !== undefined) supports.push({ segment, groundingChunkIndices: [...indexes] });
    }
  }
  const searched = [...new Set(queries)];
  if (chunks.size === 0 && searched.length === 0) return undefined;
  return {
    ...(searched.length === 0 ? {} : { webSearchQueries: searched }),
    ...(chunks.size === 0 ? {} : { groundingChunks: [...chunks.values()].map(({ chunk }) => chunk) }),
    ...(supports.length === 0 ? {} : { groundingSupports: supports }),
  };
}

/** @returns undefined for a source of no words */
function writeSegment(
  { text = "", partIndex }: CitedText,
  { start, end }: PlacedCitation,
  offsets: ByteOffsets,
): JsonObject | undefined {
  if (start >= end || end > text.length) return undefined;
  const startIndex = offsets.toBytes(start);
  return {
    ...(partIndex === undefined || partIndex === 0 ? {} : { partIndex }),
    ...(startIndex === 0 ? {} : { startIndex }),
    endIndex: offsets.toBytes(end),
    text: text.slice(start, end),
  };
}
