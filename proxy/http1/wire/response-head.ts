/**
 * Reads the head of a response strictly, and tells where its body ends: what two programs could read in two ways is
 * refused, never repaired (RFC 9112 sections 4 to 6; docs/design/reliability.md G4). Pure.
 */
import { HttpError } from "./http-error.ts";
import { keepsConnection } from "./keeps-connection.ts";
import { declaredFraming, type MessageFraming } from "./message-framing.ts";
import { readFields, wholeHead } from "./message-head.ts";
import type { MessageKind } from "./message-parser.ts";

export interface ResponseHead {
  readonly status: number;
  /** Names in lower case and values in turn. */
  readonly headers: readonly string[];
  readonly framing: MessageFraming;
  /** Whether the connection may serve another request after this response. */
  readonly keepsAlive: boolean;
  /** Milliseconds that the server promises to keep an idle connection; undefined where it says nothing. */
  readonly keepAliveMs: number | undefined;
}

const responseHead = wholeHead(/HTTP\/1\.[01] [1-9]\d\d(?: [\t -~\x80-\xff]*)?/);
const keepAliveForm = /(?:^|[,;\s])timeout=(\d{1,6})(?:$|[,;\s])/i;

/** What a client reads. */
export const responseKind: MessageKind<ResponseHead> = {
  name: "response",
  startsWith: "HTTP/1.",
  allowsEmptyLines: false,
  asideBytesMax: 16 * 1024,
  readHead: readResponseHead,
};

const noBody: MessageFraming = { kind: "none" };
const interim: MessageFraming = { kind: "interim" };
const untilClose: MessageFraming = { kind: "until-close" };

function readResponseHead(head: string): ResponseHead {
  if (!responseHead.test(head)) throw new HttpError("HTTP_SYNTAX", "the head of the response is no valid HTTP/1");
  const isOld = head.charCodeAt(7) === 0x30;
  const status = Number(head.slice(9, 12));
  const headers: string[] = [];
  const connection = readFields(head, head.indexOf("\r\n"), "lower-case", headers);
  const framing = framingOf(status, declaredFraming(headers, isOld));
  const keepsAlive = framing.kind !== "until-close" && keepsConnection(connection, isOld);
  return { status, headers, framing, keepsAlive, keepAliveMs: keepAliveOf(headers) };
}

/** No byte follows 1xx, 204 and 304, whatever they declare (RFC 9112 section 6.3). */
function framingOf(status: number, declared: MessageFraming | undefined): MessageFraming {
  if (status < 200) return interim;
  if (status === 204 || status === 304) return noBody;
  return declared ?? untilClose;
}

/** Of the last `Keep-Alive` there is. */
function keepAliveOf(headers: readonly string[]): number | undefined {
  for (let index = headers.length - 2; index >= 0; index -= 2) {
    if (headers[index] !== "keep-alive") continue;
    const seconds = keepAliveForm.exec(headers[index + 1] ?? "")?.[1];
    return seconds === undefined ? undefined : Number(seconds) * 1_000;
  }
  return undefined;
}
