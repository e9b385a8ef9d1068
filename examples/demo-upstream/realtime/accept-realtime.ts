/**
 * Opens WebSockets at `GET /v1/realtime` and runs a session on each. What is known before the upgrade is refused with an
 * HTTP status: a path, a missing credential or model, a fault that the model's name asks for.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type WebSocket, WebSocketServer } from "ws";
import { writeError } from "#examples/demo-upstream/chat-completions";
import { RealtimeSession } from "./realtime-session.ts";

export interface RealtimeOptions {
  /** Pause before each piece of text; 0: full speed. */
  readonly paceMs: number;
  /** Only this credential is taken; undefined: any that is not empty. */
  readonly credential?: string;
}

const messageBytesMax = 16 * 1024 * 1024;
/** Of the subprotocols that a browser offers only this one is accepted: the other holds its key. */
const subprotocol = "realtime";
const keySubprotocol = "openai-insecure-api-key.";

/** @returns ends all sessions */
export function acceptRealtime(server: Server, options: RealtimeOptions): () => void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: messageBytesMax,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  });
  let serial = 0;
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A client may leave at any time.
    socket.on("error", () => socket.destroy());
    const refusal = findRefusal(request, options);
    if (refusal !== undefined) {
      refuse(socket, ...refusal);
      return;
    }
    serial += 1;
    const model = searchOf(request).get("model") ?? undefined;
    const session = new RealtimeSession(`sess_demo${serial}`, model);
    sockets.handleUpgrade(request, socket, head, (webSocket) => run(webSocket, session, options.paceMs));
  });
  return () => {
    for (const webSocket of sockets.clients) webSocket.terminate();
  };
}

function run(webSocket: WebSocket, session: RealtimeSession, paceMs: number): void {
  const send = async (events: readonly object[]): Promise<void> => {
    for (const event of events) {
      if (paceMs > 0 && "delta" in event) await sleep(paceMs);
      if (webSocket.readyState !== webSocket.OPEN) return;
      // It is called when the message is written, or the socket is gone: a slow client makes no queue here.
      await new Promise<unknown>((resolve) => webSocket.send(JSON.stringify(event), resolve));
    }
  };
  // Replies go out one after the other, in the order of what they reply to; the next message waits for that.
  let sent = send(session.open());
  webSocket.on("error", () => webSocket.terminate());
  webSocket.on("message", (data, isBinary) => {
    const events = isBinary ? session.refuse("Binary messages are not taken.") : session.receive(parse(String(data)));
    webSocket.pause();
    sent = sent.then(() => send(events)).then(() => webSocket.resume());
  });
}

/** @returns undefined for what is no JSON: the session says what is missing in it */
function parse(message: string): unknown {
  try {
    return JSON.parse(message);
  } catch {
    return undefined;
  }
}

function searchOf(request: IncomingMessage): URLSearchParams {
  return new URL(request.url ?? "/", "http://demo").searchParams;
}

type Refusal = readonly [status: number, message: string];

function findRefusal(request: IncomingMessage, options: RealtimeOptions): Refusal | undefined {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://demo");
  if (pathname !== "/v1/realtime") return [404, `Unknown request URL: GET ${pathname}`];
  const given = credentialOf(request);
  const isKnown = options.credential === undefined ? given !== undefined : given === options.credential;
  if (!isKnown) return [401, "Incorrect API key provided."];
  const model = searchParams.get("model");
  if (model === null && searchParams.get("intent") !== "transcription")
    return [400, "you must provide a model parameter"];
  const fault = /^demo-fault-([45][0-9]{2})$/.exec(model ?? "")?.[1];
  return fault === undefined ? undefined : [Number(fault), `The demo upstream was asked to fail with ${fault}.`];
}

/** In the header or, from a browser, among the subprotocols. */
function credentialOf(request: IncomingMessage): string | undefined {
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  return bearer ?? offered.find((name) => name.startsWith(keySubprotocol))?.slice(keySubprotocol.length);
}

function refuse(socket: Duplex, status: number, message: string): void {
  const body = JSON.stringify(writeError(status, message, undefined));
  socket.end(
    [
      `HTTP/1.1 ${status} Refused`,
      "content-type: application/json",
      `content-length: ${Buffer.byteLength(body)}`,
      "connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}
