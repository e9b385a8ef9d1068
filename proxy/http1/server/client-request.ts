/**
 * One request of a client: its head, and its body for the handler that asks for it.
 *
 * What is named as in Node's `IncomingMessage` means the same. Until the body is asked for, little of it is read: a
 * client that nobody knows yet must not fill the memory.
 */
import type { HttpError } from "#proxy/http1/wire/http-error";
import type { RequestFraming } from "#proxy/http1/wire/message-framing";
import type { RequestHead } from "#proxy/http1/wire/request-head";

/** Hears of a body as it arrives; nothing more after `onEnd` or `onFailed`. */
export interface BodyListener {
  /** The bytes are the listener's to keep. */
  onChunk(chunk: Buffer): void;
  onEnd(): void;
  /** @param error why the bytes are refused; undefined where the client has left */
  onFailed(error: HttpError | undefined): void;
}

/** What a request needs of its connection. */
export interface BodySource {
  /** As the kernel reports it; undefined when the connection was gone before it could be asked. */
  readonly remoteAddress: string | undefined;
  pauseReading(): void;
  resumeReading(): void;
  /** Discards bytes that no handler wants; a client that sends too many of them is cut. */
  drop(bytes: Buffer): void;
}

/** More than this of a body that no handler has asked for stays in the kernel. */
const waitingBytesMax = 64 * 1024;
/** More pieces are joined: each of them keeps all that was read with it in memory, and a piece may be one byte. */
const waitingPiecesMax = 64;

export class ClientRequest {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: "1.0" | "1.1";
  /** Names as they came and values in turn. */
  readonly rawHeaders: readonly string[];
  /** Why this head is refused, whoever sent it. Its body is not read. */
  readonly problem: HttpError | undefined;
  readonly #source: BodySource;
  readonly #framing: RequestFraming;
  /** What has arrived of the body before it is asked for. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #listener: BodyListener | undefined;
  #isComplete = false;
  #failure: { readonly error: HttpError | undefined } | undefined;

  constructor(source: BodySource, head: RequestHead, framing: RequestFraming, problem: HttpError | undefined) {
    this.method = head.method;
    this.url = head.target;
    this.httpVersion = head.version;
    this.rawHeaders = head.headers;
    this.problem = problem;
    this.#source = source;
    this.#framing = framing;
  }

  get remoteAddress(): string | undefined {
    return this.#source.remoteAddress;
  }

  /** The whole body has arrived, asked for or not. */
  get complete(): boolean {
    return this.#isComplete;
  }

  /** The declared length of the body; undefined where it comes in chunks. */
  get declaredBytes(): number | undefined {
    switch (this.#framing.kind) {
      case "chunked":
        return undefined;
      case "length":
        return this.#framing.bytes;
      default:
        return 0;
    }
  }

  /** The whole body where it has arrived in one piece; it can be taken once. */
  takeWhole(): Buffer | undefined {
    if (!this.#isComplete || this.#waiting.length !== 1) return undefined;
    return this.#waiting.pop();
  }

  /** Hands the body to the listener: what has arrived at once, the rest as it comes. */
  read(listener: BodyListener): void {
    this.#listener = listener;
    this.#waitingBytes = 0;
    for (const chunk of this.#waiting.splice(0)) this.#listener?.onChunk(chunk);
    if (this.#failure !== undefined) this.#listener?.onFailed(this.#failure.error);
    else if (this.#isComplete) this.#listener?.onEnd();
    else if (this.#listener !== undefined) this.#source.resumeReading();
  }

  /** Nothing listens any more; little more of the body is read. */
  stopReading(): void {
    this.#listener = undefined;
  }

  /** Leaves the body in the kernel for a moment: its listener has no room. Little that is on its way still comes. */
  pauseReading(): void {
    this.#source.pauseReading();
  }

  /** The listener has room again. */
  resumeReading(): void {
    this.#source.resumeReading();
  }

  /** Reads the body and drops it: a client that is not read cannot be seen to leave. */
  ignore(): void {
    this.read({ onChunk: (chunk) => this.#source.drop(chunk), onEnd: () => {}, onFailed: () => {} });
  }

  /** For the connection: forgets what has arrived of the body; no more of it comes here. */
  discard(): void {
    this.#listener = undefined;
    this.#waiting.length = 0;
  }

  /** For the connection: more of the body has arrived. */
  push(chunk: Buffer): void {
    if (this.#listener !== undefined) this.#listener.onChunk(chunk);
    else this.#wait(chunk);
  }

  #wait(chunk: Buffer): void {
    this.#waiting.push(chunk);
    if (this.#waiting.length > waitingPiecesMax) this.#waiting = [Buffer.concat(this.#waiting)];
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes >= waitingBytesMax) this.#source.pauseReading();
  }

  /** For the connection: the body has ended as it should. */
  completed(): void {
    this.#isComplete = true;
    // A client that is not read cannot be seen to leave.
    this.#source.resumeReading();
    this.#listener?.onEnd();
  }

  /** For the connection: no more of the body comes. @param error undefined where the client has left */
  failed(error: HttpError | undefined): void {
    if (this.#isComplete || this.#failure !== undefined) return;
    this.#failure = { error };
    this.#listener?.onFailed(error);
  }
}
