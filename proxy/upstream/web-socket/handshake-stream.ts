/**
 * A connection as Node's HTTP client wants it, for as long as the handshake lasts: it reads streams, and the connections of
 * WebSockets are read in another way (`pools/channel-socket.ts`).
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

export class HandshakeStream extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on("error", this.#onError);
    socket.on("end", this.#onEnd);
    socket.on("close", this.#onClose);
  }

  /** @param bytes that the connection has read */
  receive(bytes: Buffer): void {
    this.push(Buffer.from(bytes));
  }

  /** The handshake is done: the connection is another's. */
  release(): Socket {
    this.#socket.off("error", this.#onError);
    this.#socket.off("end", this.#onEnd);
    this.#socket.off("close", this.#onClose);
    return this.#socket;
  }

  readonly #onError = (error: Error): void => void this.destroy(error);
  readonly #onEnd = (): void => void this.push(null);
  readonly #onClose = (): void => void this.destroy();

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
