/** Makes a failing input small: takes away pieces, halves first, as long as it goes on failing. */

/**
 * @param isFailing whether a smaller input fails in the same way; costly
 * @param budgetMs time after which the smallest found so far is good enough
 */
export function minimise(input: Buffer, isFailing: (smaller: Buffer) => boolean, budgetMs: number): Buffer {
  const endMs = performance.now() + budgetMs;
  let smallest = input;
  for (let pieceBytes = smallest.length >> 1; pieceBytes >= 1; pieceBytes = pieceBytes >> 1) {
    for (let at = 0; at < smallest.length; ) {
      if (performance.now() > endMs) return smallest;
      const smaller = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + pieceBytes)]);
      if (smaller.length < smallest.length && isFailing(smaller)) smallest = smaller;
      else at += pieceBytes;
    }
  }
  return smallest;
}
