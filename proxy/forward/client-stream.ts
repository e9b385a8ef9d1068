/**
 * The client's side of a streamed answer: writes with backpressure, ends cleanly or visibly not.
 *
 * A clean end is the chunked terminator; an unclean one is the error event, flushed, then FIN without the terminator:
 * destroying at once would lose the event (DESIGN.md section 5). A reader that leaves too much queued for too long is
 * cut, so that it cannot hold memory.
 */
import type { ClientResponse } from "../http1/client-response.ts";
import type { ProxyLimits } from "../limits.ts";
import { endResponse } from "./end-response.ts";
import { sliceBytesMax, slicesOf, writeSlices } from "./write-slices.ts";

export interface ClientStreamListener {
  /** The client reads again after a `write` that returned false. */
  onDrain(): void;
  /** The client did not read for `slowReaderTimeoutMs`; the connection has been cut. */
  onSlowReader(): void;
}

const noBytes = Buffer.alloc(0);

export class ClientStream {
  readonly #response: ClientResponse;
  readonly #limits: ProxyLimits;
  readonly #listener: ClientStreamListener;
  #headers: readonly string[];
  #slowTimer: NodeJS.Timeout | undefined;
  /** Of large pieces, and what came behind them: to be written when those before were taken. */
  readonly #slices: Buffer[] = [];
  #isWaiting = false;
  #bytesWritten = 0;

  constructor(
    response: ClientResponse,
    headers: readonly string[],
    limits: ProxyLimits,
    listener: ClientStreamListener,
  ) {
    this.#response = response;
    this.#headers = headers;
    this.#limits = limits;
    this.#listener = listener;
  }

  /** Headers of the upstream that may pass; before the first byte. @param headers names and values in turn */
  addHeaders(headers: readonly string[]): void {
    if (headers.length > 0) this.#headers = [...this.#headers, ...headers];
  }

  get isStarted(): boolean {
    return this.#response.headersSent;
  }

  /** Bytes of the body handed to the client's connection so far. */
  get bytesWritten(): number {
    return this.#bytesWritten;
  }

  /** @returns false when the client is slower than the upstream: stop reading until `onDrain` */
  write(pieces: readonly Buffer[]): boolean {
    const response = this.#response;
    if (!response.headersSent) response.writeHead(200, this.#headers);
    let isFlowing = true;
    for (const piece of pieces) {
      this.#bytesWritten += piece.length;
      if (piece.length <= sliceBytesMax && this.#slices.length === 0) isFlowing = response.write(piece);
      else this.#slices.push(...slicesOf(piece));
    }
    if (this.#slices.length > 0) isFlowing = !response.writableNeedDrain && this.#writeSlices();
    if (!isFlowing && !this.#isWaiting) this.#wait();
    return isFlowing;
  }

  /** @returns whether there are none left, and the client takes more */
  #writeSlices(): boolean {
    for (let slice = this.#slices.shift(); slice !== undefined; slice = this.#slices.shift()) {
      if (!this.#response.write(slice)) return false;
    }
    return true;
  }

  #wait(): void {
    this.#isWaiting = true;
    this.#slowTimer = setTimeout(() => {
      this.#response.destroy();
      this.#listener.onSlowReader();
    }, this.#limits.slowReaderTimeoutMs);
    this.#response.once("drain", this.#onDrain);
  }

  readonly #onDrain = (): void => {
    this.#isWaiting = false;
    clearTimeout(this.#slowTimer);
    if (this.#writeSlices()) this.#listener.onDrain();
    else this.#wait();
  };

  endClean(): void {
    this.#stopWaiting();
    const rest = this.#slices.length === 0 ? undefined : this.#slices;
    endResponse(this.#response, rest);
  }

  #stopWaiting(): void {
    clearTimeout(this.#slowTimer);
    this.#response.off("drain", this.#onDrain);
  }

  /**
   * Sends the last bytes, then FIN without the chunked terminator; resolves when the bytes have been handed over.
   *
   * @param rest what waits for a client that reads slowly goes out first, for as long as it reads; or is withheld, and with
   *   it the last bytes, which are no event behind half of one
   */
  endUnclean(lastBytes: Buffer, rest: "sent" | "withheld"): Promise<void> {
    this.#stopWaiting();
    const response = this.#response;
    if (response.destroyed) return Promise.resolve();
    const isHalf = rest === "withheld" && this.#slices.length > 0;
    if (isHalf) this.#slices.length = 0;
    return new Promise((resolve) => {
      // A client that reads nothing must not keep this waiting.
      const timer = setTimeout(() => response.destroy(), this.#limits.slowReaderTimeoutMs);
      const onProgress = (): void => void timer.refresh();
      response.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
      const writeLast = (): void => {
        response.write(isHalf ? noBytes : lastBytes, () => {
          response.breakOff();
          resolve();
        });
      };
      if (this.#slices.length === 0) writeLast();
      else writeSlices(response, this.#slices, { onProgress, onWritten: writeLast });
    });
  }

  /** Stops watching the client; called when the exchange is over. */
  release(): void {
    clearTimeout(this.#slowTimer);
  }
}
