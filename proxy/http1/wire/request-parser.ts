/**
 * Turns the bytes of one client connection into one request after the other.
 *
 * It never runs ahead: behind a whole request it takes nothing until the caller asks for the next one, so that the bytes
 * of a pipeline wait as bytes. Nothing is buffered but an unfinished head, which is bounded. Whatever is not strictly
 * HTTP/1 throws, and nothing more may be read of the connection. No I/O here.
 */
import { ChunkedBody } from "./chunked-body.ts";
import { HttpError } from "./http-error.ts";
import { isBrokenHead, type RequestHead, readRequestHead } from "./request-head.ts";

/** How the end of a request is told. */
export type RequestFraming =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" };

export interface RequestListener {
  /** @returns undefined where the end of the request cannot be told: nothing behind this head is read */
  onHead(head: RequestHead): RequestFraming | undefined;
  /** Not empty. The bytes are the listener's to keep. */
  onBody(chunk: Buffer): void;
  onComplete(): void;
}

type Phase = "between" | "head" | "length" | "chunked" | "whole" | "stopped";

const headEnd = Buffer.from("\r\n\r\n");
const usualHeadBytes = 1_024;
/** What all chunk extensions and trailers of one request may take (RELIABILITY.md D4). */
const asideBytesMax = 4 * 1024;
const cr = 0x0d;
const lf = 0x0a;

export class RequestParser {
  readonly #headBytesMax: number;
  readonly #listener: RequestListener;
  readonly #takeBody = (chunk: Buffer): void => {
    if (this.#phase === "chunked") this.#listener.onBody(chunk);
  };
  #phase: Phase = "between";
  /** The bytes of a head that has not ended. */
  #begun: Buffer | undefined;
  #left = 0;
  #chunked: ChunkedBody | undefined;

  /** @param headBytesMax request line to empty line */
  constructor(headBytesMax: number, listener: RequestListener) {
    this.#headBytesMax = headBytesMax;
    this.#listener = listener;
  }

  /** Nothing of a request has come since the last one; half an empty line is nothing. */
  get isBetween(): boolean {
    return this.#phase === "between" || (this.#phase === "head" && isHalfEmptyLine(this.#begun));
  }

  /** A head has begun and not ended. */
  get isInHead(): boolean {
    return this.#phase === "head" && !isHalfEmptyLine(this.#begun);
  }

  /** A request has come whole, and the next one is not read yet. */
  get isWhole(): boolean {
    return this.#phase === "whole";
  }

  /** After a whole request: what comes now is another one. */
  next(): void {
    if (this.#phase === "whole") this.#phase = "between";
  }

  /** Whatever comes is of no interest any more. */
  stop(): void {
    this.#phase = "stopped";
    this.#begun = this.#chunked = undefined;
  }

  /**
   * @returns where the request ended, or the length of `bytes` where it goes on
   * @throws HttpError
   */
  push(bytes: Buffer): number {
    // A listener may give the memory of `bytes` back: its length must be known before.
    const { length } = bytes;
    let at = 0;
    while (at < length) {
      switch (this.#phase) {
        case "between":
        case "head":
          at = this.#head(bytes, at);
          break;
        case "length":
          at = this.#body(bytes, at, length);
          break;
        case "chunked":
          at = this.#chunks(bytes, at, length);
          break;
        case "whole":
          return at;
        case "stopped":
          return length;
      }
    }
    return length;
  }

  #head(bytes: Buffer, from: number): number {
    if (this.#phase === "head") return this.#headInPieces(bytes, from);
    let at = from;
    // Some clients end a body with an empty line more than they count (RFC 9112 section 2.2).
    while (bytes[at] === cr && bytes[at + 1] === lf) at += 2;
    if (at === bytes.length) return at;
    // Most heads are short and whole: text is searched faster than bytes, and is needed anyway.
    const text = bytes.toString("latin1", at, Math.min(bytes.length, at + usualHeadBytes));
    const end = text.indexOf("\r\n\r\n");
    if (end < 0 || end + 4 > this.#headBytesMax) return this.#headInPieces(bytes, at);
    this.#headRead(text.slice(0, end + 4));
    return at + end + 4;
  }

  #headInPieces(bytes: Buffer, from: number): number {
    const begun = this.#begun;
    if (isHalfEmptyLine(begun) && bytes[from] === lf) {
      // An empty line before the request, cut in two.
      this.#begun = undefined;
      this.#phase = "between";
      return from + 1;
    }
    const begunBytes = begun?.length ?? 0;
    const fresh = bytes.subarray(from);
    const all = begun === undefined ? fresh : Buffer.concat([begun, fresh]);
    const lineEnd = all.indexOf(headEnd, Math.max(0, begunBytes - 3));
    const end = lineEnd < 0 ? all.length : lineEnd + headEnd.length;
    if (end > this.#headBytesMax) throw new HttpError("HEAD_TOO_LARGE", "the head of the request is too long");
    if (lineEnd < 0) {
      const isBroken = isBrokenHead(all.toString("latin1", Math.max(0, begunBytes - 1)), begunBytes === 0);
      if (isBroken) throw new HttpError("HTTP_SYNTAX", "the request is no HTTP/1");
      this.#phase = "head";
      this.#begun = begun === undefined ? Buffer.from(fresh) : all;
      return bytes.length;
    }
    this.#begun = undefined;
    this.#headRead(all.toString("latin1", 0, end));
    return from + end - begunBytes;
  }

  #headRead(text: string): void {
    const framing = this.#listener.onHead(readRequestHead(text));
    // The listener may have stopped it meanwhile.
    if (framing === undefined || this.#isStopped()) this.stop();
    else if (framing.kind === "chunked") {
      this.#chunked = new ChunkedBody(asideBytesMax);
      this.#phase = "chunked";
    } else if (framing.kind === "length" && framing.bytes > 0) {
      this.#left = framing.bytes;
      this.#phase = "length";
    } else this.#complete();
  }

  #isStopped(): boolean {
    return this.#phase === "stopped";
  }

  #body(bytes: Buffer, from: number, length: number): number {
    const end = Math.min(length, from + this.#left);
    this.#left -= end - from;
    const isLast = this.#left === 0;
    this.#listener.onBody(from === 0 && end === length ? bytes : bytes.subarray(from, end));
    if (isLast && this.#phase === "length") this.#complete();
    return end;
  }

  #chunks(bytes: Buffer, from: number, length: number): number {
    const chunked = this.#chunked;
    if (chunked === undefined) return length;
    const at = chunked.push(bytes, from, this.#takeBody);
    if (chunked.isDone && this.#phase === "chunked") this.#complete();
    return at;
  }

  #complete(): void {
    this.#phase = "whole";
    this.#chunked = undefined;
    this.#listener.onComplete();
  }
}

/** @param begun of a head */
function isHalfEmptyLine(begun: Buffer | undefined): boolean {
  return begun?.length === 1 && begun[0] === cr;
}
