/** Finds the documents of a rerank call in its body, and reads those that are asked for: nearly always none. */
import { JsonCursor, type JsonRange } from "#proxy/json/json-cursor";
import { isObject, type JsonObject, member } from "#proxy/json/json-value";

/** A text, or an object that holds one, or an image. */
export type RankedDocument = string | JsonObject;

/** What a text-only upstream reads of a document. */
export function textOf(document: RankedDocument): string {
  if (typeof document === "string") return document;
  const text = member(document, "text");
  return typeof text === "string" ? text : JSON.stringify(document);
}

/** The text of a query, without an image that it may hold: that one is counted as an image. */
export function queryText(query: RankedDocument): string {
  if (!hasImage(query)) return textOf(query);
  const { image: _image, ...rest } = query;
  return Object.keys(rest).length === 0 ? "" : textOf(rest);
}

/** A null is none: clients write it for what they leave out. */
export function hasImage(document: RankedDocument): document is JsonObject {
  return isObject(document) && document["image"] !== undefined && document["image"] !== null;
}

export class Documents {
  /** Whether all are strings. */
  readonly areTexts: boolean;
  /** Index of the first that is neither string nor object; undefined where there is none. */
  readonly firstOther: number | undefined;
  readonly #bytes: Buffer;
  readonly #places: readonly JsonRange[];

  /** @param at where the list begins in a body that was scanned */
  constructor(bytes: Buffer, at: number) {
    const places: JsonRange[] = [];
    let areTexts = true;
    let firstOther: number | undefined;
    const cursor = new JsonCursor(bytes, at);
    cursor.array((index) => {
      const isText = cursor.isString();
      areTexts &&= isText;
      if (!isText && !cursor.isObject()) firstOther ??= index;
      places.push(cursor.skip());
    });
    this.areTexts = areTexts;
    this.firstOther = firstOther;
    this.#bytes = bytes;
    this.#places = places;
  }

  get length(): number {
    return this.#places.length;
  }

  /** @param index below `length` */
  at(index: number): RankedDocument {
    const place = this.#places[index];
    const document: unknown =
      place === undefined ? "" : JSON.parse(this.#bytes.toString("utf8", place.start, place.end));
    return isObject(document) ? document : String(document);
  }

  /** Each as a text-only upstream reads it. */
  texts(): readonly string[] {
    return this.#places.map((_, index) => textOf(this.at(index)));
  }
}
