/**
 * Vectors of texts that lie near each other when the texts share words or parts of words: each trigram of each word
 * counts in one dimension, chosen by its hash. Pure: the same text, the same vector, on any machine.
 */

/** A part of a text and how much it counts. */
type Feature = readonly [part: string, weight: number];

/** The length of a vector where a call does not say. */
export const usualDimensions = 256;

/** Words of so many letters, and longer ones, count fully. */
const usualWordLength = 5;

/** What is behind it does not count, as at models with a context of 8,192 tokens. */
const charactersMax = 32_768;

/** A vector of length one, so that the product of two is their likeness, at most 1. */
export function vectorOfText(text: string, dimensions: number): Float32Array {
  return hashed(featuresOfText(text.slice(0, charactersMax)), dimensions);
}

/** Tokens have no letters: each token and each pair of neighbours counts. */
export function vectorOfTokens(tokens: readonly number[], dimensions: number): Float32Array {
  return hashed(
    tokens.flatMap((token, index): Feature[] => [
      [`${token}`, 1],
      [`${token} ${tokens[index + 1] ?? "end"}`, 0.5],
    ]),
    dimensions,
  );
}

/** How alike two vectors of one length are: 1 for the same text, about 0 for texts that share nothing. */
export function likeness(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
}

function featuresOfText(text: string): readonly Feature[] {
  const words =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  // Signs alone, such as emoji, are words of their own.
  return (words.length === 0 ? [text] : words).flatMap((word): Feature[] => {
    const marked = `<${word}>`;
    const trigrams = Array.from({ length: Math.max(1, marked.length - 2) }, (_, at) => marked.slice(at, at + 3));
    // Short words are mostly those that every text has.
    const weight = Math.min(1, word.length / usualWordLength) ** 2;
    return [[marked, weight], ...trigrams.map((trigram): Feature => [trigram, weight / 2])];
  });
}

function hashed(features: readonly Feature[], dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const [part, weight] of features) {
    const hash = hashOf(part);
    const at = (hash >>> 1) % dimensions;
    // The sign comes from another bit than the place, so that collisions cancel on average.
    vector[at] = (vector[at] ?? 0) + ((hash & 1) === 0 ? weight : -weight);
  }
  const length = Math.hypot(...vector);
  // Everything may have cancelled: then any direction will do.
  if (length === 0) vector[0] = 1;
  else for (const [at, value] of vector.entries()) vector[at] = value / length;
  return vector;
}

/** FNV-1a of 32 bits, with a last mix so that the low bits depend on all of them. */
function hashOf(part: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < part.length; at += 1) hash = Math.imul(hash ^ part.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
