/**
 * Decides which headers cross the gateway: two allow-lists, one each way.
 *
 * No client header chooses an upstream, its credential or its framing, and no upstream header that names an account,
 * sets state or frames a body reaches a client. Headers on no list stay behind, unknown ones included; so do those
 * that `Connection` nominates (RFC 9110 section 7.6.1).
 */
import { GatewayError } from "#proxy/errors";
import { headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";
import type { Protocol } from "#proxy/neutral/wire";
import { isContentType } from "./content-rules.ts";

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
 * @throws GatewayError `bad_request_header` for a version that is no date or is given twice
 */
export function forwardableHeaders(protocol: Protocol, headers: RawHeaders): Readonly<Record<string, string>> {
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

/** Both spellings of the interface (docs/design/interface.md 5); an absent version is the oldest. */
function readVersion(headers: RawHeaders): string {
  const given = new Set([...headerValues(headers, "anthropic-version"), ...headerValues(headers, "vendorb-version")]);
  if (given.size === 0) return defaultVersion;
  const [only = ""] = given;
  if (given.size > 1) throw badHeader("'anthropic-version' is given twice with different values.");
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

/** Of calls that are passed on as they are: what they say of body and reply, and the versions that providers ask for. */
const opaqueRequestForms: readonly (readonly [name: string, form: RegExp])[] = [
  ["content-type", /^[ -~]{1,256}$/],
  ["accept", /^[ -~]{1,512}$/],
  ["openai-beta", /^[\w=.,; -]{1,512}$/],
  ["anthropic-version", version],
  ["anthropic-beta", /^[\w=.,; -]{1,512}$/],
];

/**
 * The client's headers that go upstream with a call that is passed on as it is, in lower case; one that is given twice,
 * nominated by `Connection` or that holds the client's key stays behind.
 * @param passed those that go with every call (`forwardableHeaders`)
 * @param secret the client's key
 */
export function opaqueRequestHeaders(
  headers: RawHeaders,
  passed: Readonly<Record<string, string>>,
  secret: string,
): Readonly<Record<string, string>> {
  const nominated = nominatedHeaders(headerValues(headers, "connection"));
  const all: Record<string, string> = { ...passed };
  for (const [name, form] of opaqueRequestForms) {
    const [value, ...more] = headerValues(headers, name);
    if (value === undefined || more.length > 0 || nominated.has(name)) continue;
    if (form.test(value) && !value.includes(secret)) all[name] = value;
  }
  return all;
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

const dispositionForm = /^(?:attachment|inline)(?:;[ -~]{0,256})?$/i;

/**
 * The headers of a reply that is passed on as it is: those of every reply, what its body is, and that browsers must take
 * the upstream's word for that.
 * @param secrets of the channel: what holds one of them stays behind
 * @returns names and values in turn
 */
export function opaqueReplyHeaders(headers: RawHeaders, secrets: readonly string[]): readonly string[] {
  const [type = ""] = headerValues(headers, "content-type");
  const mayPass = (value: string): boolean => !secrets.some((secret) => value.includes(secret));
  const named = isContentType(type) && mayPass(type) ? type : "application/octet-stream";
  const [disposition = ""] = headerValues(headers, "content-disposition");
  const file = dispositionForm.test(disposition) && mayPass(disposition) ? ["content-disposition", disposition] : [];
  return ["content-type", named, "x-content-type-options", "nosniff", ...file, ...clientHeaders(headers)];
}

/**
 * The upstream's headers that go on to the client. Content type, request ids, `retry-after` and rate limits are the
 * gateway's own (docs/design/errors.md 3).
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
