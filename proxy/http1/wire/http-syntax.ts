/** What requests and answers have in common on the wire of HTTP/1 (RFC 9112), on both sides of the gateway. Pure. */

/** `Content-Length`: beyond fifteen digits no number is exact, and no message is that long. */
export const lengthForm = /^\d{1,15}$/;

/** Without the space and tabs around it; `String.trim` would take more. */
export function trimmedValue(head: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(head.charCodeAt(start))) start += 1;
  while (end > start && isBlank(head.charCodeAt(end - 1))) end -= 1;
  return head.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/**
 * Whether the connection may serve another request (RFC 9112 section 9.3).
 * @param connection the values of `Connection`, joined; undefined where there is none
 * @param isOld HTTP/1.0, which keeps a connection only where it says so
 */
export function keepsConnection(connection: string | undefined, isOld: boolean): boolean {
  if (connection === undefined || connection === "keep-alive") return !isOld || connection !== undefined;
  const options = connection
    .toLowerCase()
    .split(",")
    .map((option) => option.trim());
  if (options.includes("close") || options.includes("upgrade")) return false;
  return !isOld || options.includes("keep-alive");
}
