/** Reads a reply that holds vectors, one for each input, and makes the client's response of it. */
import { WholeReader, type WholeReading } from "#proxy/endpoints/dialects/whole-reader";
import type { EmbeddingCall } from "#proxy/endpoints/embeddings/call/embedding-call";
import { checkNumbers } from "./encode-vector.ts";
import type { FindVectors, FoundVectors } from "./found-vectors.ts";
import { vectorResponse } from "./vector-response.ts";

/** @param find finds the vectors in the upstream's form */
export function vectorReader(call: EmbeddingCall, find: FindVectors): WholeReader {
  return new WholeReader((body) => readVectors(call, find, body));
}

function readVectors(call: EmbeddingCall, find: FindVectors, body: Buffer): WholeReading | undefined {
  const found = foundIn(body, find);
  if (found === undefined || !answers(call, found)) return undefined;
  return { usage: found.usage, response: (told) => vectorResponse(call, found, told) };
}

function foundIn(body: Buffer, find: FindVectors): FoundVectors | undefined {
  try {
    return find(body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * One vector for each input, and each in an encoding that can be brought to the client's.
 * @throws InvalidReply for base64 that would pass and is none of 32-bit floats
 */
function answers({ inputs, asksForFloats, encoding, endpoint }: EmbeddingCall, found: FoundVectors): boolean {
  const { bytes, vectors, frame } = found;
  if (vectors.length === 0 || (inputs !== undefined && vectors.length !== inputs)) return false;
  const takesOthers = !asksForFloats || (frame !== undefined && endpoint.format === "Embeddings");
  const isChecked = asksForFloats && encoding === "base64";
  return vectors.every(({ index, kind, value: { start, end } }, position) => {
    if (isChecked && kind === "text") checkNumbers(bytes.toString("latin1", start + 1, end - 1));
    return index === position && (takesOthers || kind !== "other");
  });
}
