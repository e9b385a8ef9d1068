/**
 * Writes a streamed response to the client with backpressure, and ends it cleanly or visibly broken.
 *
 * A clean end is the chunked terminator, a broken one is FIN without it. Either follows a failure event that was
 * flushed: destroying the connection at once would lose the event (docs/design/requests.md 3). A reader that leaves too
 * much queued for too long is cut, so that it cannot hold memory.
 */
import type { ClientResponse } from "#proxy/http1/server/client-response";
import type { ProxyLimits } from "#proxy/limits";
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
  readonly #headers: readonly string[];
  #listener: ClientStreamListener | undefined;
  #passedHeaders: readonly string[] = [];
  readonly #usualType: string;
  #contentType: string;
  #hasBegun = false;
  #slowTimer: NodeJS.Timeout | undefined;
  /** Of large pieces, and what came behind them: to be written when those before were taken. */
  readonly #slices: Buffer[] = [];
  #isWaiting = false;
  #bytesWritten = 0;

  /**
   * @param contentType unless an upstream's reply has another
   * @param headers of every stream of this call: names and values alternating
   */
  constructor(response: ClientResponse, contentType: string, headers: readonly string[], limits: ProxyLimits) {
    this.#response = response;
    this.#usualType = contentType;
    this.#contentType = contentType;
    this.#headers = headers;
    this.#limits = limits;
  }

  /** The attempt whose reply is written next. */
  listenWith(listener: ClientStreamListener): void {
    this.#listener = listener;
  }

  /** Headers of an attempt's upstream that may pass, in place of those of the one before; lost once the head is out. */
  passHeaders(headers: readonly string[], contentType = this.#usualType): void {
    this.#passedHeaders = headers;
    this.#contentType = contentType;
  }

  /** The head is out: no status can tell a failure any more. */
  get isStarted(): boolean {
    return this.#response.headersSent;
  }

  /** A part of a reply has gone out, and not only signs of life: no other target may reply. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Bytes of the body handed to the client's connection so far. */
  get bytesWritten(): number {
    return this.#bytesWritten;
  }

  /**
   * Writes a sign of life, which is no part of the reply. A client whose connection takes no more is told nothing: it
   * hears what waits for it.
   *
   * @param make called only for a sign that goes out: some are numbered
   */
  writeSignOfLife(make: () => Buffer): void {
    const response = this.#response;
    if (response.destroyed || this.#isWaiting || this.#slices.length > 0 || response.writableNeedDrain) return;
    this.#writeHead();
    const bytes = make();
    this.#bytesWritten += bytes.length;
    if (!response.write(bytes)) this.#wait();
  }

  #writeHead(): void {
    if (!this.#response.headersSent)
      this.#response.writeHead(200, ["content-type", this.#contentType, ...this.#headers, ...this.#passedHeaders]);
  }

  /** @returns false when the client is slower than the upstream: stop reading until `onDrain` */
  write(pieces: readonly Buffer[]): boolean {
    const response = this.#response;
    this.#hasBegun = true;
    this.#writeHead();
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
      this.#listener?.onSlowReader();
    }, this.#limits.slowReaderTimeoutMs);
    this.#response.once("drain", this.#onDrain);
  }

  readonly #onDrain = (): void => {
    this.#isWaiting = false;
    clearTimeout(this.#slowTimer);
    if (this.#writeSlices()) this.#listener?.onDrain();
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
   * Ends a stream that failed: sends its failure event, then the clean end where that was asked for and the event could be
   * said whole, else FIN without the chunked terminator. Resolves when the bytes have been handed over.
   *
   * @param rest what waits for a client that reads slowly goes out first, for as long as it reads; or is withheld, and with
   *   it the failure event, which is none behind half of another
   */
  endFailed(failureEvent: Buffer, rest: "sent" | "withheld", isClean: boolean): Promise<void> {
    this.#stopWaiting();
    const response = this.#response;
    if (response.destroyed) return Promise.resolve();
    this.#writeHead();
    const isHalf = rest === "withheld" && this.#slices.length > 0;
    if (isHalf) this.#slices.length = 0;
    this.#bytesWritten += isHalf ? 0 : failureEvent.length;
    return new Promise((resolve) => {
      // A client that reads nothing must not keep this waiting.
      const timer = setTimeout(() => response.destroy(), this.#limits.slowReaderTimeoutMs);
      const onProgress = (): void => void timer.refresh();
      response.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
      const writeLast = (): void => {
        if (isClean && !isHalf) {
          clearTimeout(timer);
          endResponse(response, failureEvent);
          resolve();
          return;
        }
        response.write(isHalf ? noBytes : failureEvent, () => {
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
