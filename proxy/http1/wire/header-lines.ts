/**
 * Writes header fields so that none can begin a line of its own or frame the message
 * (docs/design/reliability.md D3, D7).
 */

const tokenForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const valueForm = /^[\t -~\x80-\xff]*$/;
const framingNames = new Set(["host", "connection", "content-length", "transfer-encoding", "upgrade", "expect", "te"]);

/** A header or a path that must not stand on the wire; the message names it and holds no value. */
export class HeaderSyntaxError extends Error {
  readonly code = "HEADER_SYNTAX";
}

/** Names that passed: there are few, and they come again with each message. */
const checkedNames = new Set<string>();
const checkedNamesMax = 1_000;

/** Lines of lists that many messages have in common. */
const fixedLines = new WeakMap<readonly string[], string>();

/**
 * @param headers names and values in turn, each name once, what frames a message and `host` not among them
 * @returns Latin-1 text, each line with its end
 * @throws HeaderSyntaxError
 */
export function headerLines(headers: readonly string[]): string {
  let lines = "";
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? "";
    const value = headers[index + 1] ?? "";
    if (!checkedNames.has(name)) checkName(name);
    if (!valueForm.test(value)) throw new HeaderSyntaxError(`the value of the header '${name}' is not valid`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** The same for a list that is one object for many messages: looked at once. */
export function fixedHeaderLines(headers: readonly string[]): string {
  let lines = fixedLines.get(headers);
  if (lines === undefined) {
    lines = headerLines(headers);
    fixedLines.set(headers, lines);
  }
  return lines;
}

function checkName(name: string): void {
  if (!tokenForm.test(name)) throw new HeaderSyntaxError("the name of a header is not valid");
  if (framingNames.has(name.toLowerCase())) throw new HeaderSyntaxError(`the header '${name}' frames the message`);
  if (checkedNames.size >= checkedNamesMax) checkedNames.clear();
  checkedNames.add(name);
}
