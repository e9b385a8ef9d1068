/** Ends an answer so that a client that stops reading cannot hold its last bytes for ever. */
import type { ServerResponse } from "node:http";

/** Less than this the kernel takes at once, whether the client reads or not: it neither waits nor needs a watch. */
export const waitingBytesLeast = 64 * 1024;

/**
 * @param timeoutMs of silence after which a connection that still holds bytes of this answer is cut; a slow client that
 *   takes some of them now and then is left alone
 */
export function endResponse(response: ServerResponse, body: Buffer | undefined, timeoutMs: number): void {
  if (body === undefined) response.end();
  else response.end(body);
  if (response.writableLength < waitingBytesLeast) return;
  // Node's own timeout begins anew whenever the kernel has taken bytes, and ends with the answer. Nobody listens to it,
  // so the server destroys the socket.
  response.setTimeout(timeoutMs);
  // It begins anew with whatever arrives as well: until all is taken nothing is read of a client, or one that takes nothing
  // and sends a byte now and then would hold its answer for ever.
  const { socket } = response;
  socket?.pause();
  response.once("finish", () => socket?.resume());
}
