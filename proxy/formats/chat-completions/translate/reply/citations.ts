/**
 * Reads and writes the sources of a reply (docs/design/chat-completions.md 5): annotations with offsets into the whole
 * content.
 */
import { asList, asText, isObject, type JsonObject, member } from "#proxy/json/json-value";
import type { Citation } from "#proxy/neutral/reply";

/** Of a message or delta. A vendor that does not know where a source was used says from 0 to 0. */
export function readAnnotations(annotations: unknown): Citation[] {
  return asList(annotations).flatMap((annotation) => {
    const cited = member(annotation, "url_citation");
    if (!isObject(cited)) return [];
    const url = asText(cited["url"]);
    if (url === "") return [];
    const { title, start_index: start, end_index: end } = cited;
    const hasPlace = isOffset(start) && isOffset(end) && end > start;
    return [{ url, title: typeof title === "string" ? title : undefined, ...(hasPlace ? { start, end } : {}) }];
  });
}

function isOffset(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Perplexity's lists beside the choices: addresses, and the same with titles. */
export function readSources(chunk: JsonObject): Citation[] {
  const results = asList(chunk["search_results"]);
  return asList(chunk["citations"]).flatMap((url) => {
    if (typeof url !== "string" || url === "") return [];
    const title = member(
      results.find((result) => member(result, "url") === url),
      "title",
    );
    return [{ url, title: typeof title === "string" ? title : undefined }];
  });
}

/**
 * @param offset length of the content before the citation's own text
 * @param length of its own text, for a source of all of it
 */
export function writeAnnotation(citation: Citation, offset: number, length: number): JsonObject {
  const { url, title, start = 0, end = length } = citation;
  return {
    type: "url_citation",
    url_citation: { start_index: offset + start, end_index: offset + end, title: title ?? "", url },
  };
}
