/**
 * One side of a session: a WebSocket whose messages pass on whole, with its backpressure, its pings and its end.
 *
 * No timer is armed for it: its session calls `check` now and then. A peer is dead when nothing at all has come since the
 * last ping, and slow when it takes nothing of what waits for it.
 */
import type { WebSocketConnection, WebSocketListener } from "#proxy/web-socket/web-socket";

export type PeerListener = WebSocketListener;

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

export class Peer {
  readonly #webSocket: WebSocketConnection;
  readonly #limits: PeerLimits;
  #pingedMs = performance.now();
  /** What had come by then; nothing counts before the first one. */
  #readAtPing = -1;
  #takenBytes = 0;
  #takenMs = performance.now();
  #closingMs: number | undefined;
  /** Of all messages that came, without their frames. */
  messageBytes = 0;

  constructor(webSocket: WebSocketConnection, limits: PeerLimits) {
    this.#webSocket = webSocket;
    this.#limits = limits;
  }

  /** Messages come from now on, until `setPaused`. */
  listen(listener: PeerListener): void {
    this.#webSocket.listen(listener);
  }

  /** So much waits for it that nothing more should be sent for now. */
  get isFull(): boolean {
    return this.#webSocket.waitingBytes > fullBytes;
  }

  /** What it holds in memory: a message that is not whole yet, and what waits to be taken. */
  get heldBytes(): number {
    return this.#webSocket.unfinishedBytes + this.#webSocket.waitingBytes;
  }

  send(message: Buffer | string): void {
    this.#webSocket.send(message);
  }

  /** Sends a frame of the other side as it came, with the next `flush`. */
  pass(frame: Buffer): void {
    this.#webSocket.pass(frame);
  }

  flush(): void {
    this.#webSocket.flush();
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
    this.#webSocket.close(code, reason);
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
    if (!this.#webSocket.isOpen) this.#closingMs ??= nowMs;
    if (this.#closingMs !== undefined) {
      if (nowMs - this.#closingMs > closeMs) this.terminate();
      return undefined;
    }
    const cause = this.#isSlow(nowMs) ? "slow" : this.#isDead(nowMs) ? "dead" : undefined;
    if (cause !== undefined) this.terminate();
    return cause;
  }

  #isSlow(nowMs: number): boolean {
    const { bytesTaken } = this.#webSocket;
    if (bytesTaken !== this.#takenBytes || !this.isFull) {
      this.#takenBytes = bytesTaken;
      this.#takenMs = nowMs;
    }
    return nowMs - this.#takenMs > this.#limits.slowMs;
  }

  /** Whatever it sends is a sign of life; what is not read cannot be heard. */
  #isDead(nowMs: number): boolean {
    if (nowMs - this.#pingedMs < this.#limits.pingMs) return false;
    const { bytesRead } = this.#webSocket;
    const isHeard = bytesRead > this.#readAtPing || this.#webSocket.isPaused;
    if (!isHeard) return true;
    this.#readAtPing = bytesRead;
    this.#pingedMs = nowMs;
    this.#webSocket.ping();
    return false;
  }
}
