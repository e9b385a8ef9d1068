/** Writes the head of a request: exactly one length, nothing else that frames, and nothing that could begin a line. */
import { fixedHeaderLines, HeaderSyntaxError, headerLines } from "#proxy/http1/wire/header-lines";
import type { SentRequest } from "./upstream.ts";

const pathForm = /^\/[!-~]*$/;

/**
 * @param host of the `Host` line, valid by construction
 * @returns Latin-1 text up to the empty line
 * @throws HeaderSyntaxError
 */
export function writeRequestHead(
  host: string,
  { method, path, fixedHeaders, headers, body }: Omit<SentRequest, "connectTimeoutMs">,
): string {
  if (!pathForm.test(path)) throw new HeaderSyntaxError("the path of a request is not valid");
  const start = `${method ?? "POST"} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  const fixed = fixedHeaders === undefined ? "" : fixedHeaderLines(fixedHeaders);
  return `${start}${fixed}${headerLines(headers)}content-length: ${body.length}\r\n\r\n`;
}
