/**
 * Checks lists of numbers where they stand: of the thousands of a vector none is built. Pure.
 *
 * A reply may have megabytes of them, and reading each byte here costs as much as all else that is done with the reply. So
 * the whole body is searched for what a number of 32 bits never holds, natively, and only a list with such a text in it is
 * read number by number.
 */
const minus = 0x2d;
const plus = 0x2b;
const point = 0x2e;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const digitZero = 0x30;
const digitNine = 0x39;
const lowerCase = 0x20;
const letterE = 0x65;

/** Texts by which servers write what is no number of 32 bits, or that a large one may hold. */
const suspects: readonly Buffer[] = ["null", "NaN", "nan", "Infinity", "inf", "e+", "E"].map((text) =>
  Buffer.from(text),
);

/** The lists of numbers of one body, in the order in which they stand. */
export class FloatLists {
  readonly #bytes: Buffer;
  /** Of each suspect, where it stands next. */
  readonly #next: number[] = suspects.map(() => -1);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /**
   * The offset behind a list that begins with a number; -1 where it does not end, or holds what no 32-bit float does.
   * @param start offset of the opening bracket, not before that of the last list
   */
  endOf(start: number): number {
    const close = this.#bytes.indexOf(closeBracket, start);
    if (close < 0) return -1;
    return this.#isSuspicious(start, close) ? endOfFloats(this.#bytes, start) : close + 1;
  }

  #isSuspicious(start: number, end: number): boolean {
    let isSuspicious = false;
    for (const [index, suspect] of suspects.entries()) {
      let found = this.#next[index] ?? -1;
      if (found < start) {
        found = this.#bytes.indexOf(suspect, start);
        if (found < 0) found = this.#bytes.length;
        this.#next[index] = found;
      }
      isSuspicious ||= found < end;
    }
    return isSuspicious;
  }
}

/** A number of as many digits before its point is below the largest 32-bit float, which has 39. */
const safeDigits = 38;

/**
 * The offset behind a list of one or more JSON numbers, each of which a 32-bit float can hold; -1 where there is none:
 * `NaN` and `Infinity`, which some servers write, are no JSON numbers.
 *
 * @param start offset of the opening bracket
 */
export function endOfFloats(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== openBracket) return -1;
  let at = start + 1;
  for (;;) {
    at = behindFloat(bytes, behindSpace(bytes, at));
    if (at < 0) return -1;
    at = behindSpace(bytes, at);
    const byte = bytes[at];
    at += 1;
    if (byte === closeBracket) return at;
    if (byte !== comma) return -1;
  }
}

function behindSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = bytes[at])
    at += 1;
  return at;
}

/** @returns the offset behind a number, or -1 */
function behindFloat(bytes: Uint8Array, start: number): number {
  const whole = bytes[start] === minus ? start + 1 : start;
  let at = behindDigits(bytes, whole);
  const digits = at - whole;
  if (digits === 0 || (digits > 1 && bytes[whole] === digitZero)) return -1;
  if (bytes[at] === point) {
    const fraction = at + 1;
    at = behindDigits(bytes, fraction);
    if (at === fraction) return -1;
  }
  let isSmall = digits <= safeDigits;
  if (((bytes[at] ?? 0) | lowerCase) === letterE) {
    const sign = bytes[at + 1];
    const isSigned = sign === minus || sign === plus;
    const exponent = isSigned ? at + 2 : at + 1;
    at = behindDigits(bytes, exponent);
    if (at === exponent) return -1;
    isSmall &&= sign === minus;
  }
  return isSmall || isFloat(bytes, start, at) ? at : -1;
}

function behindDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte !== undefined && byte >= digitZero && byte <= digitNine; byte = bytes[at]) at += 1;
  return at;
}

function isFloat(bytes: Uint8Array, start: number, end: number): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1");
  return Number.isFinite(Math.fround(Number(text)));
}
