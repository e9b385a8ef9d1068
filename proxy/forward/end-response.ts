/** Ends an answer so that a client that stops reading cannot hold its last bytes for ever. */
import type { ServerResponse } from "node:http";

/** Less than this the kernel takes at once, whether the client reads or not: no watch is needed. */
const watchedBytesLeast = 64 * 1024;

/** @param timeoutMs after which a connection that still holds bytes of this answer is cut */
export function endResponse(response: ServerResponse, body: Buffer | undefined, timeoutMs: number): void {
  if (body === undefined) response.end();
  else response.end(body);
  if (response.writableLength < watchedBytesLeast) return;
  const { socket } = response;
  const timer = setTimeout(() => socket?.destroy(), timeoutMs);
  response.once("close", () => clearTimeout(timer));
}
