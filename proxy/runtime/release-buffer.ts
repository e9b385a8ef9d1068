/** Frees the memory of a large buffer at once. */
/** What is smaller is not worth the call, and may share its memory with others. */
const freedBytesLeast = 16 * 1024;

/**
 * Gives memory back without waiting for the collector: what does is counted nowhere, and a few dozen large bodies at once
 * leave more of it behind than all that is held.
 *
 * @param own read by nobody any more; a part of a larger piece of memory is left alone
 */
export function releaseBuffer(own: Buffer | undefined): void {
  if (own === undefined || own.length < freedBytesLeast) return;
  const { buffer } = own;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === own.length) buffer.transfer(0);
}
