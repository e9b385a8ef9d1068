/**
 * Opens a WebSocket to one target (RFC 6455), over a connection that the channel's rules allow
 * (`pools/channel-socket.ts`).
 *
 * What an upstream answers instead is handed on as it came, for the caller to classify; a redirect is such an answer
 * and never followed. An open socket is paused: nothing is lost before its owner listens.
 */
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { ConnectTimeoutError } from "#proxy/http1/client/connect-timeout-error";
import type { RawHeaders } from "#proxy/http1/wire/header-values";
import { armDeadline, type Deadline } from "#proxy/runtime/deadlines";
import type { UpstreamFailure } from "#proxy/upstream/upstream-exchange";

export interface WebSocketTarget {
  /** Origin of the channel's base address, `http:` or `https:`. */
  readonly origin: string;
  /** Path and query of the handshake. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Opens the connection. */
  readonly connect: () => Promise<Socket>;
  /** Until the connection is there; 0: no limit; so below. */
  readonly connectTimeoutMs: number;
  /** From then on until the upstream has answered the handshake. */
  readonly replyTimeoutMs: number;
  /** Larger messages close the socket with 1009. */
  readonly messageBytesMax: number;
  readonly headBytesMax: number;
}

export type WebSocketOutcome =
  | { readonly kind: "open"; readonly socket: WebSocket }
  /** The upstream answered with something else than a WebSocket. */
  | { readonly kind: "refused"; readonly status: number; readonly headers: RawHeaders; readonly body: Buffer }
  | { readonly kind: "failure"; readonly failure: UpstreamFailure }
  /** `abort` was called. */
  | { readonly kind: "aborted" };

/** An error's body is a few lines; what is beyond this tells nobody more. */
const refusalBytesMax = 64 * 1024;

export class WebSocketAttempt {
  /** How it went; never rejects. */
  readonly outcome: Promise<WebSocketOutcome>;
  readonly #target: WebSocketTarget;
  readonly #socket: WebSocket;
  #resolve: (outcome: WebSocketOutcome) => void = () => {};
  #deadline: Deadline | undefined;
  #isSent = false;
  #isOver = false;

  constructor(target: WebSocketTarget) {
    this.#target = target;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const { connectTimeoutMs } = target;
    this.#arm(connectTimeoutMs, "connect-timeout", () => new ConnectTimeoutError(target.origin, connectTimeoutMs));
    // `http:` becomes `ws:`, and `https:` `wss:`.
    this.#socket = new WebSocket(target.origin.replace(/^http/, "ws") + target.path, {
      perMessageDeflate: false,
      followRedirects: false,
      maxPayload: target.messageBytesMax,
      maxHeaderSize: target.headBytesMax,
      headers: headerObject(target.headers),
      createConnection: (_options: unknown, onCreated: (error: Error | null, socket: Duplex) => void) => {
        target.connect().then(
          (socket) => {
            this.#connected();
            onCreated(null, socket);
          },
          (error: unknown) => this.#unconnected(error),
        );
        return undefined;
      },
    });
    this.#socket.on("error", (error) => this.#failed(error));
    this.#socket.on("unexpected-response", (request, response) => this.#refused(request, response));
    this.#socket.on("open", () => {
      this.#socket.pause();
      this.#end({ kind: "open", socket: this.#socket });
    });
  }

  /** Nobody waits any more. */
  abort(): void {
    if (this.#isOver) return;
    this.#end({ kind: "aborted" });
    this.#socket.terminate();
  }

  #connected(): void {
    if (this.#isOver) return;
    this.#isSent = true;
    this.#arm(this.#target.replyTimeoutMs, "first-byte-timeout", () => undefined);
  }

  #unconnected(error: unknown): void {
    this.#failed(error instanceof Error ? error : new Error(String(error)));
    this.#socket.terminate();
  }

  #arm(inMs: number, kind: UpstreamFailure["kind"], cause: () => unknown): void {
    this.#deadline?.cancel();
    if (inMs === 0) return;
    this.#deadline = armDeadline(inMs, () => {
      this.#end({ kind: "failure", failure: { kind, isSent: this.#isSent, cause: cause() } });
      this.#socket.terminate();
    });
  }

  #refused(request: ClientRequest, response: IncomingMessage): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (): void => {
      const { statusCode: status = 0, rawHeaders: headers } = response;
      this.#end({ kind: "refused", status, headers, body: Buffer.concat(chunks) });
      request.destroy();
    };
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= refusalBytesMax) chunks.push(chunk);
      else finish();
    });
    response.on("end", finish).on("close", finish).on("error", finish);
  }

  #failed(error: Error): void {
    const code = "code" in error ? error.code : undefined;
    const kind =
      code === "EGRESS_REFUSED"
        ? "egress"
        : code === "CONNECT_TIMEOUT"
          ? "connect-timeout"
          : this.#isSent
            ? "broken"
            : "connect";
    this.#end({ kind: "failure", failure: { kind, isSent: this.#isSent, cause: error } });
  }

  #end(outcome: WebSocketOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deadline?.cancel();
    this.#resolve(outcome);
  }
}

function headerObject(headers: readonly string[]): Record<string, string> {
  const object: Record<string, string> = {};
  for (let index = 0; index < headers.length; index += 2) object[headers[index] ?? ""] = headers[index + 1] ?? "";
  return object;
}
