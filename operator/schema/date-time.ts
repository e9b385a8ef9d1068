/** Checks times in the form of RFC 3339 (section 5.6), as strictly as the API server's format `date-time`. */

const pattern =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$/;

/** True for a date-time whose day exists: `Date` alone would read 30 February as 2 March. */
export function isDateTime(text: string): boolean {
  const match = pattern.exec(text);
  if (match === null) return false;
  const [, year, month, day] = match.map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
