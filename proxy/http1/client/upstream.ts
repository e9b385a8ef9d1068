/**
 * An upstream as its callers see it: something that a request can be sent to.
 *
 * `connection-pool.ts` is one; a caller may bring others, for upstreams that are reached through a proxy. Headers are lists
 * of names and values in turn, as they are on the wire.
 */

/** Holds one exchange; valid until its handler has heard of its end. */
export interface UpstreamControl {
  /** Closes the connection now. The handler hears nothing more. */
  abort(): void;
  /** Stops reading; what was read already may still arrive. */
  pause(): void;
  resume(): void;
}

export interface UpstreamHandler {
  /** The request is about to be written: from now on the upstream may have seen it. Called once. */
  onStart(control: UpstreamControl): void;
  /** Once for the response, and before that once for each interim response (1xx). */
  onHead(status: number, headers: readonly string[]): void;
  /** The bytes are the handler's during this call only: the memory is used again. */
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** Instead of `onEnd`: no connection, or a broken one. A connection that could not be opened never had `onStart`. */
  onError(error: Error): void;
}

/** A body that may be too long to be at hand: its bytes are asked for as the upstream takes them. */
export interface StreamedBody {
  /** Bytes. They are promised before the first of them is read: a body with fewer or more fails. */
  readonly length: number;
  /** All of it, where it lies in memory after all: it goes out with the head, in one write. Its memory is not used again. */
  readonly pieces?: readonly Buffer[] | undefined;
  /**
   * All bytes from the first one on; each call begins anew, so that another attempt can send the body again. A piece is
   * valid until the next one is asked for: its memory is used again.
   */
  chunks(): AsyncIterable<Buffer>;
}

/** @template Body `Buffer` where the body must be at hand, for example to be signed */
export interface SentRequest<Body extends Buffer | StreamedBody = Buffer | StreamedBody> {
  /** POST when absent. */
  readonly method?: "GET" | "PUT" | "PATCH" | "DELETE" | undefined;
  readonly path: string;
  /** Names and values in turn; neither `host` nor anything that frames the body is among them, nor in the next. */
  readonly headers: readonly string[];
  /** Those before them that many requests have in common: one list for all of these, so that it is checked once. */
  readonly fixedHeaders?: readonly string[];
  readonly body: Body;
  /** For the connection that it may need. 0: as long as the system takes. */
  readonly connectTimeoutMs: number;
}

export interface Upstream {
  /** Sends a request. Whatever goes wrong is told to the handler, later or at once. */
  send(request: SentRequest, handler: UpstreamHandler): void;
  /** Lets go of idle connections now and of the others as their requests end. */
  close(): void;
  /** Closes every connection; requests in flight fail. */
  destroy(): Promise<void>;
}
