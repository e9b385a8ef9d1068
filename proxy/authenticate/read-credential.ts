/**
 * Finds the one key a request presents, in the places its protocol allows and nowhere else
 * (docs/design/interface.md 5).
 *
 * | Protocol | Places |
 * | --- | --- |
 * | OpenAI | `Authorization: Bearer` |
 * | Anthropic | `x-api-key`, `Authorization: Bearer` |
 * | Gemini | `x-goog-api-key` (`x-vendorc-api-key`), `?key=`, `Authorization: Bearer` |
 *
 * A key in any other place is no key. Every key presented in an allowed place must be well formed and byte-equal to all
 * others: a request with one good and one bad key would mean two callers to two programs. Reads raw headers, since
 * Node keeps the first of two `Authorization` fields and joins two `x-api-key`.
 */
import { GatewayError } from "#proxy/errors";
import { queryValues } from "#proxy/http/query-values";
import { headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";
import type { Protocol } from "#proxy/neutral/wire";

/** `sk-` and the characters of a bearer token (RFC 6750 section 2.1); no list, quote, escape or space is a key. */
const keyForm = /^sk-[A-Za-z0-9._~+/=-]+$/;
const keyLengthMax = 512;
const scheme = "Bearer ";

const keyHeaders: Readonly<Record<Protocol, readonly string[]>> = {
  OpenAI: [],
  Anthropic: ["x-api-key"],
  Gemini: ["x-goog-api-key", "x-vendorc-api-key"],
};

const expectedForm: Readonly<Record<Protocol, string>> = {
  OpenAI: "'Authorization: Bearer <API_KEY>' with a capital B and exactly one space",
  Anthropic: "'x-api-key: <API_KEY>' or 'Authorization: Bearer <API_KEY>'",
  Gemini: "'x-goog-api-key: <API_KEY>', '?key=<API_KEY>' or 'Authorization: Bearer <API_KEY>'",
};

/**
 * @param rawUrl the request target; its query is read for Gemini-style requests only
 * @returns the key as presented: hash it and let it go
 * @throws GatewayError `missing_credential`, `malformed_credential`, `ambiguous_credential`
 */
export function readCredential(protocol: Protocol, headers: RawHeaders, rawUrl: string): string {
  let presented: string | undefined;
  for (const value of headerValues(headers, "authorization")) {
    if (!value.startsWith(scheme)) throw malformed(protocol);
    presented = agree(protocol, presented, value.slice(scheme.length));
  }
  for (const name of keyHeaders[protocol]) {
    for (const value of headerValues(headers, name)) presented = agree(protocol, presented, value);
  }
  if (protocol === "Gemini") {
    for (const value of queryValues(rawUrl, "key")) presented = agree(protocol, presented, value);
  }
  if (presented !== undefined) return presented;
  throw new GatewayError("missing_credential", `No API key was given. Send it as ${expectedForm[protocol]}.`);
}

function agree(protocol: Protocol, presented: string | undefined, value: string): string {
  if (value.length > keyLengthMax || !keyForm.test(value)) throw malformed(protocol);
  if (presented === undefined || presented === value) return value;
  throw new GatewayError(
    "ambiguous_credential",
    "The request carries two API keys that differ. Send one, in one place.",
  );
}

function malformed(protocol: Protocol): GatewayError {
  return new GatewayError(
    "malformed_credential",
    `The API key is not in the expected form. Send it as ${expectedForm[protocol]}; a key begins with 'sk-'.`,
  );
}
