/**
 * Writes the client's response of the vectors that were found in a reply: in the client's form and encoding. A vector
 * that has that encoding already goes out as the upstream wrote it.
 */
import type { EmbeddingCall, Encoding } from "#proxy/endpoints/embeddings/call/embedding-call";
import { inputTokens, type TokenUsage } from "#proxy/settle/usage";
import { decodeNumbers, encodeNumbers } from "./encode-vector.ts";
import type { FoundVector, FoundVectors, ListFrame } from "./found-vectors.ts";

/**
 * @param told usage where the reply reports none
 * @throws InvalidReply for vectors that have no such encoding
 */
export function vectorResponse(call: EmbeddingCall, found: FoundVectors, told: TokenUsage | undefined): Buffer {
  const { endpoint } = call;
  if (endpoint.format === "Embeddings") {
    return found.frame === undefined ? newList(call, found, told) : editedList(call, found, found.frame);
  }
  return googleResponse(call, found);
}

/** OpenAI's form, of which the upstream's own bytes are kept. */
function editedList(call: EmbeddingCall, found: FoundVectors, frame: ListFrame): Buffer {
  const { bytes, vectors } = found;
  const { list, isOrdered, incompleteUsage } = frame;
  const isEncoded = vectors.every((vector) => !isConverted(vector, call, found));
  if (isEncoded && isOrdered && incompleteUsage === undefined) return bytes;
  const pieces = new Pieces(bytes);
  const editUsage = (): void => {
    if (incompleteUsage === undefined) return;
    const tokens = found.usage === undefined ? 0 : inputTokens(found.usage);
    pieces.copy(incompleteUsage.start);
    pieces.write(JSON.stringify({ ...parse(bytes, incompleteUsage), prompt_tokens: tokens }));
    pieces.skip(incompleteUsage.end);
  };
  const isUsageFirst = incompleteUsage !== undefined && incompleteUsage.start < list.start;
  if (isUsageFirst) editUsage();
  pieces.copy(list.start);
  pieces.write("[");
  for (const [position, vector] of vectors.entries()) {
    const { item = vector.value, value } = vector;
    if (position > 0) pieces.write(",");
    pieces.skip(item.start);
    pieces.copy(value.start);
    pieces.add(encoded(vector, call, found));
    pieces.skip(value.end);
    pieces.copy(item.end);
  }
  pieces.write("]");
  pieces.skip(list.end);
  if (!isUsageFirst) editUsage();
  pieces.copy(bytes.length);
  return pieces.join();
}

function parse(bytes: Buffer, { start, end }: { readonly start: number; readonly end: number }): object {
  return JSON.parse(bytes.toString("utf8", start, end));
}

function newList(call: EmbeddingCall, found: FoundVectors, told: TokenUsage | undefined): Buffer {
  const { bytes, vectors, usage } = found;
  const pieces = new Pieces(bytes);
  pieces.write('{"object":"list","data":[');
  for (const [index, vector] of vectors.entries()) {
    pieces.write(`${index === 0 ? "" : ","}{"object":"embedding","index":${index},"embedding":`);
    pieces.add(encoded(vector, call, found));
    pieces.write("}");
  }
  const counted = usage ?? told;
  const tokens = counted === undefined ? 0 : inputTokens(counted);
  const model = JSON.stringify(call.model);
  pieces.write(`],"model":${model},"usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`);
  return pieces.join();
}

function googleResponse(call: EmbeddingCall, found: FoundVectors): Buffer {
  const { bytes, vectors, usage, verb } = found;
  if (verb === call.endpoint.verb && vectors.every(({ kind }) => kind === "numbers")) return bytes;
  const pieces = new Pieces(bytes);
  const isBatch = call.endpoint.verb === "batchEmbedContents";
  pieces.write(isBatch ? '{"embeddings":[' : '{"embedding":');
  for (const [index, vector] of vectors.entries()) {
    pieces.write(`${index === 0 ? "" : ","}{"values":`);
    pieces.add(encoded(vector, call, found));
    pieces.write("}");
  }
  if (isBatch) pieces.write("]");
  if (usage !== undefined) pieces.write(`,"usageMetadata":{"promptTokenCount":${inputTokens(usage)}}`);
  pieces.write("}");
  return pieces.join();
}

function isConverted(
  { kind }: FoundVector,
  { encoding, asksForFloats }: EmbeddingCall,
  { frame }: FoundVectors,
): boolean {
  const isFloats = asksForFloats || frame === undefined;
  return isFloats && kind !== "other" && kind !== kindOfEncoding[encoding];
}

const kindOfEncoding: Readonly<Record<Encoding, FoundVector["kind"]>> = { float: "numbers", base64: "text" };

function encoded(vector: FoundVector, call: EmbeddingCall, found: FoundVectors): Buffer {
  const { start, end } = vector.value;
  const { bytes } = found;
  if (!isConverted(vector, call, found)) return bytes.subarray(start, end);
  if (vector.kind === "numbers") return Buffer.from(encodeNumbers(bytes.toString("latin1", start, end)), "latin1");
  return Buffer.from(decodeNumbers(bytes.toString("latin1", start + 1, end - 1)), "latin1");
}

/** Collects pieces of a reply and what is written between them. */
class Pieces {
  readonly #bytes: Buffer;
  readonly #pieces: Buffer[] = [];
  #from = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** What stands before this offset and was not copied or skipped. */
  copy(to: number): void {
    if (to > this.#from) this.#pieces.push(this.#bytes.subarray(this.#from, to));
    this.#from = to;
  }

  skip(to: number): void {
    this.#from = to;
  }

  write(text: string): void {
    this.#pieces.push(Buffer.from(text));
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
  }

  join(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
