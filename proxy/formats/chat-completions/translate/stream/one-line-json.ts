/**
 * Writes JSON in one line for all clients: it escapes characters that are legal in JSON and in events, but at which the
 * libraries of some clients end a line.
 */

const lineEnds = /[\u0085\u2028\u2029]/;
const allLineEnds = new RegExp(lineEnds, "g");

/** @param value a text, null, or an object without members that JSON does not know */
export function oneLineJson(value: object | string | null): string {
  const json = JSON.stringify(value);
  if (!lineEnds.test(json)) return json;
  return json.replace(allLineEnds, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
