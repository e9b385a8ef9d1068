/**
 * Ends a connection so that the client reads the last response although it is still sending.
 *
 * A socket that is closed with unread bytes sends a reset, which overtakes the response and wipes it out (RFC 9112 section
 * 9.6). So the sending side ends, what still arrives is discarded, and the socket goes when the client ends or its short
 * time is over. Used behind the last response of every connection.
 */
import type { Socket } from "node:net";

/** Long enough for a response to cross the world twice; nothing is held meanwhile but the socket itself. */
const lingerMs = 1_000;

/** Ends the sending side now, the socket soon. */
export function lingeringClose(socket: Socket): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once("close", () => clearTimeout(timer));
  socket.end();
}
