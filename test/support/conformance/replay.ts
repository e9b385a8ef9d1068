/** Recorded replies as bytes on the wire, cut into chunks of any size. */
import type { Recorded } from "#test/support/digest/recorded";
import type { ScriptedReply } from "#test/support/fake-upstream";

/** How a body is cut: the size of the next piece. */
export type PieceSize = () => number;

/** The ways in which every recorded stream is cut; sizes of random pieces are the same in every run. */
export const cuts: readonly { readonly name: string; readonly pieces: (seed: number) => PieceSize }[] = [
  { name: "whole", pieces: () => () => Number.MAX_SAFE_INTEGER },
  { name: "in pieces of 7 bytes", pieces: () => () => 7 },
  { name: "in pieces of 1 byte", pieces: () => () => 1 },
  { name: "in random pieces", pieces: randomSizes },
];

function randomSizes(seed: number): PieceSize {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return 1 + Math.floor((state / 2_147_483_648) * 400);
  };
}

/** What frames a message belongs to one hop and was not recorded as it was on the wire. */
const framing = new Set(["content-length", "transfer-encoding", "content-encoding", "connection"]);

/**
 * The reply with its status and headers, each piece an HTTP chunk of its own: the gateway's parser hands them on one by
 * one however the kernel joins packets, so a body of 1-byte pieces costs one write.
 */
export function replay(reply: Recorded, size: PieceSize): ScriptedReply {
  const lines = Object.entries(reply.headers)
    .filter(([name]) => !framing.has(name.toLowerCase()))
    .map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${reply.httpStatus} Recorded\r\n${lines.join("")}transfer-encoding: chunked\r\nconnection: close\r\n\r\n`;
  return { raw: Buffer.concat([Buffer.from(head, "latin1"), chunked(reply.bytes(), size)]) };
}

function chunked(body: Buffer, size: PieceSize): Buffer {
  const parts: Buffer[] = [];
  for (let start = 0; start < body.length; ) {
    const piece = body.subarray(start, Math.min(body.length, start + Math.max(1, size())));
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, lineEnd);
    start += piece.length;
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

const lineEnd = Buffer.from("\r\n");
