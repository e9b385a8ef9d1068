/**
 * Accepts a client's WebSocket: takes the connection over from the HTTP server and responds with 101 (RFC 6455 section
 * 4.2.2).
 *
 * No extension is accepted, so that nothing is compressed: the audio in these messages hardly gets smaller, and a compressor
 * takes 300 KiB for each side of each socket.
 */
import type { Exchange } from "#proxy/http1/server/exchange";
import type { ProxyLimits } from "#proxy/limits";
import { acceptOf } from "#proxy/web-socket/accept-key";
import { WebSocketConnection } from "#proxy/web-socket/web-socket";
import type { Handshake } from "./handshake.ts";

/** @returns undefined where the client has left, or sent more than is kept before it was accepted */
export function acceptWebSocket(
  { response }: Exchange,
  { key, offersRealtime }: Handshake,
  requestId: string,
  limits: ProxyLimits,
): WebSocketConnection | undefined {
  const handedOver = response.handOver();
  if (handedOver === undefined) return undefined;
  const { socket, bytes } = handedOver;
  if (!socket.readable || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const head = [
    "HTTP/1.1 101 Switching Protocols",
    "upgrade: websocket",
    "connection: Upgrade",
    `sec-websocket-accept: ${acceptOf(key)}`,
    ...(offersRealtime ? ["sec-websocket-protocol: realtime"] : []),
    `x-request-id: ${requestId}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  const options = { role: "server", messageBytesMax: limits.realtimeMessageBytesMax } as const;
  const webSocket = new WebSocketConnection(socket, bytes, options);
  socket.on("data", (chunk: Buffer) => webSocket.receive(chunk));
  socket.pause();
  return webSocket;
}
