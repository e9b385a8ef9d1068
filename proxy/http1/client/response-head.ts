/**
 * Reads the head of an HTTP/1 response strictly: what two programs could read in two ways is refused, never repaired
 * (RFC 9112 sections 4 to 6; RELIABILITY.md G4). Pure.
 *
 * The whole head is judged by one expression before any part of it is used: every line ends in CR LF, names are tokens
 * that the colon follows at once, no line is folded, no value holds a control character but the tab.
 */
import { HttpError } from "#proxy/http1/wire/http-error";
import { keepsConnection, lengthForm, trimmedValue } from "#proxy/http1/wire/http-syntax";

/** How the end of a body is told. */
export type BodyFraming =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "until-close" };

export interface ResponseHead {
  readonly status: number;
  /** Names in lower case and values in turn. */
  readonly headers: readonly string[];
  readonly framing: BodyFraming;
  /** Whether the connection may serve another request after this answer. */
  readonly keepsAlive: boolean;
  /** Milliseconds that the upstream promises to keep an idle connection; undefined where it says nothing. */
  readonly keepAliveMs: number | undefined;
}

const wholeHead =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t -~\x80-\xff]*)?\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)*\r\n$/;
const keepAliveForm = /(?:^|[,;\s])timeout=(\d{1,6})(?:$|[,;\s])/i;

const noBody: BodyFraming = { kind: "none" };
const chunked: BodyFraming = { kind: "chunked" };
const untilClose: BodyFraming = { kind: "until-close" };

/**
 * @param head status line to empty line, both included, as Latin-1 text
 * @throws HttpError
 */
export function readResponseHead(head: string): ResponseHead {
  if (!wholeHead.test(head)) throw new HttpError("HTTP_SYNTAX", "the head of the answer is no valid HTTP/1");
  const isOld = head.charCodeAt(7) === 0x30;
  const status = Number(head.slice(9, 12));
  const headers: string[] = [];
  let length: string | undefined;
  let coding: string | undefined;
  let connection: string | undefined;
  let keepAliveMs: number | undefined;
  let from = head.indexOf("\r\n") + 2;
  for (let end = head.indexOf("\r\n", from); end > from; end = head.indexOf("\r\n", from)) {
    const colon = head.indexOf(":", from);
    const name = head.slice(from, colon).toLowerCase();
    const value = trimmedValue(head, colon + 1, end);
    headers.push(name, value);
    from = end + 2;
    if (name === "content-length") {
      if (length !== undefined) throw new HttpError("HTTP_SYNTAX", "the length of the answer is given twice");
      length = value;
    } else if (name === "transfer-encoding") {
      if (coding !== undefined) throw new HttpError("HTTP_SYNTAX", "the coding of the answer is given twice");
      coding = value;
    } else if (name === "connection") connection = connection === undefined ? value : `${connection},${value}`;
    else if (name === "keep-alive") keepAliveMs = keepAliveOf(value);
  }
  const framing = framingOf(status, length, coding, isOld);
  const keepsAlive = framing.kind !== "until-close" && keepsConnection(connection, isOld);
  return { status, headers, framing, keepsAlive, keepAliveMs };
}

function framingOf(
  status: number,
  length: string | undefined,
  coding: string | undefined,
  isOld: boolean,
): BodyFraming {
  if (coding !== undefined) {
    if (length !== undefined) throw new HttpError("HTTP_SYNTAX", "the answer has both a length and a coding");
    if (isOld || coding.toLowerCase() !== "chunked")
      throw new HttpError("HTTP_SYNTAX", "the coding of the answer is unknown");
  }
  if (length !== undefined && !lengthForm.test(length)) throw new HttpError("HTTP_SYNTAX", "the length is no number");
  // No byte follows these, whatever they say (RFC 9112 section 6.3).
  if (status < 200 || status === 204 || status === 304) return noBody;
  if (coding !== undefined) return chunked;
  if (length === undefined) return untilClose;
  const bytes = Number(length);
  return bytes === 0 ? noBody : { kind: "length", bytes };
}

function keepAliveOf(value: string): number | undefined {
  const seconds = keepAliveForm.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}
