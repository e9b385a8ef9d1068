/** Writes PNG files of two colours: one bit a pixel, which compresses fast and well. */
import { crc32, deflateSync } from "node:zlib";

export type Colour = readonly [red: number, green: number, blue: number];

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Row after row, one entry a pixel: 1 where there is ink, else 0. */
  readonly inked: Uint8Array;
  readonly ground: Colour;
  readonly ink: Colour;
  /** Whether the ground is seen through. */
  readonly isTransparent: boolean;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** @see https://www.w3.org/TR/png-3/ 5.2 to 5.6 */
export function encodePng({ width, height, inked, ground, ink, isTransparent }: Pixels): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // One bit a pixel, indexed; compression, filters and interlacing have one usual value.
  header.set([1, 3, 0, 0, 0], 8);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from([...ground, ...ink])),
    ...(isTransparent ? [chunk("tRNS", Buffer.from([0]))] : []),
    chunk("IDAT", deflateSync(packRows(inked, width, height))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Eight pixels a byte, the first in the highest bit; each row begins with the number of its filter: 0, none. */
function packRows(inked: Uint8Array, width: number, height: number): Buffer {
  const rowBytes = 1 + Math.ceil(width / 8);
  const rows = Buffer.alloc(height * rowBytes);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      if (inked[y * width + x] === 1) {
        const at = y * rowBytes + 1 + (x >> 3);
        rows[at] = (rows[at] ?? 0) | (0x80 >> (x & 7));
      }
  return rows;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}
