/**
 * Accepts a client's WebSocket: takes the connection over from the HTTP server and responds with 101.
 *
 * Nothing is compressed: the audio in these messages hardly gets smaller, and a compressor takes 300 KiB for each side
 * of each socket.
 */
import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { Exchange } from "#proxy/http1/server/exchange";
import type { ProxyLimits } from "#proxy/limits";
import type { Handshake } from "./handshake.ts";

export interface AcceptedSocket {
  readonly webSocket: WebSocket;
  readonly socket: Socket;
}

/** One for all sockets of the same limits: it holds nothing of theirs. */
const acceptors = new WeakMap<ProxyLimits, WebSocketServer>();

function acceptorOf(limits: ProxyLimits): WebSocketServer {
  let acceptor = acceptors.get(limits);
  if (acceptor === undefined) {
    acceptor = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: limits.realtimeMessageBytesMax,
    });
    acceptor.on("headers", (headers, { headers: { "x-request-id": requestId } }) => {
      headers.push(`x-request-id: ${requestId}`);
    });
    acceptors.set(limits, acceptor);
  }
  return acceptor;
}

/** @returns undefined where the client has left, or sent more than is kept before it was accepted */
export function acceptWebSocket(
  { response }: Exchange,
  { key, offersRealtime }: Handshake,
  requestId: string,
  limits: ProxyLimits,
): AcceptedSocket | undefined {
  const handedOver = response.handOver();
  if (handedOver === undefined) return undefined;
  const { socket, bytes } = handedOver;
  const request = new IncomingMessage(socket);
  request.method = "GET";
  request.headers = {
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": key,
    "x-request-id": requestId,
    ...(offersRealtime ? { "sec-websocket-protocol": "realtime" } : {}),
  };
  let webSocket: WebSocket | undefined;
  acceptorOf(limits).handleUpgrade(request, socket, bytes, (accepted) => {
    webSocket = accepted;
  });
  if (webSocket === undefined) {
    socket.destroy();
    return undefined;
  }
  return { webSocket, socket };
}
