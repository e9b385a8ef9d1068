/**
 * Writes a large body in slices, each when its client has taken the one before.
 *
 * Node reports no progress within one write over TLS, nor within one `drain`: during one large write a client that
 * reads all the time would look like one that reads nothing.
 */
import type { ClientResponse } from "#proxy/http1/server/client-response";

/** What is no larger goes out in one write. A client that takes less than this in the time it may be silent is silent. */
export const sliceBytesMax = 256 * 1024;

/** The same memory, piece by piece. */
export function slicesOf(bytes: Buffer): Buffer[] {
  const slices: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += sliceBytesMax) {
    slices.push(bytes.subarray(start, start + sliceBytesMax));
  }
  return slices;
}

export interface SlicesListener {
  /** Some of it was taken. */
  readonly onProgress?: () => void;
  /** All of it was taken, or its last slice is on its way and may be followed by more. */
  readonly onWritten: () => void;
}

/** Neither is called when the connection ends before. @param slices emptied from its front; may grow until all is written */
export function writeSlices(response: ClientResponse, slices: Buffer[], listener: SlicesListener): void {
  if (response.destroyed) return;
  const writeOn = (): void => {
    listener.onProgress?.();
    for (let slice = slices.shift(); slice !== undefined; slice = slices.shift()) {
      if (!response.write(slice)) return;
    }
    response.off("drain", writeOn);
    listener.onWritten();
  };
  response.on("drain", writeOn);
  if (!response.writableNeedDrain) writeOn();
}
