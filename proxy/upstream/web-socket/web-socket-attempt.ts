/**
 * Opens a WebSocket to one target (RFC 6455), over a connection that the channel's rules allow
 * (`pools/channel-socket.ts`).
 *
 * What an upstream answers instead is handed on as it came, for the caller to classify; a redirect is such an answer
 * and never followed. Nothing of an open socket is read before its owner listens.
 */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { ConnectTimeoutError } from "#proxy/http1/client/connect-timeout-error";
import { headerLines } from "#proxy/http1/wire/header-lines";
import { headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";
import type { MessageFraming } from "#proxy/http1/wire/message-framing";
import { MessageParser } from "#proxy/http1/wire/message-parser";
import { type ResponseHead, responseKind } from "#proxy/http1/wire/response-head";
import { armDeadline, type Deadline } from "#proxy/runtime/deadlines";
import type { UpstreamFailure } from "#proxy/upstream/upstream-exchange";
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

/** Reads what comes: for the handshake at first, and then for the open socket. It outlives the attempt. */
interface Reading {
  receive: (bytes: Buffer) => void;
}

export class WebSocketAttempt {
  /** How it went; never rejects. */
  readonly outcome: Promise<WebSocketOutcome>;
  readonly #target: WebSocketTarget;
  readonly #key = randomBytes(16).toString("base64");
  readonly #reading: Reading = { receive: (bytes) => this.#receive(bytes) };
  readonly #parser: MessageParser<ResponseHead>;
  #socket: Socket | undefined;
  /** Of what was answered instead. */
  #refusal: { readonly status: number; readonly headers: RawHeaders; readonly body: Buffer[] } | undefined;
  #refusalBytes = 0;
  #isAccepted = false;
  #resolve: (outcome: WebSocketOutcome) => void = () => {};
  #deadline: Deadline | undefined;
  #isSent = false;
  #isOver = false;

  constructor(target: WebSocketTarget) {
    this.#target = target;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#parser = new MessageParser(responseKind, target.headBytesMax, {
      onHead: (head) => this.#onHead(head),
      onBody: (chunk) => this.#onBody(chunk),
      onComplete: () => this.#refused(),
    });
    const { connectTimeoutMs } = target;
    this.#arm(connectTimeoutMs, "connect-timeout", () => new ConnectTimeoutError(target.origin, connectTimeoutMs));
    void this.#open(this.#reading);
  }

  async #open(reading: Reading): Promise<void> {
    try {
      const socket = await this.#target.connect((bytes) => reading.receive(bytes));
      if (this.#isOver) socket.destroy();
      else this.#ask(socket);
    } catch (error) {
      this.#failed(error);
    }
  }

  #ask(socket: Socket): void {
    this.#socket = socket;
    socket.on("error", this.#onError);
    socket.on("end", this.#onEnd);
    socket.on("close", this.#onEnd);
    const head = this.#requestHead();
    this.#parser.next();
    this.#isSent = true;
    this.#arm(this.#target.replyTimeoutMs, "first-byte-timeout", () => undefined);
    socket.write(head, "latin1");
  }

  /** @throws HeaderSyntaxError */
  #requestHead(): string {
    const { origin, path, headers } = this.#target;
    const own = [
      `host: ${new URL(origin).host}`,
      "connection: Upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 13",
      `sec-websocket-key: ${this.#key}`,
    ];
    return `GET ${path} HTTP/1.1\r\n${own.join("\r\n")}\r\n${headerLines(headers)}\r\n`;
  }

  /** Nobody waits any more. */
  abort(): void {
    this.#end({ kind: "aborted" });
  }

  #receive(bytes: Buffer): void {
    if (this.#isOver) return;
    try {
      const end = this.#parser.push(bytes);
      if (this.#isAccepted) this.#opened(Buffer.from(bytes.subarray(end)));
    } catch (error) {
      this.#failed(error);
    }
  }

  #onHead({ status, headers, framing }: ResponseHead): MessageFraming {
    if (status === 101) {
      this.#checkAnswer(headers);
      this.#isAccepted = true;
      return { kind: "none" };
    }
    if (status >= 200) this.#refusal = { status, headers, body: [] };
    return framing;
  }

  /**
   * No extension and no subprotocol was asked for: an upstream that agrees to one speaks of another handshake.
   * @throws Error
   */
  #checkAnswer(headers: RawHeaders): void {
    const isAnswer =
      headerValues(headers, "upgrade").join().toLowerCase() === "websocket" &&
      headerValues(headers, "sec-websocket-accept").join() === acceptOf(this.#key) &&
      headerValues(headers, "sec-websocket-extensions").length === 0 &&
      headerValues(headers, "sec-websocket-protocol").length === 0;
    if (!isAnswer) throw new Error("the upstream's handshake is not the answer to ours");
  }

  #opened(behind: Buffer): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    socket.off("error", this.#onError);
    socket.off("end", this.#onEnd);
    socket.off("close", this.#onEnd);
    const { messageBytesMax } = this.#target;
    const webSocket = new WebSocketConnection(socket, behind, { role: "client", messageBytesMax });
    this.#reading.receive = (bytes) => webSocket.receive(bytes);
    this.#end({ kind: "open", webSocket });
  }

  #onBody(chunk: Buffer): void {
    this.#refusalBytes += chunk.length;
    if (this.#refusalBytes <= refusalBytesMax) this.#refusal?.body.push(Buffer.from(chunk));
    else this.#refused();
  }

  /** With as much of the body as has come. */
  #refused(): void {
    if (this.#refusal === undefined) return;
    const { status, headers, body } = this.#refusal;
    this.#end({ kind: "refused", status, headers, body: Buffer.concat(body) });
  }

  readonly #onError = (error: Error): void => this.#failed(error);

  readonly #onEnd = (): void => {
    this.#refused();
    this.#failed(new Error("the connection ended before the handshake was answered"));
  };

  #arm(inMs: number, kind: UpstreamFailure["kind"], cause: () => unknown): void {
    this.#deadline?.cancel();
    if (inMs === 0) return;
    this.#deadline = armDeadline(inMs, () => {
      this.#end({ kind: "failure", failure: { kind, isSent: this.#isSent, cause: cause() } });
    });
  }

  #failed(cause: unknown): void {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const kind =
      code === "EGRESS_REFUSED"
        ? "egress"
        : code === "CONNECT_TIMEOUT"
          ? "connect-timeout"
          : this.#isSent
            ? "broken"
            : "connect";
    this.#end({ kind: "failure", failure: { kind, isSent: this.#isSent, cause } });
  }

  #end(outcome: WebSocketOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deadline?.cancel();
    if (outcome.kind !== "open") this.#socket?.destroy();
    this.#resolve(outcome);
  }
}
