/**
 * What the heads of requests and responses have in common (RFC 9112 sections 2 to 5). Pure.
 *
 * A whole head is judged by one expression before any part of it is used: every line ends in CR LF, names are tokens that
 * the colon follows at once, no line is folded, no value holds a control character but the tab.
 */
import { isNamed } from "./header-values.ts";

/** The lines of the fields and the empty line behind them. */
const fieldLines = /(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)*\r\n/;

/** @param startLine without its line end */
export function wholeHead(startLine: RegExp): RegExp {
  return new RegExp(`^${startLine.source}\\r\\n${fieldLines.source}$`);
}

/**
 * Reads the fields of a head that is whole.
 *
 * @param from the end of the start line
 * @param headers gets names and values in turn
 * @returns the values of `Connection`, joined; undefined where there is none
 */
export function readFields(
  head: string,
  from: number,
  names: "as-sent" | "lower-case",
  headers: string[],
): string | undefined {
  let connection: string | undefined;
  let start = from + 2;
  for (let end = head.indexOf("\r\n", start); end > start; end = head.indexOf("\r\n", start)) {
    const colon = head.indexOf(":", start);
    const sent = head.slice(start, colon);
    const name = names === "as-sent" ? sent : sent.toLowerCase();
    const value = trimmedValue(head, colon + 1, end);
    headers.push(name, value);
    start = end + 2;
    if (isNamed(name, "connection")) connection = connection === undefined ? value : `${connection},${value}`;
  }
  return connection;
}

/** Without the spaces and tabs around it; `String.trim` would remove more. */
function trimmedValue(head: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(head.charCodeAt(start))) start += 1;
  while (end > start && isBlank(head.charCodeAt(end - 1))) end -= 1;
  return head.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Line ends that are none, and control characters: such a head is never whole, or never valid. */
const brokenText = /[^\r]\n|\r[^\n]|[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/**
 * Whether a head that is not whole can never become one: a peer that speaks something else is refused at once.
 * @param text the part that is new, with the one character before it
 * @param isStart nothing comes before it
 */
export function isBrokenHead(text: string, isStart: boolean): boolean {
  return (isStart && text.charCodeAt(0) === 0x0a) || brokenText.test(text);
}
