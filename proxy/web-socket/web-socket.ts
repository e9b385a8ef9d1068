/**
 * One side of a WebSocket over a connection whose handshake is done (RFC 6455): frames are read and written, pings are
 * answered, and the close is said and heard. What is slow, dead or open for too long is its owner's to judge.
 *
 * Frames that pass on as they came are gathered: all that arrived in one read goes out in one write (`flush`). Whoever owns
 * the connection reads it and gives the bytes to `receive`, so that the memory that they lie in can be one for all.
 */
import type { Duplex } from "node:stream";
import { brokenOff, isSendable } from "./close-codes.ts";
import { FrameReader } from "./frame-reader.ts";
import { opcodes } from "./opcodes.ts";
import { writeCopied } from "./write-copied.ts";
import { writeClose, writeFrame } from "./write-frame.ts";

/** What a `net.Socket` or `tls.TLSSocket` has, and a pair of streams may lack. */
export interface Connection extends Duplex {
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

export interface WebSocketOptions {
  /** The side that we are: a client masks what it sends. */
  readonly role: "client" | "server";
  readonly messageBytesMax: number;
}

export interface WebSocketListener {
  /**
   * @param payload readable during the call alone
   * @param frame its bytes as they came, where it came in one frame; readable until `onReadEnd`
   */
  onMessage(payload: Buffer, frame: Buffer | undefined, isBinary: boolean): void;
  /** All that came in one read has been told. */
  onReadEnd(): void;
  /** It takes more after it was full. */
  onDrained(): void;
  /**
   * Once.
   * @param code as the other side said it; 1006 where the connection broke without a close
   * @param isViolation it said none: it broke the protocol or a bound, and the code is the one that it was told
   */
  onClosed(code: number, reason: string, isViolation: boolean): void;
}

/** Pings of one that takes no pongs are not answered. */
const unansweredBytesMax = 64 * 1024;

export class WebSocketConnection {
  readonly #socket: Connection;
  readonly #isClient: boolean;
  readonly #reader: FrameReader;
  #listener: WebSocketListener | undefined;
  /** What came behind the handshake and was not read yet. */
  #head: Buffer;
  #isReading = false;
  /** What the last ping held that has not been answered: of many in one read, only the last needs a pong (RFC 6455 5.5.3). */
  #pinged: Buffer | undefined;
  /** Frames that pass on, in one piece of memory. */
  #passing: Buffer | undefined;
  #hasSentClose = false;
  #closed: { readonly code: number; readonly reason: string; readonly isViolation: boolean } | undefined;
  #isGone = false;

  /** @param head what came behind the handshake; it is told with the rest, after `listen` */
  constructor(socket: Connection, head: Buffer, { role, messageBytesMax }: WebSocketOptions) {
    this.#socket = socket;
    this.#isClient = role === "client";
    this.#head = head;
    this.#reader = new FrameReader(
      { isMasked: role === "server", messageBytesMax },
      {
        onMessage: (payload, frame, isBinary) => this.#listener?.onMessage(payload, frame, isBinary),
        onPing: (payload) => {
          this.#pinged = Buffer.from(payload);
        },
        onClose: (code, reason) => this.#heardClose({ code, reason, isViolation: false }),
        onViolation: (code) => this.#heardClose({ code, reason: "", isViolation: true }),
      },
    );
    socket.pause();
    socket.on("error", () => socket.destroy());
    socket.on("end", () => socket.end());
    socket.on("drain", () => this.#listener?.onDrained());
    socket.on("close", () => this.#gone());
  }

  /** Messages come from now on; it is paused no more. */
  listen(listener: WebSocketListener): void {
    this.#listener = listener;
    if (this.#isGone) {
      process.nextTick(() => this.#tellClosed());
      return;
    }
    // Not at once: whoever listens to one side of a relay listens to the other one next.
    process.nextTick(() => {
      this.#isReading = true;
      const head = this.#head;
      this.#head = noBytes;
      if (head.length > 0) this.receive(head);
    });
    this.#socket.resume();
  }

  /** @param bytes that the connection has read, in order; readable during the call alone */
  receive(bytes: Buffer): void {
    if (!this.#isReading) {
      // TLS hands on what it had decrypted when the connection was paused.
      this.#head = Buffer.concat([this.#head, bytes]);
      return;
    }
    try {
      this.#reader.push(bytes);
    } finally {
      this.#answerPing();
      // Also where our own code threw: the frames that pass on lie in memory that is read into again.
      this.#listener?.onReadEnd();
    }
  }

  /** Neither side has said that it closes, and the connection stands. */
  get isOpen(): boolean {
    return !this.#hasSentClose && this.#socket.writable;
  }

  get isPaused(): boolean {
    return this.#socket.isPaused();
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  /** What the other side has taken. */
  get bytesTaken(): number {
    return this.#socket.bytesWritten - this.#socket.writableLength;
  }

  /** What waits for the other side to take it. */
  get waitingBytes(): number {
    return this.#socket.writableLength + (this.#passing?.length ?? 0);
  }

  /** Of a message that is not whole yet. */
  get unfinishedBytes(): number {
    return this.#reader.heldBytes;
  }

  send(message: Buffer | string): void {
    this.#write(writeFrame(opcodes.text, message, this.#isClient));
  }

  /** Sends a frame that came from the other side of a relay, byte for byte. @param frame readable until the next `flush` */
  pass(frame: Buffer): void {
    const passing = this.#passing;
    if (passing === undefined) this.#passing = frame;
    else if (passing.buffer === frame.buffer && passing.byteOffset + passing.length === frame.byteOffset) {
      this.#passing = Buffer.from(frame.buffer, passing.byteOffset, passing.length + frame.length);
    } else {
      this.flush();
      this.#passing = frame;
    }
  }

  flush(): void {
    const passing = this.#passing;
    if (passing === undefined) return;
    this.#passing = undefined;
    if (this.isOpen) writeCopied(this.#socket, passing);
  }

  ping(): void {
    this.#write(writeFrame(opcodes.ping, "", this.#isClient));
  }

  #answerPing(): void {
    const payload = this.#pinged;
    if (payload === undefined) return;
    this.#pinged = undefined;
    if (this.waitingBytes < unansweredBytesMax) this.#write(writeFrame(opcodes.pong, payload, this.#isClient));
  }

  #write(frame: Buffer): void {
    this.flush();
    if (this.isOpen) this.#socket.write(frame);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Says that it closes; the connection ends when the other side has said so too. @param code undefined: without one */
  close(code: number | undefined, reason: string): void {
    this.flush();
    if (!this.isOpen) return;
    this.#hasSentClose = true;
    this.#socket.write(writeClose(code, reason, this.#isClient));
    if (this.#closed !== undefined) this.#socket.end();
  }

  /** Ends the connection without a word. */
  terminate(): void {
    this.#socket.destroy();
  }

  /** The other side closes, or broke the protocol: it is told the same code, and the connection ends. */
  #heardClose(closed: { readonly code: number; readonly reason: string; readonly isViolation: boolean }): void {
    const { code } = closed;
    this.#closed = closed;
    this.#answerPing();
    if (this.#hasSentClose) this.#socket.end();
    else this.close(isSendable(code) ? code : undefined, "");
    // What comes behind is of no use, and must be read so that the end is seen.
    this.#socket.resume();
  }

  #gone(): void {
    this.#isGone = true;
    if (this.#listener !== undefined) this.#tellClosed();
  }

  #tellClosed(): void {
    const { code, reason, isViolation } = this.#closed ?? { code: brokenOff, reason: "", isViolation: false };
    this.#listener?.onClosed(code, reason, isViolation);
  }
}

const noBytes = Buffer.alloc(0);
