/**
 * Whether the connection may serve another message (RFC 9112 section 9.3).
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
