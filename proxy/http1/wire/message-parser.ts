/**
 * Turns the bytes of one connection into one message after the other: requests for a server, responses for a client.
 *
 * What differs between the two is named by a `MessageKind`, and by the framing that the listener finds for each head. It
 * never runs ahead: a message is read only where `next` asked for it, so that bytes behind a whole message wait as bytes,
 * or show that a connection must not be used again. Nothing is buffered but an unfinished head, which is bounded.
 * Whatever is not strictly HTTP/1 throws, and nothing more may be read of the connection. No I/O here.
 */
import { ChunkedBody } from "./chunked-body.ts";
import { HttpError } from "./http-error.ts";
import type { MessageFraming } from "./message-framing.ts";
import { isBrokenHead } from "./message-head.ts";

/** What requests and responses have each to themselves. */
export interface MessageKind<Head> {
  readonly name: "request" | "response";
  /** What every start line begins with; empty where there is no such thing. */
  readonly startsWith: string;
  /** Empty lines before a start line are skipped. */
  readonly allowsEmptyLines: boolean;
  /** What all chunk extensions and trailers of one message may take. */
  readonly asideBytesMax: number;
  /**
   * @param head start line to empty line, both included, as Latin-1 text
   * @throws HttpError
   */
  readonly readHead: (head: string) => Head;
}

export interface MessageListener<Head> {
  /** @returns where the message ends; undefined where that cannot be told: nothing behind this head is read */
  onHead(head: Head): MessageFraming | undefined;
  /** Not empty, and a part of what was pushed. */
  onBody(chunk: Buffer): void;
  onComplete(): void;
}

/** `whole`: the last message has ended, and none is asked for. `before`: one is, and nothing of it has come. */
type Phase = "whole" | "before" | "head" | "length" | "chunked" | "until-close" | "stopped";

const headEnd = Buffer.from("\r\n\r\n");
const usualHeadBytes = 1_024;
const cr = 0x0d;
const lf = 0x0a;

export class MessageParser<Head> {
  readonly #kind: MessageKind<Head>;
  readonly #headBytesMax: number;
  readonly #listener: MessageListener<Head>;
  readonly #onChunk = (chunk: Buffer): void => {
    if (this.#phase === "chunked") this.#listener.onBody(chunk);
  };
  #phase: Phase = "whole";
  /** The bytes of a head that has not ended. */
  #begun: Buffer | undefined;
  #left = 0;
  #chunked: ChunkedBody | undefined;

  /** @param headBytesMax start line to empty line */
  constructor(kind: MessageKind<Head>, headBytesMax: number, listener: MessageListener<Head>) {
    this.#kind = kind;
    this.#headBytesMax = headBytesMax;
    this.#listener = listener;
  }

  /** A message is expected and nothing of it has come; half an empty line is nothing. */
  get isBetween(): boolean {
    return this.#phase === "before" || (this.#phase === "head" && isHalfEmptyLine(this.#begun));
  }

  /** A head has begun and not ended. */
  get isInHead(): boolean {
    return this.#phase === "head" && !isHalfEmptyLine(this.#begun);
  }

  /** No message is expected, or still coming. */
  get isWhole(): boolean {
    return this.#phase === "whole";
  }

  /** Asks for the next message, where none is expected or still coming. */
  next(): void {
    if (this.#phase === "whole") this.#phase = "before";
  }

  /** Whatever comes is of no interest any more. */
  stop(): void {
    this.#phase = "stopped";
    this.#begun = this.#chunked = undefined;
  }

  /**
   * @returns where the message ended, or the length of `bytes` where it goes on
   * @throws HttpError
   */
  push(bytes: Buffer): number {
    // A listener may give the memory of `bytes` back: its length must be known before.
    const { length } = bytes;
    let at = 0;
    while (at < length) {
      switch (this.#phase) {
        case "before":
          at = this.#head(bytes, at);
          break;
        case "head":
          at = this.#headInPieces(bytes, at);
          break;
        case "length":
          at = this.#body(bytes, at, length);
          break;
        case "chunked":
          at = this.#chunks(bytes, at, length);
          break;
        case "until-close":
          this.#listener.onBody(at === 0 ? bytes : bytes.subarray(at));
          return length;
        case "whole":
          return at;
        case "stopped":
          return length;
      }
    }
    return length;
  }

  /** The connection has ended. @throws HttpError where a message was due or under way and is cut by that */
  end(): void {
    if (this.#phase === "until-close") this.#complete();
    else if (this.#phase !== "whole") {
      throw new HttpError("HTTP_SYNTAX", `the connection ended before the ${this.#kind.name} did`);
    }
  }

  #head(bytes: Buffer, from: number): number {
    let at = from;
    if (this.#kind.allowsEmptyLines) while (bytes[at] === cr && bytes[at + 1] === lf) at += 2;
    if (at === bytes.length) return at;
    // Most heads are short and whole: text is searched faster than bytes, and is needed anyway.
    const text = bytes.toString("latin1", at, Math.min(bytes.length, at + usualHeadBytes));
    const end = text.indexOf("\r\n\r\n");
    if (end < 0 || end + 4 > this.#headBytesMax) return this.#headInPieces(bytes, at);
    this.#begin(text.slice(0, end + 4));
    return at + end + 4;
  }

  #headInPieces(bytes: Buffer, from: number): number {
    const begun = this.#begun;
    if (this.#kind.allowsEmptyLines && isHalfEmptyLine(begun) && bytes[from] === lf) {
      // An empty line before the message, cut in two.
      this.#begun = undefined;
      this.#phase = "before";
      return from + 1;
    }
    const begunBytes = begun?.length ?? 0;
    const fresh = bytes.subarray(from);
    const all = begun === undefined ? fresh : Buffer.concat([begun, fresh]);
    const lineEnd = all.indexOf(headEnd, Math.max(0, begunBytes - 3));
    const end = lineEnd < 0 ? all.length : lineEnd + headEnd.length;
    const { name } = this.#kind;
    if (end > this.#headBytesMax) throw new HttpError("HEAD_TOO_LARGE", `the head of the ${name} is too long`);
    if (lineEnd < 0) {
      if (this.#isBroken(all, begunBytes)) throw new HttpError("HTTP_SYNTAX", `the ${name} is no HTTP/1`);
      this.#phase = "head";
      this.#begun = begun === undefined ? Buffer.from(fresh) : all;
      return bytes.length;
    }
    this.#begun = undefined;
    this.#begin(all.toString("latin1", 0, end));
    return from + end - begunBytes;
  }

  /** Whether these bytes, of which the first ones were looked at before, can never become a head. */
  #isBroken(all: Buffer, knownBytes: number): boolean {
    const { startsWith } = this.#kind;
    const start = all.toString("latin1", 0, startsWith.length);
    if (start !== startsWith.slice(0, start.length)) return true;
    return isBrokenHead(all.toString("latin1", Math.max(0, knownBytes - 1)), knownBytes === 0);
  }

  #begin(head: string): void {
    const framing = this.#listener.onHead(this.#kind.readHead(head));
    // The listener may have stopped it meanwhile.
    if (framing === undefined || this.#isStopped()) {
      this.stop();
      return;
    }
    switch (framing.kind) {
      case "length":
        this.#left = framing.bytes;
        this.#phase = "length";
        if (framing.bytes === 0) this.#complete();
        return;
      case "chunked":
        this.#chunked = new ChunkedBody(this.#kind.asideBytesMax);
        this.#phase = "chunked";
        return;
      case "until-close":
        this.#phase = "until-close";
        return;
      case "interim":
        this.#phase = "before";
        return;
      case "none":
        this.#complete();
        return;
      default:
        framing satisfies never;
    }
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
    const at = chunked.push(bytes, from, this.#onChunk);
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
