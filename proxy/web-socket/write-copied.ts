/**
 * Writes bytes that lie in memory which is read into again, as those of all connections do.
 *
 * Memory of their own for each would lie outside of the heap, and each 64 MiB of it make V8 look through all of the heap:
 * measured, that was a quarter of what relaying audio took. What the kernel takes at once is therefore copied into memory
 * that is used again for the next one.
 */
import type { Duplex } from "node:stream";

const sharedBytes = 64 * 1024;
let shared = Buffer.allocUnsafeSlow(sharedBytes);

export function writeCopied(stream: Duplex, bytes: Buffer): void {
  // Behind what waits it would wait as well; TLS takes nothing at once.
  const waits = stream.writableLength > 0 || "encrypted" in stream || bytes.length > sharedBytes;
  if (waits) {
    stream.write(Buffer.from(bytes));
    return;
  }
  bytes.copy(shared);
  stream.write(shared.subarray(0, bytes.length));
  // The kernel has not taken all: the memory is theirs until it has.
  if (stream.writableLength > 0) shared = Buffer.allocUnsafeSlow(sharedBytes);
}
