/**
 * Carries the push protocol to an operator on the same machine, over its Unix socket, which only its owner may open.
 */
import { Agent, type RequestOptions, request } from "node:http";
import { relative } from "node:path";
import { openPushStream, type PushTransport, postJson } from "./push-transport.ts";

export interface UnixSocketOptions {
  readonly socketPath: string;
  /** Longest wait for the operator's reply to a request, not for the stream. */
  readonly replyTimeoutMs: number;
}

export function unixSocketTransport(options: UnixSocketOptions): PushTransport {
  const base: RequestOptions = { socketPath: shortestPath(options.socketPath), timeout: options.replyTimeoutMs };
  return {
    open(hello) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const connection = {
        postHello: (path: string, message: object) => postJson(request, { ...base, agent: false, path }, message),
        postMessage: (path: string, message: object) => postJson(request, { ...base, agent, path }, message),
        close: () => agent.destroy(),
      };
      return openPushStream(connection, hello);
    },
  };
}

/** Socket paths may have 107 bytes only: of the two spellings of a path the shorter one is used. */
export function shortestPath(path: string): string {
  const fromHere = relative(process.cwd(), path);
  return fromHere.length < path.length ? fromHere : path;
}
