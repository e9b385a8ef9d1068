/**
 * One side of a session: a WebSocket whose messages pass on whole, with its backpressure, its pings and its end.
 *
 * No timer is armed for it: its session calls `check` now and then. A peer is dead when nothing at all has come since the
 * last ping, and slow when it takes nothing of what waits for it.
 */
import type { Socket } from "node:net";
import type { WebSocket } from "ws";

export interface PeerListener {
  onMessage(message: Buffer, isBinary: boolean): void;
  /** It takes more after it was full. */
  onDrained(): void;
  /** Once. @param code 1006 where the connection broke without a close (RFC 6455 section 7.4.1) */
  onClosed(code: number, reason: string): void;
}

export interface PeerLimits {
  /** Between two pings; a peer that is not heard of in between is dead. */
  readonly pingMs: number;
  /** How long a full peer may take nothing. */
  readonly slowMs: number;
}

/** More than this waiting makes the other side stop; a message of audio has some 10 KiB. */
const fullBytes = 256 * 1024;
/** How long a peer may take to answer a close. */
const closeMs = 2_000;
const reasonBytesMax = 123;
const asText = { binary: false };
/** Of a masked control frame; an upstream's has four bytes less. */
const controlHeadBytes = 6;

export class Peer {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #limits: PeerLimits;
  #listener: PeerListener | undefined;
  /** A frame that breaks RFC 6455 or a bound: the code that the peer was closed with. */
  #violation: number | undefined;
  #pingedMs = performance.now();
  /** What had come by then; nothing counts before the first one. */
  #readAtPing = -1;
  #readAtMessage = 0;
  #writtenBytes = 0;
  #takenMs = performance.now();
  #closingMs: number | undefined;
  messageBytes = 0;

  constructor(webSocket: WebSocket, socket: Socket, limits: PeerLimits) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#limits = limits;
  }

  /** Messages come from now on; one that was paused before waits for `resume`. */
  listen(listener: PeerListener): void {
    this.#listener = listener;
    this.#readAtMessage = this.#socket.bytesRead;
    this.#webSocket.on("message", (data, isBinary) => {
      if (!Buffer.isBuffer(data)) return;
      this.messageBytes += data.length;
      this.#readAtMessage = this.#socket.bytesRead;
      listener.onMessage(data, isBinary);
    });
    this.#webSocket.on("ping", this.#onControlFrame);
    this.#webSocket.on("pong", this.#onControlFrame);
    this.#webSocket.on("error", (error) => {
      this.#violation ??= violationOf(error);
    });
    this.#webSocket.on("close", (code, reason) => {
      this.#socket.off("drain", this.#onDrain);
      listener.onClosed(this.#violation ?? code, reason.toString());
    });
    this.#socket.on("drain", this.#onDrain);
  }

  /** It has been answered and is not held; between two messages, or amid one. */
  readonly #onControlFrame = (data: Buffer): void => {
    this.#readAtMessage += data.length + controlHeadBytes;
  };

  /** A method of the listener, and no closure of each message. */
  readonly #onDrain = (): void => this.#listener?.onDrained();

  get isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  /** So much waits for it that nothing more should be sent for now. */
  get isFull(): boolean {
    return this.#webSocket.bufferedAmount > fullBytes;
  }

  /** What it holds in memory: a message that is not whole yet, and what waits to be taken. */
  get heldBytes(): number {
    return Math.max(0, this.#socket.bytesRead - this.#readAtMessage) + this.#webSocket.bufferedAmount;
  }

  send(message: Buffer | string): void {
    if (this.isOpen) this.#webSocket.send(message, asText);
  }

  setPaused(isPaused: boolean): void {
    if (this.#webSocket.isPaused === isPaused) return;
    if (isPaused) this.#webSocket.pause();
    else this.#webSocket.resume();
  }

  /** Says why and ends; a peer that does not answer in time is cut. @param code undefined: without one */
  close(code: number | undefined, reason: string): void {
    this.setPaused(false);
    this.#closingMs ??= performance.now();
    if (code === undefined) this.#webSocket.close();
    else this.#webSocket.close(code, cut(reason));
  }

  terminate(): void {
    this.#webSocket.terminate();
  }

  /**
   * Pings where it is time, and cuts what is dead or slow.
   * @param nowMs of `performance.now()`
   * @returns why it was cut
   */
  check(nowMs: number): "dead" | "slow" | undefined {
    if (this.#closingMs !== undefined) {
      if (nowMs - this.#closingMs > closeMs) this.terminate();
      return undefined;
    }
    const cause = this.#isSlow(nowMs) ? "slow" : this.#isDead(nowMs) ? "dead" : undefined;
    if (cause !== undefined) this.terminate();
    return cause;
  }

  #isSlow(nowMs: number): boolean {
    const writtenBytes = this.#socket.bytesWritten - this.#socket.writableLength;
    if (writtenBytes !== this.#writtenBytes || !this.isFull) {
      this.#writtenBytes = writtenBytes;
      this.#takenMs = nowMs;
    }
    return nowMs - this.#takenMs > this.#limits.slowMs;
  }

  /** Whatever it sends is a sign of life; what is not read cannot be heard. */
  #isDead(nowMs: number): boolean {
    if (nowMs - this.#pingedMs < this.#limits.pingMs) return false;
    const isHeard = this.#socket.bytesRead > this.#readAtPing || this.#webSocket.isPaused;
    if (!isHeard) return true;
    this.#readAtPing = this.#socket.bytesRead;
    this.#pingedMs = nowMs;
    this.#webSocket.ping();
    return false;
  }
}

const violations: ReadonlyMap<string, number> = new Map([
  ["WS_ERR_INVALID_UTF8", 1007],
  ["WS_ERR_TOO_MANY_BUFFERED_PARTS", 1008],
  ["WS_ERR_UNSUPPORTED_MESSAGE_LENGTH", 1009],
  ["WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH", 1009],
]);

/** ws closes the connection of such a frame by itself, with this code. */
function violationOf(error: Error): number | undefined {
  const code = "code" in error ? String(error.code) : "";
  if (!code.startsWith("WS_ERR_")) return undefined;
  return violations.get(code) ?? 1002;
}

/** A reason has at most 123 bytes (RFC 6455 section 5.5). */
function cut(reason: string): string {
  let text = reason;
  while (Buffer.byteLength(text) > reasonBytesMax) text = text.slice(0, -1);
  return text;
}
