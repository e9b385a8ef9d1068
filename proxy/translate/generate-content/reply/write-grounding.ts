/** Sources of texts as `groundingMetadata` (`protocols/gemini.md` section 4); offsets count bytes of UTF-8. */
import type { JsonObject } from "../../../protocols/json-value.ts";
import type { Citation } from "../../reply.ts";
import { ByteOffsets } from "./byte-offsets.ts";

/** A text with its sources. */
export interface CitedText {
  /** Undefined when it was too long to keep: sources then have no offsets. */
  readonly text: string | undefined;
  readonly citations: readonly Citation[];
  /** Index of the part in its content; undefined in streams, whose parts are pieces. */
  readonly partIndex?: number | undefined;
}

/** @returns undefined when there are no sources */
export function writeGrounding(texts: readonly CitedText[]): JsonObject | undefined {
  const chunks = new Map<string, { readonly index: number; readonly chunk: JsonObject }>();
  const supports: JsonObject[] = [];
  for (const cited of texts) {
    const { text } = cited;
    const offsets = text === undefined || cited.citations.length === 0 ? undefined : new ByteOffsets(text);
    for (const citation of cited.citations) {
      const { url, title } = citation;
      const known = chunks.get(url) ?? {
        index: chunks.size,
        chunk: { web: { uri: url, ...(title === undefined ? {} : { title }) } },
      };
      chunks.set(url, known);
      const segment = offsets && writeSegment(cited, citation, offsets);
      if (segment !== undefined) supports.push({ segment, groundingChunkIndices: [known.index] });
    }
  }
  if (chunks.size === 0) return undefined;
  return {
    groundingChunks: [...chunks.values()].map(({ chunk }) => chunk),
    ...(supports.length === 0 ? {} : { groundingSupports: supports }),
  };
}

function writeSegment(
  { text = "", partIndex }: CitedText,
  { start, end }: Citation,
  offsets: ByteOffsets,
): JsonObject | undefined {
  if (start === undefined || end === undefined || end > text.length) return undefined;
  const startIndex = offsets.toBytes(start);
  return {
    ...(partIndex === undefined || partIndex === 0 ? {} : { partIndex }),
    ...(startIndex === 0 ? {} : { startIndex }),
    endIndex: offsets.toBytes(end),
    text: text.slice(start, end),
  };
}
