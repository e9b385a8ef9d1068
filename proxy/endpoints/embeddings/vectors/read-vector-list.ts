/** Finds the vectors of a reply in the form of OpenAI's `/v1/embeddings`. */
import { JsonCursor, type JsonRange } from "#proxy/json/json-cursor";
import { member } from "#proxy/json/json-value";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import { type FindVectors, type FoundVector, type ListFrame, tokenCount } from "./found-vectors.ts";

type FoundItem = FoundVector & { readonly item: JsonRange };

export const readVectorList: FindVectors = (body) => {
  const cursor = new JsonCursor(body);
  let list: JsonRange | undefined;
  let items: FoundItem[] = [];
  let usage: TokenUsage | undefined;
  let incompleteUsage: JsonRange | undefined;
  let isAllVectors = true;
  if (!cursor.isObject()) return undefined;
  cursor.object((name) => {
    if (name === "data" && cursor.isArray()) {
      items = [];
      list = cursor.array((position) => {
        const item = readItem(cursor, position);
        if (item === undefined) isAllVectors = false;
        else items.push(item);
      });
    } else if (name === "usage") {
      const range = cursor.skip();
      const said: unknown = JSON.parse(body.toString("utf8", range.start, range.end));
      usage = usageOf(said);
      incompleteUsage = usage !== undefined && member(said, "prompt_tokens") === undefined ? range : undefined;
    } else cursor.skip();
  });
  cursor.end();
  if (list === undefined || !isAllVectors) return undefined;
  const isOrdered = items.every(({ index }, position) => index === position);
  if (!isOrdered) items.sort((one, other) => one.index - other.index);
  const frame: ListFrame = { list, isOrdered, incompleteUsage };
  return { bytes: body, vectors: items, usage, frame };
};

/** @returns undefined for what is no item, whose end the cursor has still passed */
function readItem(cursor: JsonCursor, position: number): FoundItem | undefined {
  if (!cursor.isObject()) {
    cursor.skip();
    return undefined;
  }
  let index = position;
  let value: JsonRange | undefined;
  let kind: FoundVector["kind"] = "other";
  const item = cursor.object((name) => {
    if (name === "embedding") ({ kind, value } = readVector(cursor));
    else if (name === "index") index = cursor.count() ?? position;
    else cursor.skip();
  });
  return value === undefined ? undefined : { index, value, kind, item };
}

/**
 * The vector that follows.
 * @throws SyntaxError for what is none: null, a flag, a single number, nothing, or numbers that no 32-bit float holds
 */
export function readVector(cursor: JsonCursor): Pick<FoundVector, "kind" | "value"> {
  if (cursor.isNumbers()) return { kind: "numbers", value: cursor.skipFloats() };
  const opens = cursor.isArray() ? cursor.peekItem() : cursor.peek();
  const isText = cursor.isString();
  const value = cursor.skip();
  const isEmpty = value.end - value.start === 2;
  if (isEmpty || opens === undefined || !vectorOpeners.has(opens)) {
    throw new SyntaxError(`the value at ${value.start} is no vector`);
  }
  return { kind: isText ? "text" : "other", value };
}

/** Of base64, of what a vendor calls a vector (sparse ones, for example), and of a list of either or of vectors. */
const vectorOpeners: ReadonlySet<number> = new Set(Buffer.from('"{['));

/** Voyage names the total alone, and Jina counts images in it. */
function usageOf(said: unknown): TokenUsage | undefined {
  const input = tokenCount(member(said, "prompt_tokens")) ?? tokenCount(member(said, "total_tokens"));
  return input === undefined ? undefined : { ...zeroUsage, input };
}
