/** Ends a response so that a client that stops reading cannot hold its last bytes for ever. */
import type { ClientResponse } from "#proxy/http1/server/client-response";
import { sliceBytesMax, slicesOf, writeSlices } from "./write-slices.ts";

/** Less than this the kernel takes at once, whether the client reads or not: it neither waits nor needs a watch. */
const waitingBytesLeast = 64 * 1024;

/** Whether so much of a response that it counts still waits here for its client. */
export function holdsResponse(response: ClientResponse): boolean {
  if (!response.headersSent || response.closed) return false;
  return !response.writableEnded || response.writableLength >= waitingBytesLeast;
}

/**
 * A client that takes nothing of what waits for it for `slowReaderTimeoutMs` is cut; a slow one that takes some of it now and
 * then is left alone.
 * @param rest of the response: nothing, a body, or slices that wait for what was written before
 */
export function endResponse(response: ClientResponse, rest?: Buffer | Buffer[]): void {
  if (rest === undefined) response.end();
  else if (Array.isArray(rest)) endInSlices(response, rest);
  else if (rest.length <= sliceBytesMax) response.end(rest);
  else endInSlices(response, slicesOf(rest));
}

function endInSlices(response: ClientResponse, slices: Buffer[]): void {
  writeSlices(response, slices, { onWritten: () => response.end() });
  if (!response.writableEnded) response.cutWhenSilent();
}
