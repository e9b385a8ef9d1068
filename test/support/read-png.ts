/** Reads PNG files of one bit a pixel, unfiltered, as the demo upstream writes them; checks their sums. */
import assert from "node:assert/strict";
import { crc32, inflateSync } from "node:zlib";

export interface ReadPng {
  readonly width: number;
  readonly height: number;
  readonly isTransparent: boolean;
  /** A line of text for each row of pixels: `#` where there is ink. */
  readonly rows: readonly string[];
}

export function readPng(bytes: Buffer): ReadPng {
  assert.equal(bytes.toString("hex", 0, 8), "89504e470d0a1a0a");
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const named = bytes.subarray(at + 4, at + 8 + length);
    assert.equal(bytes.readUInt32BE(at + 8 + length), crc32(named), "the checksum of a chunk");
    chunks.set(named.toString("latin1", 0, 4), named.subarray(4));
    at += 12 + length;
  }
  const header = chunks.get("IHDR") ?? Buffer.alloc(0);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  assert.deepEqual([...header.subarray(8)], [1, 3, 0, 0, 0]);
  const pixels = inflateSync(chunks.get("IDAT") ?? Buffer.alloc(0));
  const rowBytes = 1 + Math.ceil(width / 8);
  assert.equal(pixels.length, height * rowBytes);
  const rows = Array.from({ length: height }, (_, y) =>
    [...pixels.subarray(y * rowBytes + 1, (y + 1) * rowBytes)]
      .map((byte) => byte.toString(2).padStart(8, "0"))
      .join("")
      .slice(0, width)
      .replaceAll("0", ".")
      .replaceAll("1", "#"),
  );
  return { width, height, isTransparent: chunks.has("tRNS"), rows };
}
