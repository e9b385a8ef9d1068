/** Where the body of a message ends: one rule for requests and responses (RFC 9112 section 6). Pure. */
import { isNamed, type RawHeaders } from "./header-values.ts";
import { HttpError } from "./http-error.ts";

/** As a head declares it. */
export type DeclaredFraming = { readonly kind: "length"; readonly bytes: number } | { readonly kind: "chunked" };

/** A request without a declared body has none. */
export type RequestFraming = DeclaredFraming | { readonly kind: "none" };

export type MessageFraming =
  | RequestFraming
  /** The body of a response ends with its connection. */
  | { readonly kind: "until-close" }
  /** An interim response (1xx): no body, and another head follows. */
  | { readonly kind: "interim" };

/** Beyond fifteen digits no number is exact, and no message is that long. */
const lengthForm = /^\d{1,15}$/;
const chunked: DeclaredFraming = { kind: "chunked" };

/**
 * One length or one coding, and nothing that another program could read as either.
 *
 * @returns undefined where the head declares no body
 * @throws HttpError `AMBIGUOUS_FRAMING`
 */
export function declaredFraming(headers: RawHeaders, isOld: boolean): DeclaredFraming | undefined {
  let lengths = 0;
  let length = "";
  let codings = 0;
  let coding = "";
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? "";
    if (isNamed(name, "content-length")) {
      lengths += 1;
      length = headers[index + 1] ?? "";
    } else if (isNamed(name, "transfer-encoding")) {
      codings += 1;
      coding = headers[index + 1] ?? "";
    }
  }
  if (lengths > 1) throw ambiguous("'Content-Length' is given twice.");
  if (codings > 0) {
    const isChunked = codings === 1 && coding.toLowerCase() === "chunked" && !isOld;
    if (!isChunked) throw ambiguous("'Transfer-Encoding' must be 'chunked', once, over HTTP/1.1.");
    if (lengths > 0) throw ambiguous("'Content-Length' and 'Transfer-Encoding' exclude each other.");
    return chunked;
  }
  if (lengths === 0) return undefined;
  if (!lengthForm.test(length)) throw ambiguous("'Content-Length' must be a whole number.");
  return { kind: "length", bytes: Number(length) };
}

/** @param message may be sent to a client */
export function ambiguous(message: string): HttpError {
  return new HttpError("AMBIGUOUS_FRAMING", message);
}
