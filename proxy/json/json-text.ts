/**
 * Reads and writes JSON without losing digits: tool arguments and schemas may hold integers beyond 2^53, whose source
 * text must survive (docs/design/translation.md 5.4).
 *
 * Bodies without a run of 16 digits, which is nearly all, go through the plain parser.
 */
import { isTooDeep } from "./json-depth.ts";
import { isObject, type JsonObject } from "./json-value.ts";

const manyDigits = 16;
const overflowCharactersMax = 256 * 1024;
/** More digits than any library writes for a double: those need 17 at most. */
const beyondDoubles = /^-?(?:\d{16,}$|[0.]*[1-9](?:\.?\d){17})/;

/** @throws SyntaxError when the text is no JSON, or has more levels than anybody needs */
export function parseJsonText(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError("nested too deeply");
  return holdsLongNumbers(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

/** Whether a plain parser might change a number of the text. */
export function holdsLongNumbers(text: string): boolean {
  return hasManyDigits(text) || mayOverflow(text);
}

/** Among so many characters in a row one has a place that the number divides: only those are looked at. */
function hasManyDigits(text: string): boolean {
  for (let at = manyDigits - 1; at < text.length; at += manyDigits) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let from = at;
    while (from > 0 && isDigit(text.charCodeAt(from - 1))) from -= 1;
    let to = at + 1;
    while (to < text.length && isDigit(text.charCodeAt(to))) to += 1;
    if (to - from >= manyDigits) return true;
  }
  return false;
}

/** What is read for it would become null. Texts of files are not searched: no number that anybody means stands there. */
function mayOverflow(text: string): boolean {
  return text.length <= overflowCharactersMax && /\de\+?0*[1-9]\d\d/i.test(text);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function keepDigits(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined || String(value) === context.source) return value;
  // Only what a double cannot hold: 1.0 or 1e3 mean the same as 1 and 1000, and 0.69999999999999996 the same as 0.7.
  const isBeyond = !Number.isFinite(value) || beyondDoubles.test(context.source);
  return isBeyond ? rawJson(context.source) : value;
}

/** A value that is written as it stands. Typed by hand until the standard library's types know it. */
function rawJson(source: string): unknown {
  const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };
  return rawJSON(source);
}

/**
 * A value as JSON that every reader takes: half of a surrogate pair, which models write at a cut and which only an
 * escape can carry, becomes the replacement character.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes("\\ud")) return text;
  // Each escape is looked at as one, so that the text of an escape stays text.
  return text.replace(/\\(?:u[0-9a-f]{4}|.)/g, (written) => (written.startsWith("\\ud") ? "\\ufffd" : written));
}

/** The arguments of a call as an object; undefined when the text is none (`""` is `{}`). */
export function argumentsObject(text: string): JsonObject | undefined {
  if (text.trim() === "") return {};
  try {
    const value = parseJsonText(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const openBrace = 0x7b;

/** Whether a body is one object and no stream, whatever its headers say: a byte order mark and blanks may come first. */
export function startsObject(body: Buffer): boolean {
  for (const byte of body)
    if (byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf) return byte === openBrace;
  return false;
}
