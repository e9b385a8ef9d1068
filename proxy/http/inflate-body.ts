/**
 * Decompresses an encoded body within two caps. A bomb is refused at the first piece too many, not after it went off,
 * and decompressed pieces count in flight as they come, so that many compressed bodies at once hold no more than plain
 * ones may.
 */
import type { Transform } from "node:stream";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  type Zlib,
} from "node:zlib";
import { GatewayError } from "#proxy/errors";
import type { ContentEncoding } from "./content-rules.ts";
import type { ByteCount } from "./in-flight-bytes.ts";

type Inflater = Transform & Zlib;

/** No frame of this coding may ask for a larger window (RFC 9659), which is memory that nothing here counts. */
const zstdWindowLogMax = 23;

const inflaters: Readonly<Record<Exclude<ContentEncoding, "identity">, () => Inflater>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax } }),
};

/**
 * @param bytesMax most bytes of the result
 * @returns the body, whose bytes are taken from those in flight: the caller releases them. Nothing is after a throw
 * @throws GatewayError `body_too_large`, `overloaded`, `invalid_json` (corrupt, cut short or followed by other bytes)
 */
export async function inflateBody(
  packed: Buffer,
  encoding: Exclude<ContentEncoding, "identity">,
  bytesMax: number,
  inFlight: ByteCount,
): Promise<Buffer> {
  const inflater = inflaters[encoding]();
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    inflater.end(packed);
    for await (const piece of inflater) {
      // Leaving the loop ends the inflater.
      if (!(piece instanceof Buffer)) throw new TypeError("an inflater gives bytes");
      if (bytes + piece.length > bytesMax)
        throw new GatewayError("body_too_large", `The unpacked body is larger than ${bytesMax} bytes.`);
      inFlight.acquire(piece.length);
      bytes += piece.length;
      pieces.push(piece);
    }
    // What follows the end of the data shows only in how much of it was used.
    if (inflater.bytesWritten !== packed.length) throw corrupt(encoding, undefined);
    return Buffer.concat(pieces, bytes);
  } catch (cause) {
    inFlight.release(bytes);
    throw cause instanceof GatewayError ? cause : corrupt(encoding, cause);
  }
}

function corrupt(encoding: string, cause: unknown): GatewayError {
  return new GatewayError("invalid_json", `The body is not exactly one whole '${encoding}' stream.`, { cause });
}
