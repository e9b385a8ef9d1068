/**
 * How the push protocol's frames travel: an HTTP request whose reply never ends carries the lines down, small posts on
 * a second connection carry messages up. Over a Unix socket when the proxy stands beside its operator; TLS with a token
 * in `headers` is the same code with other options.
 */
import { Agent, type IncomingMessage, type RequestOptions, request } from "node:http";
import { relative } from "node:path";
import { type Hello, protocolVersion, type UpMessage } from "../snapshot/push/messages.ts";
import { LineSplitter } from "../snapshot/push/split-lines.ts";

export interface PushStream {
  /** Ends or throws when the stream is over. */
  readonly lines: AsyncIterable<string>;
  /** Sends one message up, in order; `stream` is the id that `welcome` gave. Rejects when the operator does not take it. */
  send(stream: string, message: UpMessage): Promise<void>;
  close(): void;
}

export interface PushTransport {
  /** @throws when no operator answers or it refuses the hello. */
  open(hello: Hello): Promise<PushStream>;
}

/** An answer of the operator that is not what the protocol says. */
export class PushRefusedError extends Error {
  readonly code = "push_refused";
  readonly status: number;

  constructor(status: number) {
    super(`the operator answered with status ${status}`);
    this.status = status;
  }
}

export interface UnixSocketOptions {
  readonly socketPath: string;
  /** Longest wait for the operator's answer to a request, not for the stream. */
  readonly answerTimeoutMs: number;
}

/** The transport beside an operator on the same machine. */
export function unixSocketTransport(options: UnixSocketOptions): PushTransport {
  const socketPath = shortestPath(options.socketPath);
  return {
    async open(hello) {
      const posts = new Agent({ keepAlive: true, maxSockets: 1 });
      const base: RequestOptions = { socketPath, method: "POST", timeout: options.answerTimeoutMs };
      const reply = await post({ ...base, agent: false, path: `/push/v${protocolVersion}/stream` }, hello);
      // The answer has begun; from here the heartbeats tell whether the peer lives.
      reply.socket.setTimeout(0);
      if (reply.statusCode !== 200) {
        reply.destroy();
        throw new PushRefusedError(reply.statusCode ?? 0);
      }
      return {
        lines: readLines(reply),
        async send(stream, message) {
          const path = `/push/v${protocolVersion}/streams/${encodeURIComponent(stream)}/messages`;
          const answer = await post({ ...base, agent: posts, path }, message);
          answer.resume();
          if (answer.statusCode !== 204) throw new PushRefusedError(answer.statusCode ?? 0);
        },
        close() {
          reply.destroy();
          posts.destroy();
        },
      };
    },
  };
}

/** Socket paths may have 107 bytes only: of the two spellings of a path the shorter one is used. */
export function shortestPath(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.length < path.length ? fromHere : path;
}

function post(options: RequestOptions, message: object): Promise<IncomingMessage> {
  const body = Buffer.from(JSON.stringify(message));
  const headers = { "content-type": "application/json", "content-length": body.length };
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options, headers }, resolve);
    outgoing.on("timeout", () => outgoing.destroy(new Error("the operator does not answer")));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

async function* readLines(reply: IncomingMessage): AsyncGenerator<string> {
  const splitter = new LineSplitter();
  for await (const chunk of reply) yield* splitter.push(chunk);
}
