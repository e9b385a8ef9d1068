/**
 * Judges the head of a request: where its body ends, and whether two programs could read it in two ways.
 *
 * All framing is judged here, in one pass over the head. Called for each request by the server's connection.
 */
import type { RawHeaders } from "./header-values.ts";
import { HttpError } from "./http-error.ts";
import { lengthForm } from "./http-syntax.ts";
import type { RequestHead } from "./request-head.ts";
import type { RequestFraming } from "./request-parser.ts";

/** What a head may hold. */
export interface HeadLimits {
  readonly headerCountMax: number;
}

const noBody: RequestFraming = { kind: "none" };
const chunked: RequestFraming = { kind: "chunked" };

/**
 * Refuses heads that two programs could read in two ways. Credentials are not judged here.
 * @returns where the body ends
 * @throws HttpError `HEAD_TOO_LARGE` (count), `AMBIGUOUS_FRAMING`, `UNKNOWN_EXPECTATION`, `UNSERVED_METHOD`
 */
export function checkRequestHead(
  { method, version, headers }: Pick<RequestHead, "method" | "version" | "headers">,
  limits: HeadLimits,
): RequestFraming {
  // What follows it is no HTTP.
  if (method === "CONNECT") throw new HttpError("UNSERVED_METHOD", "CONNECT is not served here.");
  if (headers.length > 2 * limits.headerCountMax) {
    throw new HttpError("HEAD_TOO_LARGE", `The request has more than ${limits.headerCountMax} headers.`);
  }
  const fields = readFramingFields(headers);
  checkHost(fields.hosts, fields.host, version);
  const framing = framingOf(fields, version);
  // Some hops take an underscore for a dash, and would frame the body by a field that is none here.
  if (fields.hasUnderscore) throw badFraming("A framing header is spelt with an underscore.");
  if (fields.expectations > 0) {
    const isContinue = fields.expectations === 1 && fields.expectation.toLowerCase() === "100-continue";
    if (!isContinue) throw new HttpError("UNKNOWN_EXPECTATION", "'Expect' must be '100-continue'.");
  }
  return framing;
}

/** One length or one coding, and nothing that another program could take for either (RFC 9112 section 6). */
function framingOf(
  { codings, coding, lengths, length }: FramingFields,
  version: RequestHead["version"],
): RequestFraming {
  if (lengths > 1) throw badFraming("'Content-Length' is given twice.");
  if (codings > 0) {
    const isChunked = codings === 1 && coding.toLowerCase() === "chunked" && version !== "1.0";
    if (!isChunked) throw badFraming("'Transfer-Encoding' must be 'chunked', once, over HTTP/1.1.");
    if (lengths > 0) throw badFraming("'Content-Length' and 'Transfer-Encoding' exclude each other.");
    return chunked;
  }
  if (lengths === 0) return noBody;
  if (!lengthForm.test(length)) throw badFraming("'Content-Length' must be a whole number.");
  return { kind: "length", bytes: Number(length) };
}

/** How often each field that frames a request stands there, and its last value. */
interface FramingFields {
  hosts: number;
  host: string;
  codings: number;
  coding: string;
  lengths: number;
  length: string;
  expectations: number;
  expectation: string;
  hasUnderscore: boolean;
}

/** One pass over the head; most names are told apart by their length, without lowering any. */
function readFramingFields(headers: RawHeaders): FramingFields {
  const fields: FramingFields = {
    hosts: 0,
    host: "",
    codings: 0,
    coding: "",
    lengths: 0,
    length: "",
    expectations: 0,
    expectation: "",
    hasUnderscore: false,
  };
  for (let index = 0; index < headers.length; index += 2) {
    const field = headers[index] ?? "";
    const value = headers[index + 1] ?? "";
    switch (field.length) {
      case "host".length:
        if (field.toLowerCase() !== "host") break;
        fields.hosts += 1;
        fields.host = value;
        break;
      case "expect".length:
        if (field.toLowerCase() !== "expect") break;
        fields.expectations += 1;
        fields.expectation = value;
        break;
      case "content-length".length: {
        const name = field.toLowerCase();
        if (name === "content_length") fields.hasUnderscore = true;
        if (name !== "content-length") break;
        fields.lengths += 1;
        fields.length = value;
        break;
      }
      case "transfer-encoding".length: {
        const name = field.toLowerCase();
        if (name === "transfer_encoding") fields.hasUnderscore = true;
        if (name !== "transfer-encoding") break;
        fields.codings += 1;
        fields.coding = value;
        break;
      }
    }
  }
  return fields;
}

/** A name, an IPv4 or a bracketed IPv6 address, and a port: what no two hops can read differently. */
const hostForm = /^(?:[A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?$/;

/** The value chooses nothing here, but a hop before this one may have chosen by it (RFC 9112 section 3.2). */
function checkHost(count: number, host: string, version: RequestHead["version"]): void {
  if (count === 0) {
    if (version === "1.0") return;
    throw badFraming("'Host' is missing.");
  }
  // Some hops keep the first, others the last.
  if (count > 1) throw badFraming("'Host' is given twice.");
  if (host === lastHost) return;
  const isValid = hostForm.test(host) && Number(/:([0-9]+)$/.exec(host)?.[1] ?? 0) <= 65_535;
  if (!isValid) throw badFraming("'Host' must be a name or an address and perhaps a port.");
  lastHost = host;
}

/** The last one that was fine: most requests carry the same. */
let lastHost = "";

function badFraming(message: string): HttpError {
  return new HttpError("AMBIGUOUS_FRAMING", message);
}
