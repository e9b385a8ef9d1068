/**
 * Reads the head of a request strictly: what two programs could read in two ways is refused, never repaired (RFC 9112
 * sections 2 to 5; RELIABILITY.md D1). Pure.
 *
 * The whole head is judged by one expression before any part of it is used: one space between method, target and version,
 * every line ends in CR LF, names are tokens that the colon follows at once, no line is folded, no value holds a control
 * character but the tab. What the fields mean is judged by `http/header-rules.ts`.
 */
import { HttpError } from "./http-error.ts";
import { keepsConnection, trimmedValue } from "./http-syntax.ts";

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

const wholeHead =
  /^[A-Z-]+ (?:\/[!-~]*|\*|[A-Za-z][A-Za-z0-9+.-]*:[!-~]*|(?:[0-9.]+|\[[0-9A-Fa-f:.]+\]):\d+) HTTP\/1\.[01]\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)*\r\n$/;

/**
 * @param head request line to empty line, both included, as Latin-1 text
 * @throws HttpError
 */
export function readRequestHead(head: string): RequestHead {
  if (!wholeHead.test(head)) throw new HttpError("HTTP_SYNTAX", "the head of the request is no valid HTTP/1");
  const lineEnd = head.indexOf("\r\n");
  const methodEnd = head.indexOf(" ");
  const targetEnd = head.indexOf(" ", methodEnd + 1);
  const headers: string[] = [];
  let connection: string | undefined;
  let from = lineEnd + 2;
  for (let end = head.indexOf("\r\n", from); end > from; end = head.indexOf("\r\n", from)) {
    const colon = head.indexOf(":", from);
    const name = head.slice(from, colon);
    const value = trimmedValue(head, colon + 1, end);
    headers.push(name, value);
    from = end + 2;
    if (name.length === "connection".length && name.toLowerCase() === "connection") {
      connection = connection === undefined ? value : `${connection},${value}`;
    }
  }
  const isOld = head.charCodeAt(lineEnd - 1) === 0x30;
  return {
    method: head.slice(0, methodEnd),
    target: head.slice(methodEnd + 1, targetEnd),
    version: isOld ? "1.0" : "1.1",
    headers,
    keepsAlive: !isOld && keepsConnection(connection, isOld),
  };
}

/** Line ends that are none, and control characters: such a head is never whole, or never valid. */
const brokenText = /[^\r]\n|\r[^\n]|[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/**
 * Whether a head that is not whole can never become one: a client that speaks something else is told so at once.
 * @param text the part that is new, with the one character before it
 * @param isStart nothing stands before it
 */
export function isBrokenHead(text: string, isStart: boolean): boolean {
  return (isStart && text.charCodeAt(0) === 0x0a) || brokenText.test(text);
}
