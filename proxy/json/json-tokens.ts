/**
 * Skips over the tokens of JSON (RFC 8259) in bytes: white space, strings, numbers and literals.
 *
 * It decodes and allocates nothing: each function gets the offset where a token begins and returns the offset behind
 * it, or refuses with the offset of the wrong byte. `strict-json.ts` calls it with bytes that are known to be valid
 * UTF-8.
 */
import { GatewayError } from "#proxy/errors";

export const quote = 0x22;
export const comma = 0x2c;
export const colon = 0x3a;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
const backslash = 0x5c;
const letterU = 0x75;
const minus = 0x2d;
const zero = 0x30;

/** Stands for "behind the last byte": no JSON token contains it outside of strings, and no string may hold it raw. */
const nothing = 0;

/** 1 for every byte that may stand in a string as itself. */
const isPlain = new Uint8Array(256).fill(1, 0x20);
isPlain[quote] = 0;
isPlain[backslash] = 0;

const isSimpleEscape = new Uint8Array(256);
for (const letter of '"\\/bfnrt') isSimpleEscape[letter.charCodeAt(0)] = 1;

/** A refusal that names the byte and what to do about it. */
export function invalidJson(offset: number, problem: string): GatewayError {
  return new GatewayError("invalid_json", `The body is not valid JSON: ${problem} (byte ${offset}).`);
}

/** @returns the offset of the first byte that is not white space, at most `end` */
export function skipSpace(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    at += 1;
  }
  return end;
}

/** The bytes seen four at a time as well; `words[0]` begins `shift` bytes before `bytes[0]`, where memory is aligned. */
export interface JsonText {
  readonly bytes: Buffer;
  readonly words: Int32Array;
  readonly shift: number;
}

/** Shares the memory of `bytes`. */
export function withWords(bytes: Buffer): JsonText {
  const shift = bytes.byteOffset & 3;
  return { bytes, words: new Int32Array(bytes.buffer, bytes.byteOffset - shift, (bytes.length + shift) >> 2), shift };
}

/**
 * @param from offset behind the opening quote
 * @returns the offset of the closing quote; its complement (`~offset`, negative) when the string holds an escape
 */
export function skipString(text: JsonText, from: number, end: number): number {
  const { bytes } = text;
  let at = from;
  let hasEscape = false;
  for (;;) {
    at = skipPlain(text, at, end);
    if (at >= end) throw invalidJson(from - 1, "a string that begins here is not closed; send the whole body");
    const byte = bytes[at];
    if (byte === quote) return hasEscape ? ~at : at;
    if (byte !== backslash) throw invalidJson(at, "a control character inside a string; escape it, as in \\n");
    hasEscape = true;
    // Escapes in a row (code, quoted JSON) need no look for plain bytes between them.
    do at = bytes[at + 1] === letterU ? skipUnicodeEscapes(bytes, at) : skipSimpleEscapes(text, at);
    while (bytes[at] === backslash);
  }
}

/**
 * Four bytes at once, several times as fast as one by one: `(v - n) & ~v` has a byte's high bit set where that byte of v
 * is below n (n up to 0x80), exactly so in the lowest such byte. XOR with 2 brings the quote (0x22) next to the control
 * characters; XOR with 0x5c brings the backslash to 0. Node runs on little-endian machines only: the lowest byte of a
 * word is the first.
 * @returns the offset of the first quote, backslash or control character, at most `end`
 */
function skipPlain({ bytes, words, shift }: JsonText, from: number, end: number): number {
  let index = (from + shift) >> 2;
  const last = (end + shift) >> 2;
  // Bytes of the first word before `from` count as spaces.
  const kept = -1 << (((from + shift) & 3) * 8);
  let word = ((words[index] ?? nothing) & kept) | (0x20202020 & ~kept);
  while (index < last) {
    const low = word ^ 0x02020202;
    const slash = word ^ 0x5c5c5c5c;
    const found = (((low - 0x21212121) & ~low) | ((slash - 0x01010101) & ~slash)) & 0x80808080;
    if (found !== 0) return (index << 2) - shift + ((31 - Math.clz32(found & -found)) >> 3);
    index += 1;
    word = words[index] ?? nothing;
  }
  let at = Math.max(from, (last << 2) - shift);
  while (at < end && isPlain[bytes[at] ?? nothing] === 1) at += 1;
  return at;
}

/**
 * One escape of two characters and what follows of its kind, two at a time where they lie in whole words. A word begins
 * at a backslash or, where backslashes stand in odd places, at the letter behind one.
 * @param from offset of a backslash
 * @returns offset behind the last that was skipped
 */
function skipSimpleEscapes({ bytes, words, shift }: JsonText, from: number): number {
  let at = skipSimpleEscape(bytes, from);
  const isOdd = ((at + shift) & 1) === 1;
  const intoWord = isOdd ? 1 : 0;
  if (((at + shift + intoWord) & 2) !== 0 && bytes[at] === backslash && bytes[at + 1] !== letterU)
    at = skipSimpleEscape(bytes, at);
  if (((at + shift + intoWord) & 3) !== 0 || (isOdd && bytes[at] !== backslash)) return at;
  const first = (at + shift + intoWord) >> 2;
  let index = first;
  for (; index < words.length; index += 1) {
    const word = words[index] ?? nothing;
    const slashes = isOdd ? word >>> 8 : word;
    const letters = isOdd ? word : word >>> 8;
    const isPair =
      (slashes & 0x00ff00ff) === 0x005c005c &&
      isSimpleEscape[letters & 0xff] === 1 &&
      isSimpleEscape[(letters >>> 16) & 0xff] === 1;
    if (!isPair) break;
  }
  return at + ((index - first) << 2);
}

function skipSimpleEscape(bytes: Uint8Array, at: number): number {
  if (isSimpleEscape[bytes[at + 1] ?? nothing] === 1) return at + 2;
  throw invalidJson(at, 'an unknown escape; only \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX exist');
}

/** One escape `\uXXXX` and what follows of its kind. @param from offset of a backslash */
function skipUnicodeEscapes(bytes: Uint8Array, from: number): number {
  let at = from;
  do {
    const unit = hexUnit(bytes, at);
    at += 6;
    if (unit < 0xd800 || unit > 0xdfff) continue;
    // Half a surrogate pair is no character: encoders turn it into different bytes, so two readers would disagree.
    const isPaired = unit < 0xdc00 && isUnicodeEscape(bytes, at) && (hexUnit(bytes, at) & 0xfc00) === 0xdc00;
    if (!isPaired)
      throw invalidJson(at - 6, "half of a surrogate pair; send both \\u escapes of the character, or neither");
    at += 6;
  } while (isUnicodeEscape(bytes, at));
  return at;
}

function isUnicodeEscape(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === backslash && bytes[at + 1] === letterU;
}

/** The value of each hexadecimal digit, negative for every other byte. */
const hexDigits = new Int8Array(256).fill(-1);
for (const digit of "0123456789abcdefABCDEF") hexDigits[digit.charCodeAt(0)] = Number.parseInt(digit, 16);

/** The value of `\uXXXX` at `at`. */
function hexUnit(bytes: Uint8Array, at: number): number {
  const value = (hexDigit(bytes, at + 2) << 12) | (hexDigit(bytes, at + 3) << 8) | (hexDigit(bytes, at + 4) << 4);
  const unit = value | hexDigit(bytes, at + 5);
  if (unit < 0) throw invalidJson(at, "a \\u escape without four hexadecimal digits");
  return unit;
}

function hexDigit(bytes: Uint8Array, at: number): number {
  return hexDigits[bytes[at] ?? nothing] ?? -1;
}

/** @param from offset of the minus sign or first digit */
export function skipNumber(bytes: Uint8Array, from: number, end: number): number {
  let at = bytes[from] === minus ? from + 1 : from;
  if (bytes[at] === zero) at += 1;
  else at = skipDigits(bytes, at, end);
  if (at < end && bytes[at] === 0x2e) at = skipDigits(bytes, at + 1, end);
  if (at < end && ((bytes[at] ?? nothing) | 0x20) === 0x65) {
    const sign = bytes[at + 1];
    at = skipDigits(bytes, sign === 0x2b || sign === minus ? at + 2 : at + 1, end);
  }
  const next = at < end ? (bytes[at] ?? nothing) : nothing;
  if (isDigit(next)) throw invalidJson(from, "a number with a leading zero");
  return at;
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= 0x39;
}

function skipDigits(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && isDigit(bytes[at] ?? nothing)) at += 1;
  if (at === from) throw invalidJson(from, "a digit is missing in this number");
  return at;
}

const literals: readonly Buffer[] = ["true", "false", "null"].map((word) => Buffer.from(word));

/** Skips `true`, `false` or `null`, or a number; refuses everything else. */
export function skipBareValue(bytes: Uint8Array, from: number, end: number): number {
  const first = from < end ? (bytes[from] ?? nothing) : nothing;
  if (first === minus || isDigit(first)) return skipNumber(bytes, from, end);
  for (const word of literals) {
    if (first !== word[0]) continue;
    let matched = 1;
    while (matched < word.length && from + matched < end && bytes[from + matched] === word[matched]) matched += 1;
    if (matched === word.length) return from + matched;
  }
  if (from >= end) throw invalidJson(from, "it ends where a value is expected; send the whole body");
  throw invalidJson(from, "expected a value: a string in double quotes, number, object, array, true, false or null");
}
