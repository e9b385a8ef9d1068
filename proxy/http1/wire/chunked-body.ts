/**
 * Takes a chunked body apart, whatever pieces it arrives in (RFC 9112 section 7.1). Strict: sizes are bare hexadecimal
 * digits, every line ends in CR LF, extensions and trailers are bounded and dropped, and no trailer frames the message
 * that it ends (RFC 9110 section 6.5.1). Copies nothing.
 */
import { HttpError } from "./http-error.ts";

/** Sizes of more digits are no exact numbers, and no message is that long. */
const sizeDigitsMax = 12;
type Expecting = "size" | "extension" | "size-lf" | "data" | "data-cr" | "data-lf" | "trailer" | "trailer-lf" | "done";

const cr = 0x0d;
const lf = 0x0a;
const colon = 0x3a;
/** A token that is no framing field's name. */
const trailerForm = /^(?!(?:content-length|transfer-encoding)$)[!#$%&'*+.^_`|~0-9A-Za-z-]+$/i;

export class ChunkedBody {
  readonly #asideBytesMax: number;
  #expecting: Expecting = "size";
  #size = 0;
  #digits = 0;
  #left = 0;
  #asideBytes = 0;
  #trailerLineBytes = 0;
  /** Undefined once the colon was seen. */
  #trailerName: string | undefined = "";

  /** @param asideBytesMax what all chunk extensions and trailers together may take */
  constructor(asideBytesMax: number) {
    this.#asideBytesMax = asideBytesMax;
  }

  get isDone(): boolean {
    return this.#expecting === "done";
  }

  /**
   * @param take told each run of body bytes
   * @returns where the body ended, or the length of `bytes` when it goes on
   * @throws HttpError
   */
  push(bytes: Buffer, from: number, take: (chunk: Buffer) => void): number {
    let at = from;
    while (at < bytes.length && this.#expecting !== "done") {
      if (this.#expecting === "data") {
        const end = Math.min(bytes.length, at + this.#left);
        this.#left -= end - at;
        if (this.#left === 0) this.#expecting = "data-cr";
        take(bytes.subarray(at, end));
        at = end;
      } else {
        this.#step(bytes[at] ?? 0);
        at += 1;
      }
    }
    return at;
  }

  #step(byte: number): void {
    switch (this.#expecting) {
      case "size":
        this.#sizeByte(byte);
        return;
      case "extension":
        if (byte === cr) this.#expecting = "size-lf";
        else this.#aside(byte);
        return;
      case "size-lf":
        expect(byte, lf);
        this.#beginChunk();
        return;
      case "data-cr":
        expect(byte, cr);
        this.#expecting = "data-lf";
        return;
      case "data-lf":
        expect(byte, lf);
        this.#expecting = "size";
        return;
      case "trailer":
        if (byte === cr) this.#expecting = "trailer-lf";
        else this.#trailerByte(byte);
        return;
      case "trailer-lf":
        expect(byte, lf);
        this.#expecting = this.#trailerLineBytes === 0 ? "done" : "trailer";
        if (this.#trailerLineBytes > 0 && this.#trailerName !== undefined)
          throw new HttpError("HTTP_SYNTAX", "a trailer has no name");
        this.#trailerLineBytes = 0;
        this.#trailerName = "";
        return;
    }
  }

  #sizeByte(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.#digits += 1;
      if (this.#digits > sizeDigitsMax) throw new HttpError("HTTP_SYNTAX", "a chunk is too long");
      this.#size = this.#size * 16 + digit;
    } else if (this.#digits > 0 && byte === cr) this.#expecting = "size-lf";
    else if (this.#digits > 0 && byte === 0x3b) this.#expecting = "extension";
    else throw new HttpError("HTTP_SYNTAX", "a chunk has no valid size");
  }

  #beginChunk(): void {
    this.#left = this.#size;
    this.#expecting = this.#size === 0 ? "trailer" : "data";
    this.#size = this.#digits = 0;
  }

  #trailerByte(byte: number): void {
    this.#aside(byte);
    this.#trailerLineBytes += 1;
    if (this.#trailerName === undefined) return;
    if (byte !== colon) this.#trailerName += String.fromCharCode(byte);
    else {
      if (!trailerForm.test(this.#trailerName)) throw new HttpError("HTTP_SYNTAX", "a trailer has no valid name");
      this.#trailerName = undefined;
    }
  }

  /** A byte of an extension or a trailer: nothing that could end a line for somebody else. */
  #aside(byte: number): void {
    const isText = byte === 0x09 || (byte >= 0x20 && byte !== 0x7f);
    this.#asideBytes += 1;
    if (!isText || this.#asideBytes > this.#asideBytesMax)
      throw new HttpError("HTTP_SYNTAX", "the chunks carry too much beside the body");
  }
}

function expect(byte: number, wanted: number): void {
  if (byte !== wanted) throw new HttpError("HTTP_SYNTAX", "a chunk does not end where it should");
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
