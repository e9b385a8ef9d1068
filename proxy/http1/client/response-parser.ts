/**
 * Turns the bytes of one connection into one answer after the other; interim answers (1xx) come in front of theirs.
 *
 * Nothing is buffered but an unfinished head, which is bounded. Whatever is not strictly HTTP/1 throws, and the
 * connection is then of no more use. Bytes behind a whole answer are nobody's: the caller is told, and must not use the
 * connection again. No I/O here.
 */
import { ChunkedBody } from "#proxy/http1/wire/chunked-body";
import { HttpError } from "#proxy/http1/wire/http-error";
import { type BodyFraming, type ResponseHead, readResponseHead } from "./response-head.ts";

export interface ResponseListener {
  onHead(head: ResponseHead): void;
  /** Valid during the call only. */
  onBody(chunk: Buffer): void;
  onComplete(): void;
}

type Phase = "head" | "length" | "chunked" | "until-close" | "complete";

const headEnd = Buffer.from("\r\n\r\n");
const headStart = Buffer.from("HTTP/1.");
/** Ends no line here, but would for others: such a head would never end. */
const bareLineFeed = /(?:^|[^\r])\n/;
const usualHeadBytes = 1_024;
/** Of chunk extensions and trailers. */
const asideBytesMax = 16 * 1024;
const nothing = Buffer.alloc(0);

export class ResponseParser {
  readonly #headBytesMax: number;
  readonly #listener: ResponseListener;
  readonly #takeBody = (chunk: Buffer): void => {
    if (this.#phase === "chunked") this.#listener.onBody(chunk);
  };
  #phase: Phase = "complete";
  /** The bytes of a head that has not ended. */
  #begun: Buffer | undefined;
  #left = 0;
  #chunked: ChunkedBody | undefined;

  constructor(headBytesMax: number, listener: ResponseListener) {
    this.#headBytesMax = headBytesMax;
    this.#listener = listener;
  }

  /** A request has been written: its answer comes next. */
  expectAnswer(): void {
    this.#phase = "head";
    this.#begun = undefined;
  }

  /** No answer is expected or still coming. */
  get isComplete(): boolean {
    return this.#phase === "complete";
  }

  /**
   * @param bytes used during the call only
   * @returns false when bytes came behind the end of the answer
   * @throws HttpError
   */
  push(bytes: Buffer): boolean {
    let at = 0;
    while (at < bytes.length) {
      switch (this.#phase) {
        case "head":
          at = this.#head(bytes, at);
          break;
        case "length":
          at = this.#length(bytes, at);
          break;
        case "chunked":
          at = this.#chunks(bytes, at);
          break;
        case "until-close":
          this.#listener.onBody(at === 0 ? bytes : bytes.subarray(at));
          at = bytes.length;
          break;
        default:
          return false;
      }
    }
    return true;
  }

  /** The connection's end. @throws HttpError when an answer was due or under way and is cut by it */
  end(): void {
    if (this.#phase === "until-close") this.#complete();
    else if (this.#phase !== "complete")
      throw new HttpError("HTTP_SYNTAX", "the connection ended before the answer did");
  }

  #head(bytes: Buffer, from: number): number {
    if (this.#begun !== undefined) return this.#headInPieces(this.#begun, bytes, from);
    // Most heads are short and whole: text is searched faster than bytes, and is needed anyway.
    const text = bytes.toString("latin1", from, Math.min(bytes.length, from + usualHeadBytes));
    const end = text.indexOf("\r\n\r\n");
    if (end < 0 || end + 4 > this.#headBytesMax) return this.#headInPieces(nothing, bytes, from);
    this.#headRead(text.slice(0, end + 4));
    return from + end + 4;
  }

  #headInPieces(begun: Buffer, bytes: Buffer, from: number): number {
    const all = Buffer.concat([begun, bytes.subarray(from)]);
    const lineEnd = all.indexOf(headEnd, Math.max(0, begun.length - 3));
    const end = lineEnd < 0 ? all.length : lineEnd + headEnd.length;
    if (end > this.#headBytesMax) throw new HttpError("HTTP_SYNTAX", "the head of the answer is too long");
    if (lineEnd < 0) {
      const known = Math.min(headStart.length, end);
      const isBroken = all.compare(headStart, 0, known, 0, known) !== 0 || bareLineFeed.test(all.toString("latin1"));
      if (isBroken) throw new HttpError("HTTP_SYNTAX", "the answer is no HTTP/1");
      this.#begun = all;
      return bytes.length;
    }
    this.#begun = undefined;
    this.#headRead(all.toString("latin1", 0, end));
    return from + end - begun.length;
  }

  #headRead(text: string): void {
    const head = readResponseHead(text);
    if (head.status >= 200) this.#begin(head.framing);
    this.#listener.onHead(head);
    if (head.framing.kind === "none" && head.status >= 200) this.#complete();
  }

  #begin(framing: BodyFraming): void {
    switch (framing.kind) {
      case "length":
        this.#left = framing.bytes;
        this.#phase = "length";
        return;
      case "chunked":
        this.#chunked = new ChunkedBody(asideBytesMax);
        this.#phase = "chunked";
        return;
      case "until-close":
        this.#phase = "until-close";
        return;
      case "none":
        return;
      default:
        framing satisfies never;
    }
  }

  #length(bytes: Buffer, from: number): number {
    const end = Math.min(bytes.length, from + this.#left);
    this.#left -= end - from;
    this.#listener.onBody(from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end));
    if (this.#left === 0 && this.#phase === "length") this.#complete();
    return end;
  }

  #chunks(bytes: Buffer, from: number): number {
    const chunked = this.#chunked;
    if (chunked === undefined) return bytes.length;
    const at = chunked.push(bytes, from, this.#takeBody);
    if (chunked.isDone && this.#phase === "chunked") this.#complete();
    return at;
  }

  #complete(): void {
    this.#phase = "complete";
    this.#chunked = undefined;
    this.#listener.onComplete();
  }
}
