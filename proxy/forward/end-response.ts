/** Ends an answer so that a client that stops reading cannot hold its last bytes for ever. */
import type { ClientResponse } from "../http1/client-response.ts";
import { sliceBytesMax, slicesOf, writeSlices } from "./write-slices.ts";

/** Less than this the kernel takes at once, whether the client reads or not: it neither waits nor needs a watch. */
const waitingBytesLeast = 64 * 1024;

/** Whether so much of an answer that it counts still waits here for its client. */
export function holdsAnswer(response: ClientResponse): boolean {
  if (!response.headersSent || response.closed) return false;
  return !response.writableEnded || response.writableLength >= waitingBytesLeast;
}

function endInSlices(response: ClientResponse, slices: Buffer[]): void {
  writeSlices(response, slices, { onWritten: () => response.end() });
}

/**
 * @param rest of the answer: nothing, a body, or slices that wait for what was written before
 * @param timeoutMs of silence after which a connection that still holds bytes of this answer is cut; a slow client that
 *   takes some of them now and then is left alone
 */
export function endResponse(response: ClientResponse, rest: Buffer | Buffer[] | undefined, timeoutMs: number): void {
  if (rest === undefined) response.end();
  else if (Array.isArray(rest)) endInSlices(response, rest);
  else if (rest.length <= sliceBytesMax) response.end(rest);
  else endInSlices(response, slicesOf(rest));
  if (!holdsAnswer(response)) return;
  response.cutWhenSilentFor(timeoutMs);
}
