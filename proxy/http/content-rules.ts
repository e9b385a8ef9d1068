/**
 * Checks the headers that describe a JSON body: media type and encoding, from closed tables
 * (docs/design/reliability.md E6 and E7).
 */
import { GatewayError } from "#proxy/errors";
import { headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";

export type ContentEncoding = "identity" | "gzip" | "deflate" | "br" | "zstd";

const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*(?:"utf-8"|utf-8)[ \t]*)?$/i;

/** @throws GatewayError `unsupported_media_type` unless the type is given once and is JSON in UTF-8 */
export function checkJsonContentType(headers: RawHeaders): void {
  const types = headerValues(headers, "content-type");
  const [type] = types;
  // The two spellings of official clients need no pattern.
  if (types.length === 1 && (type === "application/json" || type === "application/json; charset=utf-8")) return;
  if (types.length === 1 && type !== undefined && jsonType.test(type)) return;
  throw new GatewayError(
    "unsupported_media_type",
    "'Content-Type' must be 'application/json', once; its only parameter may be charset=utf-8.",
  );
}

const anyType = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}[ \t]*(?:;[ -~]{0,200})?$/;

/** Whether a value is one media type, with parameters or without. */
export function isContentType(value: string): boolean {
  return anyType.test(value);
}

/** For what is passed on as it is. @throws GatewayError `unsupported_media_type` for a type that is none, or given twice */
export function checkAnyContentType(headers: RawHeaders): void {
  const types = headerValues(headers, "content-type");
  if (types.length === 0 || (types.length === 1 && isContentType(types[0] ?? ""))) return;
  throw new GatewayError("unsupported_media_type", "'Content-Type' must be one media type, once.");
}

/** @throws GatewayError `unsupported_media_type` for unknown and for stacked encodings */
export function readContentEncoding(headers: RawHeaders): ContentEncoding {
  const encodings = headerValues(headers, "content-encoding");
  if (encodings.length === 0) return "identity";
  const encoding = encodings.length === 1 ? encodings[0]?.toLowerCase() : undefined;
  switch (encoding) {
    case "identity":
    case "gzip":
    case "deflate":
    case "br":
    case "zstd":
      return encoding;
    case "x-gzip":
      return "gzip";
    default:
      throw new GatewayError(
        "unsupported_media_type",
        "'Content-Encoding' must be one of gzip, deflate, br, zstd or identity, once.",
      );
  }
}
