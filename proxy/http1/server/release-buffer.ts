/** A smaller buffer is not worth the call, and may share its memory with others. */
const releasedBytesLeast = 16 * 1024;

/**
 * Gives the memory of a piece of a body back without waiting for the collector, which counts no memory outside the heap:
 * a few dozen large bodies at once would leave more of it behind than all that is held.
 *
 * @param own read by nobody any more; a part of a larger piece of memory is left alone
 */
export function releaseBuffer(own: Buffer | undefined): void {
  if (own === undefined || own.length < releasedBytesLeast) return;
  const { buffer } = own;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === own.length) buffer.transfer(0);
}
