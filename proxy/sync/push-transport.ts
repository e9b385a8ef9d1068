/**
 * Carries the push protocol's messages: an HTTP request whose response never ends carries the lines down, small posts
 * on a second connection carry messages up. `socket-transport.ts` and `tls-transport.ts` make the connections.
 */
import type { IncomingMessage, RequestOptions, request } from "node:http";
import { type Hello, protocolVersion, type UpMessage } from "#proxy/snapshot/push/messages";
import { LineSplitter } from "#proxy/snapshot/push/split-lines";

export interface PushStream {
  /** Ends or throws when the stream is over. */
  readonly lines: AsyncIterable<string>;
  /** Sends one message up, in order; `stream` is the id that `welcome` gave. Rejects when the operator does not take it. */
  send(stream: string, message: UpMessage): Promise<void>;
  close(): void;
}

export interface PushTransport {
  /** @throws when no operator replies or it refuses the hello. */
  open(hello: Hello): Promise<PushStream>;
}

/** A reply of the operator that the protocol does not allow. */
export class PushRefusedError extends Error {
  readonly code = "push_refused";
  readonly status: number;

  constructor(status: number) {
    super(`the operator replied with status ${status}`);
    this.status = status;
  }
}

/** One operator, reached twice: by the stream and by the posts. */
export interface OperatorConnection {
  /** Begins the stream, on a connection of its own. */
  postHello(path: string, hello: Hello): Promise<IncomingMessage>;
  /** Sends a message after those before it. */
  postMessage(path: string, message: UpMessage): Promise<IncomingMessage>;
  close(): void;
}

/** @throws PushRefusedError, or why there is no connection */
export async function openPushStream(connection: OperatorConnection, hello: Hello): Promise<PushStream> {
  let reply: IncomingMessage;
  try {
    reply = await connection.postHello(`/push/v${protocolVersion}/stream`, hello);
  } catch (cause) {
    connection.close();
    throw cause;
  }
  // The reply has begun; from here the heartbeats tell whether the peer lives.
  reply.socket.setTimeout(0);
  if (reply.statusCode !== 200) {
    reply.destroy();
    connection.close();
    throw new PushRefusedError(reply.statusCode ?? 0);
  }
  return {
    lines: readLines(reply),
    async send(stream, message) {
      const path = `/push/v${protocolVersion}/streams/${encodeURIComponent(stream)}/messages`;
      const reply = await connection.postMessage(path, message);
      reply.resume();
      if (reply.statusCode !== 204) throw new PushRefusedError(reply.statusCode ?? 0);
    },
    close() {
      reply.destroy();
      connection.close();
    },
  };
}

/** Posts one JSON message. `options.timeout` bounds the wait for the reply's head. */
export function postJson(
  send: typeof request,
  options: RequestOptions,
  message: object,
  moreHeaders: Readonly<Record<string, string>> = {},
): Promise<IncomingMessage> {
  const body = Buffer.from(JSON.stringify(message));
  const headers = { ...moreHeaders, "content-type": "application/json", "content-length": body.length };
  return new Promise((resolve, reject) => {
    const outgoing = send({ ...options, method: "POST", headers }, resolve);
    outgoing.on("timeout", () => outgoing.destroy(new Error("the operator does not reply")));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

async function* readLines(reply: IncomingMessage): AsyncGenerator<string> {
  const splitter = new LineSplitter();
  for await (const chunk of reply) yield* splitter.push(chunk);
}
