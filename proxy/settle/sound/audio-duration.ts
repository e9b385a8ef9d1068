/** Reads the length of audio that an upstream or a file tells (PURE): its number becomes a charge. */

/** No file and no text that is taken makes more; one lie must not empty an account (docs/design/reliability.md H5). */
const secondsMax = 24 * 60 * 60;

/** @returns whole milliseconds, rounded up, a day at most; undefined for what is no length of time */
export function audioMillisecondsOf(seconds: unknown): number | undefined {
  if (typeof seconds !== "number" || !(seconds >= 0)) return undefined;
  // 8.47 is 8,470.000000000001 thousandths in binary numbers: a millionth of a millisecond is no time.
  return Math.max(0, Math.ceil(Math.min(seconds, secondsMax) * 1_000 - 1e-6));
}
