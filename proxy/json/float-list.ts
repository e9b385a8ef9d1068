/** Checks a list of numbers where it stands: of the thousands of a vector none is built. Pure. */
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
