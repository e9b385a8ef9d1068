/** Writes the head of a request: exactly one length, nothing else that frames, and nothing that could begin a line. */
import type { SentRequest } from "./upstream.ts";

const tokenForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const valueForm = /^[\t -~\x80-\xff]*$/;
const pathForm = /^\/[!-~]*$/;

/** A header or a path that must not stand on the wire; the message names it and holds no value. */
export class RequestSyntaxError extends Error {
  readonly code = "REQUEST_SYNTAX";
}

/** Lists of headers that passed: those of a channel are one object for all its requests. */
const checkedNames = new Set<string>();
const checkedNamesMax = 1_000;

/** Lines of lists that many requests have in common. */
const fixedLines = new WeakMap<readonly string[], string>();

/**
 * @param host of the `Host` line, valid by construction
 * @returns Latin-1 text up to the empty line
 * @throws RequestSyntaxError
 */
export function requestHead(
  host: string,
  { method, path, fixedHeaders, headers, body }: Omit<SentRequest, "connectTimeoutMs">,
): string {
  if (!pathForm.test(path)) throw new RequestSyntaxError("the path of a request is not valid");
  const start = `${method ?? "POST"} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  const fixed = fixedHeaders === undefined ? "" : linesOfFixed(fixedHeaders);
  return `${start}${fixed}${linesOf(headers)}content-length: ${body.length}\r\n\r\n`;
}

function linesOfFixed(headers: readonly string[]): string {
  let lines = fixedLines.get(headers);
  if (lines === undefined) {
    lines = linesOf(headers);
    fixedLines.set(headers, lines);
  }
  return lines;
}

/** @param headers names and values in turn, each name once, framing and `host` not among them */
function linesOf(headers: readonly string[]): string {
  let lines = "";
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? "";
    const value = headers[index + 1] ?? "";
    if (!checkedNames.has(name)) checkName(name);
    if (!valueForm.test(value)) throw new RequestSyntaxError(`the value of the header '${name}' is not valid`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

const framingNames = new Set(["host", "connection", "content-length", "transfer-encoding", "upgrade", "expect", "te"]);

function checkName(name: string): void {
  if (!tokenForm.test(name)) throw new RequestSyntaxError("the name of a header is not valid");
  if (framingNames.has(name.toLowerCase())) throw new RequestSyntaxError(`the header '${name}' frames the message`);
  if (checkedNames.size >= checkedNamesMax) checkedNames.clear();
  checkedNames.add(name);
}
