/**
 * Judges the head of a request: where its body ends, and whether two programs could read it in two ways.
 *
 * All framing is judged here, before anything else reads the head. Called for each request by the server's connection.
 */
import { isNamed } from "./header-values.ts";
import { HttpError } from "./http-error.ts";
import { ambiguous, declaredFraming, type RequestFraming } from "./message-framing.ts";
import type { RequestHead } from "./request-head.ts";

/** What a head may hold. */
export interface HeadLimits {
  readonly headerCountMax: number;
}

const noBody: RequestFraming = { kind: "none" };

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
  let hosts = 0;
  let host = "";
  let expectations = 0;
  let expectation = "";
  let hasUnderscore = false;
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? "";
    // Most names are told apart by their length, without lowering any.
    switch (name.length) {
      case "host".length:
        if (!isNamed(name, "host")) break;
        hosts += 1;
        host = headers[index + 1] ?? "";
        break;
      case "expect".length:
        if (!isNamed(name, "expect")) break;
        expectations += 1;
        expectation = headers[index + 1] ?? "";
        break;
      case "content_length".length:
        hasUnderscore ||= name.includes("_") && isNamed(name, "content_length");
        break;
      case "transfer_encoding".length:
        hasUnderscore ||= name.includes("_") && isNamed(name, "transfer_encoding");
        break;
    }
  }
  checkHost(hosts, host, version);
  const framing = declaredFraming(headers, version === "1.0") ?? noBody;
  // Some hops read an underscore as a dash, and would frame the body by a field that is none here.
  if (hasUnderscore) throw ambiguous("A framing header is spelt with an underscore.");
  const isContinue = expectations === 1 && expectation.toLowerCase() === "100-continue";
  if (expectations > 0 && !isContinue) throw new HttpError("UNKNOWN_EXPECTATION", "'Expect' must be '100-continue'.");
  return framing;
}

/** A name, an IPv4 or a bracketed IPv6 address, and a port: what no two hops can read differently. */
const hostForm = /^(?:[A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?$/;
/** The last one that was valid: most requests carry the same. */
let lastHost = "";

/** The value chooses nothing here, but a hop before this one may have chosen by it (RFC 9112 section 3.2). */
function checkHost(count: number, host: string, version: RequestHead["version"]): void {
  if (count === 0) {
    if (version === "1.0") return;
    throw ambiguous("'Host' is missing.");
  }
  // Some hops keep the first, others the last.
  if (count > 1) throw ambiguous("'Host' is given twice.");
  if (host === lastHost) return;
  const isValid = hostForm.test(host) && Number(/:([0-9]+)$/.exec(host)?.[1] ?? 0) <= 65_535;
  if (!isValid) throw ambiguous("'Host' must be a name or an address and perhaps a port.");
  lastHost = host;
}
