/**
 * Opens a WebSocket to one target (RFC 6455), over a connection that the channel's rules allow
 * (`pools/channel-socket.ts`).
 *
 * What an upstream answers instead is handed on as it came, for the caller to classify; a redirect is such an answer
 * and never followed. Nothing of an open socket is read before its owner listens.
 */
import { randomBytes } from "node:crypto";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { ConnectTimeoutError } from "#proxy/http1/client/connect-timeout-error";
import type { RawHeaders } from "#proxy/http1/wire/header-values";
import { armDeadline, type Deadline } from "#proxy/runtime/deadlines";
import type { UpstreamFailure } from "#proxy/upstream/upstream-exchange";
import { HandshakeStream } from "#proxy/upstream/web-socket/handshake-stream";
import { acceptOf } from "#proxy/web-socket/accept-key";
import { WebSocketConnection } from "#proxy/web-socket/web-socket";

export interface WebSocketTarget {
  /** Origin of the channel's base address, `http:` or `https:`. */
  readonly origin: string;
  /** Path and query of the handshake. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Opens the connection. @param onRead gets what is read; the bytes are valid during the call only */
  readonly connect: (onRead: (bytes: Buffer) => void) => Promise<Socket>;
  /** Until the connection is there; 0: no limit; so below. */
  readonly connectTimeoutMs: number;
  /** From then on until the upstream has answered the handshake. */
  readonly replyTimeoutMs: number;
  /** Larger messages close the socket with 1009. */
  readonly messageBytesMax: number;
  readonly headBytesMax: number;
}

export type WebSocketOutcome =
  | { readonly kind: "open"; readonly webSocket: WebSocketConnection }
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
  readonly #key = randomBytes(16).toString("base64");
  readonly #request: ClientRequest;
  #resolve: (outcome: WebSocketOutcome) => void = () => {};
  #deadline: Deadline | undefined;
  #isSent = false;
  #isOver = false;
  #stream: HandshakeStream | undefined;
  /** Outlives the attempt: it takes what is read for the handshake at first, and then for the open socket. */
  readonly #reading: { by: HandshakeStream | WebSocketConnection | undefined } = { by: undefined };

  constructor(target: WebSocketTarget) {
    this.#target = target;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const { connectTimeoutMs } = target;
    this.#arm(connectTimeoutMs, "connect-timeout", () => new ConnectTimeoutError(target.origin, connectTimeoutMs));
    this.#request = this.#ask();
    this.#request.on("error", (error) => this.#failed(error));
    this.#request.on("response", (response) => this.#refused(response));
    this.#request.on("upgrade", (response, _stream, head) => this.#accepted(response, head));
    this.#request.end();
  }

  #ask(): ClientRequest {
    const { origin, path, headers, headBytesMax, connect } = this.#target;
    const { protocol, hostname, port } = new URL(origin);
    const reading = this.#reading;
    return httpRequest({
      hostname,
      port,
      // Named in `Host` unless it is the usual one; TLS is the connection's own.
      defaultPort: protocol === "https:" ? 443 : 80,
      path,
      headers: {
        ...headerObject(headers),
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": this.#key,
      },
      maxHeaderSize: headBytesMax,
      createConnection: (_options, onCreated) => {
        connect((bytes) => reading.by?.receive(bytes)).then(
          (socket) => {
            this.#connected();
            this.#stream = new HandshakeStream(socket);
            reading.by = this.#stream;
            onCreated(null, this.#stream);
          },
          (error: unknown) => this.#unconnected(error),
        );
        return undefined;
      },
    });
  }

  /** Nobody waits any more. */
  abort(): void {
    if (this.#isOver) return;
    this.#end({ kind: "aborted" });
    this.#request.destroy();
  }

  /** No extension and no subprotocol was asked for: an upstream that agrees to one speaks of another handshake. */
  #accepted({ headers }: IncomingMessage, head: Buffer): void {
    const isAnswer =
      headers.upgrade?.toLowerCase() === "websocket" &&
      headers["sec-websocket-accept"] === acceptOf(this.#key) &&
      headers["sec-websocket-extensions"] === undefined &&
      headers["sec-websocket-protocol"] === undefined;
    const stream = this.#stream;
    if (this.#isOver || stream === undefined || !isAnswer) {
      stream?.destroy();
      this.#failed(new Error("the upstream's handshake is not the answer to ours"));
      return;
    }
    const { messageBytesMax } = this.#target;
    const webSocket = new WebSocketConnection(stream.release(), head, { role: "client", messageBytesMax });
    this.#reading.by = webSocket;
    this.#end({ kind: "open", webSocket });
  }

  #connected(): void {
    if (this.#isOver) return;
    this.#isSent = true;
    this.#arm(this.#target.replyTimeoutMs, "first-byte-timeout", () => undefined);
  }

  #unconnected(error: unknown): void {
    this.#failed(error instanceof Error ? error : new Error(String(error)));
    this.#request.destroy();
  }

  #arm(inMs: number, kind: UpstreamFailure["kind"], cause: () => unknown): void {
    this.#deadline?.cancel();
    if (inMs === 0) return;
    this.#deadline = armDeadline(inMs, () => {
      this.#end({ kind: "failure", failure: { kind, isSent: this.#isSent, cause: cause() } });
      this.#request.destroy();
    });
  }

  #refused(response: IncomingMessage): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (): void => {
      const { statusCode: status = 0, rawHeaders: headers } = response;
      this.#end({ kind: "refused", status, headers, body: Buffer.concat(chunks) });
      this.#request.destroy();
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
