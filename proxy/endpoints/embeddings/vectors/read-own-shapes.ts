/** Finds the vectors of replies in forms that one vendor alone has: Google, Cohere, Text Embeddings Inference. */
import type { EmbeddingVerb } from "#proxy/endpoints/embeddings/call/embedding-call";
import { JsonCursor } from "#proxy/json/json-cursor";
import { member, memberAt } from "#proxy/json/json-value";
import { type TokenUsage, zeroUsage } from "#proxy/settle/usage";
import { type FindVectors, type FoundVector, tokenCount } from "./found-vectors.ts";
import { readVector } from "./read-vector-list.ts";

/** `{"embedding": {"values": [...]}}` or `{"embeddings": [{"values": [...]}, ...]}`, with usage in newer models. */
export const readGoogle: FindVectors = (body) => {
  const cursor = new JsonCursor(body);
  const vectors: FoundVector[] = [];
  let verb: EmbeddingVerb | undefined;
  let usage: TokenUsage | undefined;
  if (!cursor.isObject()) return undefined;
  cursor.object((name) => {
    if (name === "embedding" && cursor.isObject()) {
      verb = "embedContent";
      readValues(cursor, vectors);
    } else if (name === "embeddings" && cursor.isArray()) {
      verb = "batchEmbedContents";
      cursor.array(() => readValues(cursor, vectors));
    } else if (name === "usageMetadata") usage = usageOf(member(cursor.json(), "promptTokenCount"));
    else cursor.skip();
  });
  cursor.end();
  return verb === undefined ? undefined : { bytes: body, vectors, usage, verb };
};

function readValues(cursor: JsonCursor, vectors: FoundVector[]): void {
  if (!cursor.isObject()) {
    cursor.skip();
    return;
  }
  cursor.object((name) => {
    if (name === "values") vectors.push({ index: vectors.length, ...readVector(cursor) });
    else cursor.skip();
  });
}

/** `{"embeddings": {"float": [[...], ...]}, "meta": {"billed_units": {"input_tokens": 3}}}`, or `base64` and texts. */
export const readCohere: FindVectors = (body) => {
  const cursor = new JsonCursor(body);
  const byEncoding = new Map<string, FoundVector[]>();
  let usage: TokenUsage | undefined;
  if (!cursor.isObject()) return undefined;
  cursor.object((name) => {
    if (name === "embeddings" && cursor.isObject()) {
      cursor.object((encoding) => {
        if (!cursor.isArray()) cursor.skip();
        else byEncoding.set(encoding, readVectors(cursor));
      });
    } else if (name === "meta") usage = usageOf(memberAt(cursor.json(), "billed_units", "input_tokens"));
    else cursor.skip();
  });
  cursor.end();
  const vectors = byEncoding.get("base64") ?? byEncoding.get("float");
  return vectors === undefined ? undefined : { bytes: body, vectors, usage };
};

/** `[[...], ...]` */
export const readLists: FindVectors = (body) => {
  const cursor = new JsonCursor(body);
  if (!cursor.isArray()) return undefined;
  const vectors = readVectors(cursor);
  cursor.end();
  return { bytes: body, vectors, usage: undefined };
};

function readVectors(cursor: JsonCursor): FoundVector[] {
  const vectors: FoundVector[] = [];
  cursor.array((index) => vectors.push({ index, ...readVector(cursor) }));
  return vectors;
}

function usageOf(count: unknown): TokenUsage | undefined {
  const input = tokenCount(count);
  return input === undefined ? undefined : { ...zeroUsage, input };
}
