/** WebSocket frames byte by byte (RFC 6455 section 5.2), also such as no library would send. */

import { RawClient } from "#test/support/raw-client";
import { rawKey } from "#test/support/resilience/manifests";

export interface FrameOptions {
  readonly opcode?: number;
  readonly isFinal?: boolean;
  /** RSV1 to RSV3, as 4, 2 and 1. */
  readonly reserved?: number;
  readonly isMasked?: boolean;
  /** What the frame says its payload is long; its real length unless given. */
  readonly declared?: bigint;
  /** Bytes of the extended length; the fewest that hold it unless given. */
  readonly lengthBytes?: 2 | 8;
}

/** Text from a client, unless told otherwise. */
export function frame(payload: Buffer | string, options: FrameOptions = {}): Buffer {
  const { opcode = 1, isFinal = true, reserved = 0, isMasked = true } = options;
  const bytes = Buffer.from(payload);
  const length = options.declared ?? BigInt(bytes.length);
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const flag = isMasked ? 0x80 : 0;
  const lengthBytes = options.lengthBytes ?? (length < 126n ? 0 : length < 65_536n ? 2 : 8);
  const short = lengthBytes === 0 ? Number(length) : lengthBytes === 2 ? 126 : 127;
  const head = Buffer.concat([Buffer.from([first, flag | short]), bigEndian(length).subarray(8 - lengthBytes)]);
  if (!isMasked) return Buffer.concat([head, bytes]);
  const mask = Buffer.from([1, 2, 3, 4]);
  return Buffer.concat([head, mask, bytes.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}

function bigEndian(length: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(length);
  return bytes;
}

/** The request that opens a session, as it is sent. */
export function handshakeText(target = "/v1/realtime?model=talk", key = "main"): string {
  return [
    `GET ${target} HTTP/1.1`,
    "Host: x",
    `Authorization: Bearer ${rawKey(key)}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    "",
    "",
  ].join("\r\n");
}

/** A client whose handshake was accepted and which sends frames as bytes. */
export async function rawRealtime(port: number, key?: string): Promise<RawClient> {
  const client = await RawClient.connect({ port });
  client.write(handshakeText(undefined, key));
  await client.readUntil("the handshake", (received) => received.includes("session.created"));
  return client;
}

/** The code of the close frame among what a server sent; undefined while there is none. */
export function closeCodeOf(received: Buffer): number | undefined {
  let at = received.indexOf("\r\n\r\n") + 4;
  while (at + 2 <= received.length) {
    const opcode = (received[at] ?? 0) & 0x0f;
    const short = (received[at + 1] ?? 0) & 0x7f;
    const [length, headLength] =
      short < 126
        ? [short, 2]
        : short === 126
          ? [received.readUInt16BE(at + 2), 4]
          : [Number(received.readBigUInt64BE(at + 2)), 10];
    if (opcode === 8) return length >= 2 ? received.readUInt16BE(at + headLength) : 1005;
    at += headLength + length;
  }
  return undefined;
}
