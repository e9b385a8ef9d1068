/**
 * Walks over JSON bytes value by value, so that what is only passed on is never built: of the megabytes of vectors in a
 * reply nothing but their places is needed.
 *
 * It checks the structure that it walks over, and not that what it skips is JSON: of a list of numbers only what is none.
 */
import { FloatLists } from "./float-list.ts";

const quote = 0x22;
const minus = 0x2d;
const digitZero = 0x30;
const digitNine = 0x39;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Offsets of a value: `start` of its first byte, `end` behind its last. */
export interface JsonRange {
  readonly start: number;
  readonly end: number;
}

export class JsonCursor {
  readonly bytes: Buffer;
  #at: number;
  #floats: FloatLists | undefined;

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes;
    this.#at = at;
  }

  /** First byte of the next value; undefined at the end. */
  peek(): number | undefined {
    const { bytes } = this;
    let at = this.#at;
    for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = bytes[at])
      at += 1;
    this.#at = at;
    return bytes[at];
  }

  isObject(): boolean {
    return this.peek() === openBrace;
  }

  isArray(): boolean {
    return this.peek() === openBracket;
  }

  /** First byte of the first item of an array; undefined for any other value. */
  peekItem(): number | undefined {
    return this.isArray() ? new JsonCursor(this.bytes, this.#at + 1).peek() : undefined;
  }

  /** Whether a list of numbers begins, as its first item tells. */
  isNumbers(): boolean {
    const first = this.peekItem();
    return first === minus || (first !== undefined && first >= digitZero && first <= digitNine);
  }

  isString(): boolean {
    return this.peek() === quote;
  }

  /**
   * Walks over an object. @param visit is given each name, and reads or skips its value
   * @throws SyntaxError
   */
  object(visit: (name: string) => void): JsonRange {
    const start = this.#expect(openBrace);
    if (!this.#takes(closeBrace)) {
      do {
        const name = this.#name();
        this.#expect(colon);
        visit(name);
      } while (this.#takes(comma));
      this.#expect(closeBrace);
    }
    return { start, end: this.#at };
  }

  /**
   * Walks over an array. @param visit is given each index, and reads or skips its item
   * @throws SyntaxError
   */
  array(visit: (index: number) => void): JsonRange {
    const start = this.#expect(openBracket);
    let index = 0;
    if (!this.#takes(closeBracket)) {
      do {
        visit(index);
        index += 1;
      } while (this.#takes(comma));
      this.#expect(closeBracket);
    }
    return { start, end: this.#at };
  }

  /** Skips a value. @throws SyntaxError where none begins, or none ends */
  skip(): JsonRange {
    const first = this.peek();
    const start = this.#at;
    if (first === quote) this.#at = this.#behindString(start);
    else if (first === openBracket || first === openBrace) this.#at = this.#behindNested(start);
    else this.#at = this.#behindScalar(start);
    return { start, end: this.#at };
  }

  /** Skips a list of numbers, as `FloatLists` has it. @throws SyntaxError for what is no number of 32 bits */
  skipFloats(): JsonRange {
    this.peek();
    const start = this.#at;
    this.#floats ??= new FloatLists(this.bytes);
    const end = this.#floats.endOf(start);
    if (end < 0) throw new SyntaxError(`the list that begins at ${start} is none of numbers`);
    this.#at = end;
    return { start, end };
  }

  /** A whole number from 0 that a double holds exactly; undefined for any other value, which is skipped. @throws SyntaxError */
  count(): number | undefined {
    const { start, end } = this.skip();
    let number = 0;
    for (let at = start; at < end; at += 1) {
      const byte = this.bytes[at] ?? 0;
      if (byte < digitZero || byte > digitNine) return undefined;
      number = number * 10 + byte - digitZero;
    }
    return Number.isSafeInteger(number) ? number : undefined;
  }

  /** Builds a value, which should be small. @throws SyntaxError */
  json(): unknown {
    const { start, end } = this.skip();
    return JSON.parse(this.bytes.toString("utf8", start, end));
  }

  /** @throws SyntaxError where anything follows */
  end(): void {
    if (this.peek() !== undefined) throw new SyntaxError("something follows the value");
  }

  #takes(byte: number): boolean {
    if (this.peek() !== byte) return false;
    this.#at += 1;
    return true;
  }

  /** @returns the offset of the byte */
  #expect(byte: number): number {
    if (!this.#takes(byte)) throw new SyntaxError(`expected ${String.fromCharCode(byte)} at ${this.#at}`);
    return this.#at - 1;
  }

  #name(): string {
    if (this.peek() !== quote) throw new SyntaxError(`expected a name at ${this.#at}`);
    const start = this.#at;
    this.#at = this.#behindString(start);
    const text = this.bytes.toString("latin1", start + 1, this.#at - 1);
    return text.includes("\\") ? String(JSON.parse(this.bytes.toString("utf8", start, this.#at))) : text;
  }

  #behindString(start: number): number {
    const { bytes } = this;
    for (let close = bytes.indexOf(quote, start + 1); close >= 0; close = bytes.indexOf(quote, close + 1)) {
      let before = close - 1;
      while (bytes[before] === backslash) before -= 1;
      if ((close - before) % 2 === 1) return close + 1;
    }
    throw new SyntaxError(`a text that begins at ${start} does not end`);
  }

  #behindNested(start: number): number {
    const { bytes } = this;
    let level = 0;
    for (let at = start; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === quote) at = this.#behindString(at) - 1;
      else if (byte === openBracket || byte === openBrace) level += 1;
      else if (byte === closeBracket || byte === closeBrace) {
        level -= 1;
        if (level === 0) return at + 1;
      }
    }
    throw new SyntaxError(`a value that begins at ${start} does not end`);
  }

  #behindScalar(start: number): number {
    const { bytes } = this;
    let at = start;
    for (let byte = bytes[at]; byte !== undefined && isScalar(byte); byte = bytes[at]) at += 1;
    if (at === start) throw new SyntaxError(`expected a value at ${start}`);
    return at;
  }
}

/** Digits, signs, points and small letters: numbers, `true`, `false`, `null`. */
function isScalar(byte: number): boolean {
  const isDigit = byte >= digitZero && byte <= digitNine;
  return isDigit || (byte >= 0x61 && byte <= 0x7a) || byte === minus || byte === 0x2b || byte === 0x2e || byte === 0x45;
}
