/**
 * Sends a body of which only a piece is at hand: the next piece is asked for when the kernel has taken the last one.
 *
 * The length stands in the head of the request already, so a body that turns out shorter or longer is a failure: the bytes
 * that are missing or too many would be read as a part of another request.
 */
import type { Socket } from "node:net";
import type { StreamedBody } from "./upstream.ts";

export class BodySender {
  readonly #socket: Socket;
  readonly #body: StreamedBody;
  readonly #onError: (error: Error) => void;
  #isSent = false;
  #isStopped = false;
  /** Goes on, behind a piece that the kernel has taken or a connection that was closed. */
  #proceed: (() => void) | undefined;

  /** @param onError called once at most, and never after `stop` */
  constructor(socket: Socket, body: StreamedBody, onError: (error: Error) => void) {
    this.#socket = socket;
    this.#body = body;
    this.#onError = onError;
  }

  /** The kernel has taken all of the body. */
  get isSent(): boolean {
    return this.#isSent;
  }

  start(): void {
    this.#send().catch((error: unknown) => {
      if (!this.#isStopped) this.#onError(error instanceof Error ? error : new Error(String(error)));
    });
  }

  /** The connection is closed: nothing more is read of the body. */
  stop(): void {
    this.#isStopped = true;
    this.#proceed?.();
  }

  async #send(): Promise<void> {
    let left = this.#body.length;
    for await (const chunk of this.#body.chunks()) {
      left -= chunk.length;
      if (this.#isStopped || left < 0) break;
      await this.#write(chunk);
      if (this.#isStopped) break;
    }
    if (this.#isStopped) return;
    if (left !== 0) throw new Error(`the body is ${left < 0 ? "longer" : "shorter"} than its content-length`);
    this.#isSent = true;
  }

  #write(chunk: Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.#proceed = resolve;
      this.#socket.write(chunk, () => resolve());
    });
  }
}
