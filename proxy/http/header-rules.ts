/**
 * What request headers must be, and which headers cross the gateway: two allow-lists, one each way.
 *
 * No client header chooses an upstream, its credential or its framing, and no upstream header that names an account,
 * sets state or frames a body reaches a client. Whatever is on no list stays behind, unknown headers included; so does
 * what `Connection` nominates (RFC 9110 section 7.6.1).
 */
import { GatewayError } from "../errors.ts";
import { lengthForm } from "../http1/http-syntax.ts";
import type { RequestHead } from "../http1/request-head.ts";
import type { RequestFraming } from "../http1/request-parser.ts";
import type { ProxyLimits } from "../limits.ts";
import type { Protocol } from "../protocols/wire.ts";
import { headerValues, type RawHeaders } from "./header-values.ts";

const noBody: RequestFraming = { kind: "none" };
const chunked: RequestFraming = { kind: "chunked" };

/**
 * Refuses heads that two programs could read in two ways. Credentials are not judged here.
 * @returns where the body ends
 * @throws GatewayError `headers_too_large` (count), `bad_request_framing`, `expectation_failed`, `method_not_allowed`
 */
export function checkRequestHead(
  { method, version, headers }: Pick<RequestHead, "method" | "version" | "headers">,
  limits: ProxyLimits,
): RequestFraming {
  // What stands behind it is no HTTP.
  if (method === "CONNECT") {
    throw new GatewayError("method_not_allowed", "CONNECT is not served here.", { allow: "GET, POST" });
  }
  if (headers.length > 2 * limits.headerCountMax) {
    throw new GatewayError("headers_too_large", `The request has more than ${limits.headerCountMax} headers.`);
  }
  const fields = readFramingFields(headers);
  checkHost(fields.hosts, fields.host, version);
  const framing = framingOf(fields, version);
  // Some hops take an underscore for a dash, and would frame the body by a field that is none here.
  if (fields.hasUnderscore) throw badFraming("A framing header is spelt with an underscore.");
  if (fields.expectations > 0) {
    const isContinue = fields.expectations === 1 && fields.expectation.toLowerCase() === "100-continue";
    if (!isContinue) throw new GatewayError("expectation_failed", "'Expect' must be '100-continue'.");
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

function badFraming(message: string): GatewayError {
  return new GatewayError("bad_request_framing", message);
}

function badHeader(message: string): GatewayError {
  return new GatewayError("bad_request_header", `${message} Send it once, in its standard form.`);
}

const traceparent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
/** At most 32 members of visible ASCII (W3C Trace Context section 3.3). */
const tracestate = /^[ -~]{1,512}$/;
const version = /^\d{4}-\d{2}-\d{2}$/;
/** What Anthropic-style versions were before clients named any, and what the interface shows. */
export const defaultVersion = "2023-06-01";
const betaName = /^[A-Za-z0-9._-]{1,64}$/;
const betaCountMax = 32;

const noHeaders: Readonly<Record<string, string>> = Object.freeze({});

/**
 * The client's headers that go upstream in the same format, in lower case; framing, credentials and content type are the
 * forwarder's own.
 * @throws GatewayError `bad_request_header` for a version that is no date or stands there twice
 */
export function upstreamHeaders(protocol: Protocol, headers: RawHeaders): Readonly<Record<string, string>> {
  const nominated = nominatedHeaders(headerValues(headers, "connection"));
  const passed: Record<string, string> = {};
  const [parent, ...moreParents] = headerValues(headers, "traceparent");
  if (parent !== undefined && moreParents.length === 0 && !nominated.has("traceparent") && traceparent.test(parent)) {
    passed["traceparent"] = parent;
    const state = headerValues(headers, "tracestate").join(",");
    if (!nominated.has("tracestate") && tracestate.test(state)) passed["tracestate"] = state;
  }
  if (protocol !== "Anthropic") return "traceparent" in passed ? passed : noHeaders;
  passed["anthropic-version"] = readVersion(headers);
  const betas = nominated.has("anthropic-beta") ? "" : readBetas(headers);
  if (betas !== "") passed["anthropic-beta"] = betas;
  return passed;
}

/** Both spellings of the interface (`DESIGN.md` section 2); an absent version is the oldest. */
function readVersion(headers: RawHeaders): string {
  const given = new Set([...headerValues(headers, "anthropic-version"), ...headerValues(headers, "vendorb-version")]);
  if (given.size === 0) return defaultVersion;
  const [only = ""] = given;
  if (given.size > 1) throw badHeader("'anthropic-version' is given twice and differs.");
  if (!version.test(only)) throw badHeader("'anthropic-version' must be a date such as 2023-06-01.");
  return only;
}

/** Fields may repeat and hold lists; names that are no tokens are left out. */
function readBetas(headers: RawHeaders): string {
  const names = headerValues(headers, "anthropic-beta").flatMap((value) => value.split(","));
  const known = names.map((name) => name.trim()).filter((name) => betaName.test(name));
  return [...new Set(known)].slice(0, betaCountMax).join(",");
}

/** The fields that `Connection` nominates: they concern this hop alone. */
function nominatedHeaders(connection: readonly string[]): ReadonlySet<string> {
  if (connection.length === 0) return noNames;
  if (connection.length === 1 && connection[0] === "keep-alive") return noNames;
  return new Set(connection.flatMap((value) => value.split(",")).map((name) => name.trim().toLowerCase()));
}

const noNames: ReadonlySet<string> = new Set();
const noList: readonly string[] = [];

/**
 * Upstream headers that tell a client something of its own call and nothing of the account behind it, each with the form
 * it must have: an upstream that repeats a credential in one of them is not passed on.
 */
const clientHeaderForms: readonly (readonly [name: string, form: RegExp])[] = [
  ["openai-processing-ms", /^[0-9]{1,9}$/],
  ["openai-version", version],
];

/**
 * The upstream's headers that go on to the client. Content type, request ids, `retry-after` and rate limits are the
 * gateway's own (`protocols/errors.md` section 3).
 * @returns names and values in turn
 */
export function clientHeaders(headers: RawHeaders): readonly string[] {
  let passed: string[] | undefined;
  for (const [name, form] of clientHeaderForms) {
    const values = headerValues(headers, name);
    const [value] = values;
    if (value === undefined || values.length > 1 || !form.test(value)) continue;
    if (nominatedHeaders(headerValues(headers, "connection")).has(name)) continue;
    passed ??= [];
    passed.push(name, value);
  }
  return passed ?? noList;
}
