/** Unpacks an encoded body within a cap: a bomb is refused at the first byte too many, not after it went off. */
import { promisify } from "node:util";
import { brotliDecompress, gunzip, type InputType, inflate, zstdDecompress } from "node:zlib";
import { GatewayError } from "../errors.ts";
import type { ContentEncoding } from "./content-rules.ts";

/** With `info`, zlib tells how much of its input it used; what follows the end of the data shows only there. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}
type Inflater = (input: InputType, options: { maxOutputLength: number; info: true }) => Promise<unknown>;

const inflaters: Readonly<Record<Exclude<ContentEncoding, "identity">, Inflater>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
};

/**
 * @param bytesMax most bytes of the result
 * @throws GatewayError `body_too_large`, `invalid_json` (corrupt, cut short or followed by other bytes)
 */
export async function inflateBody(
  packed: Buffer,
  encoding: Exclude<ContentEncoding, "identity">,
  bytesMax: number,
): Promise<Buffer> {
  let result: unknown;
  try {
    result = await inflaters[encoding](packed, { maxOutputLength: bytesMax, info: true });
  } catch (cause) {
    if (isTooLarge(cause))
      throw new GatewayError("body_too_large", `The unpacked body is larger than ${bytesMax} bytes.`);
    throw corrupt(encoding, cause);
  }
  if (!isInflated(result) || result.engine.bytesWritten !== packed.length) throw corrupt(encoding, undefined);
  return result.buffer;
}

function corrupt(encoding: string, cause: unknown): GatewayError {
  return new GatewayError("invalid_json", `The body is not exactly one whole '${encoding}' stream.`, { cause });
}

function isTooLarge(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE";
}

function isInflated(result: unknown): result is Inflated {
  return typeof result === "object" && result !== null && "buffer" in result && "engine" in result;
}
