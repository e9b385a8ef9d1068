/** Reads a reply that holds vectors, one for each input, and makes the client's response of it. */
import { WholeReader, type WholeReading } from "#proxy/endpoints/dialects/whole-reader";
import type { EmbeddingCall } from "#proxy/endpoints/embeddings/call/embedding-call";
import { isLengthOfFloats } from "./encode-vector.ts";
import type { FindVectors, FoundVector, FoundVectors } from "./found-vectors.ts";
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

/** One vector for each input, and each in an encoding that can be brought to the client's. */
function answers({ inputs, asksForFloats, endpoint }: EmbeddingCall, found: FoundVectors): boolean {
  const { vectors, frame } = found;
  if (vectors.length === 0 || (inputs !== undefined && vectors.length !== inputs)) return false;
  const takesOthers = !asksForFloats || (frame !== undefined && endpoint.format === "Embeddings");
  return vectors.every((vector, position) => {
    if (vector.index !== position) return false;
    if (vector.kind === "text") return !asksForFloats || isFloats(found.bytes, vector.value);
    return takesOthers || vector.kind === "numbers";
  });
}

const equalsSign = 0x3d;

/** @param value a text, with its quotes */
function isFloats(bytes: Buffer, { start, end }: FoundVector["value"]): boolean {
  let padding = 0;
  while (bytes[end - 2 - padding] === equalsSign) padding += 1;
  return isLengthOfFloats(end - start - 2, padding);
}
