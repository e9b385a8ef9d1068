/**
 * Reads the head of a request strictly: what two programs could read in two ways is refused, never repaired (RFC 9112
 * sections 2 to 5; docs/design/reliability.md D1). What its fields mean is judged by `check-request-head.ts`. Pure.
 */
import { HttpError } from "./http-error.ts";
import { keepsConnection } from "./keeps-connection.ts";
import { readFields, wholeHead } from "./message-head.ts";
import type { MessageKind } from "./message-parser.ts";

export interface RequestHead {
  readonly method: string;
  /** As it came: a path, `*`, or what begins as an address or a host with its port does. */
  readonly target: string;
  readonly version: "1.0" | "1.1";
  /** Names as they came and values in turn. */
  readonly headers: readonly string[];
  /** Whether the client allows the connection another request. Over HTTP/1.0 it is not asked. */
  readonly keepsAlive: boolean;
}

/** One space between method, target and version. */
const requestHead = wholeHead(
  /[A-Z-]+ (?:\/[!-~]*|\*|[A-Za-z][A-Za-z0-9+.-]*:[!-~]*|(?:[0-9.]+|\[[0-9A-Fa-f:.]+\]):\d+) HTTP\/1\.[01]/,
);

/** What a server reads. */
export const requestKind: MessageKind<RequestHead> = {
  name: "request",
  startsWith: "",
  // Some clients end a body with an empty line more than they count (RFC 9112 section 2.2).
  allowsEmptyLines: true,
  // docs/design/reliability.md D4.
  asideBytesMax: 4 * 1024,
  readHead: readRequestHead,
};

function readRequestHead(head: string): RequestHead {
  if (!requestHead.test(head)) throw new HttpError("HTTP_SYNTAX", "the head of the request is no valid HTTP/1");
  const lineEnd = head.indexOf("\r\n");
  const methodEnd = head.indexOf(" ");
  const targetEnd = head.indexOf(" ", methodEnd + 1);
  const isOld = head.charCodeAt(lineEnd - 1) === 0x30;
  const headers: string[] = [];
  const connection = readFields(head, lineEnd, "as-sent", headers);
  return {
    method: head.slice(0, methodEnd),
    target: head.slice(methodEnd + 1, targetEnd),
    version: isOld ? "1.0" : "1.1",
    headers,
    keepsAlive: !isOld && keepsConnection(connection, isOld),
  };
}
