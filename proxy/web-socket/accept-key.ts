/** The one proof of a WebSocket's handshake: a server that read the key as such (RFC 6455 sections 1.3 and 4.2.2). */
import { createHash } from "node:crypto";

const protocolId = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** @param key `Sec-WebSocket-Key` @returns `Sec-WebSocket-Accept` */
export function acceptOf(key: string): string {
  return createHash("sha1").update(`${key}${protocolId}`).digest("base64");
}
