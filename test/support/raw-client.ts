/**
 * A client of bare bytes: sends exactly what a test writes, split where it says, and reads within deadlines. Never an
 * HTTP library, because libraries refuse to send what attackers send.
 */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { within } from "./wait-for.ts";

export interface RawResponse {
  readonly status: number;
  /** Lower-case name and value, in order, repeats included. */
  readonly headers: readonly (readonly [string, string])[];
  /** The body without its framing. */
  readonly body: Buffer;
  /** False when the connection ended before the body was complete. */
  readonly isComplete: boolean;
  /** Value of the first header of this name. */
  header(name: string): string | undefined;
}

export interface RawTarget {
  readonly port: number;
  readonly host?: string;
  /** PEM of the authority to trust: speak TLS. */
  readonly ca?: string;
  /** Own address to connect from: all of 127.0.0.0/8 are this machine's. */
  readonly localAddress?: string;
}

const deadlineMsDefault = 5_000;

export class RawClient {
  readonly socket: Socket;
  /** All that was received and not yet taken by `readResponse`. */
  #received: Buffer = Buffer.alloc(0);
  #isEnded = false;
  #error: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    socket.on("end", () => this.#end(undefined));
    socket.on("close", () => this.#end(undefined));
    socket.on("error", (error) => this.#end(error));
  }

  static async connect(target: RawTarget): Promise<RawClient> {
    const { port, host = "127.0.0.1", ca, localAddress } = target;
    const to = { port, host, ...(localAddress === undefined ? {} : { localAddress }) };
    const socket = ca === undefined ? connect(to) : connectTls({ ...to, ca, servername: "localhost" });
    await within(
      deadlineMsDefault,
      `a connection to ${host}:${port}`,
      new Promise<void>((resolve, reject) => {
        socket.once(ca === undefined ? "connect" : "secureConnect", () => resolve()).once("error", reject);
      }),
    );
    return new RawClient(socket);
  }

  /** Received bytes that no `readResponse` has taken. */
  get received(): Buffer {
    return this.#received;
  }

  /** The other side has ended or reset the connection. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The error that ended the connection, such as ECONNRESET. */
  get error(): Error | undefined {
    return this.#error;
  }

  write(bytes: string | Buffer): void {
    this.socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  /** One write for each piece of this size, each flushed before the next. */
  async writeInPieces(bytes: string | Buffer, size: number): Promise<void> {
    const all = typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes;
    for (let start = 0; start < all.length && !this.socket.destroyed; start += size) {
      await new Promise<void>((resolve) => this.socket.write(all.subarray(start, start + size), () => resolve()));
    }
  }

  /** FIN: no more will be sent; answers are still read. */
  end(): void {
    this.socket.end();
  }

  /** RST. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  close(): void {
    this.socket.destroy();
  }

  /** Waits until the bytes received satisfy the test. @returns them all */
  async readUntil(what: string, test: (received: Buffer) => boolean, deadlineMs = deadlineMsDefault): Promise<Buffer> {
    const until = performance.now() + deadlineMs;
    while (!test(this.#received)) {
      if (this.#isEnded)
        throw new Error(
          `the connection ended before ${what}; received ${JSON.stringify(this.#received.toString("latin1").slice(0, 500))}`,
        );
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await within(Math.max(1, until - performance.now()), what, woken);
    }
    return this.#received;
  }

  /** Waits until the other side ends the connection. @returns what was received and not taken */
  async readToEnd(deadlineMs = deadlineMsDefault): Promise<Buffer> {
    const until = performance.now() + deadlineMs;
    while (!this.#isEnded) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await within(Math.max(1, until - performance.now()), "the end of the connection", woken);
    }
    return this.#received;
  }

  /** Reads one whole response and takes its bytes. Interim (1xx) responses are read like others. */
  async readResponse(deadlineMs = deadlineMsDefault, isHead = false): Promise<RawResponse> {
    const until = performance.now() + deadlineMs;
    for (;;) {
      const parsed = parseResponse(this.#received, this.#isEnded, isHead);
      if (parsed !== undefined) {
        this.#received = this.#received.subarray(parsed.length);
        return parsed.response;
      }
      if (this.#isEnded)
        throw new Error(
          `the connection ended before a response: ${JSON.stringify(this.#received.toString("latin1").slice(0, 500))}`,
        );
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await within(Math.max(1, until - performance.now()), "a response", woken);
    }
  }

  #end(error: Error | undefined): void {
    this.#isEnded = true;
    this.#error ??= error;
    this.#wake();
  }
}

function parseResponse(
  bytes: Buffer,
  isEnded: boolean,
  isHead: boolean,
): { readonly response: RawResponse; readonly length: number } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [statusLine = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const header = (name: string): string | undefined => headers.find(([known]) => known === name)?.[1];
  const status = Number(/^HTTP\/1\.[01] ([0-9]{3})/.exec(statusLine)?.[1]);
  const start = headEnd + 4;
  const body =
    isHead || status === 204 || status === 304 || status < 200
      ? { body: Buffer.alloc(0), end: start, isComplete: true }
      : parseBody(bytes, start, header, isEnded);
  if (body === undefined) return undefined;
  return { response: { status, headers, header, body: body.body, isComplete: body.isComplete }, length: body.end };
}

interface ParsedBody {
  readonly body: Buffer;
  readonly end: number;
  readonly isComplete: boolean;
}

function parseBody(
  bytes: Buffer,
  start: number,
  header: (name: string) => string | undefined,
  isEnded: boolean,
): ParsedBody | undefined {
  if (header("transfer-encoding") === "chunked") return parseChunks(bytes, start, isEnded);
  const length = header("content-length");
  if (length === undefined)
    return isEnded ? { body: bytes.subarray(start), end: bytes.length, isComplete: true } : undefined;
  const end = start + Number(length);
  if (bytes.length >= end) return { body: bytes.subarray(start, end), end, isComplete: true };
  return isEnded ? { body: bytes.subarray(start), end: bytes.length, isComplete: false } : undefined;
}

function parseChunks(bytes: Buffer, start: number, isEnded: boolean): ParsedBody | undefined {
  const chunks: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
    const next = lineEnd + 2 + size + 2;
    if (lineEnd < 0 || Number.isNaN(size) || bytes.length < next) {
      return isEnded ? { body: Buffer.concat(chunks), end: bytes.length, isComplete: false } : undefined;
    }
    if (size === 0) return { body: Buffer.concat(chunks), end: next, isComplete: true };
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
}
