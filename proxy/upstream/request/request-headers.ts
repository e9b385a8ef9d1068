/**
 * Builds the headers of a request to an upstream: the gateway's own, the credential, the client's headers that may
 * pass, and the channel's rules over all of them but the credential. Each name occurs once.
 */

import type { SentRequest } from "#proxy/http1/client/upstream";
import { providerOf } from "#proxy/providers/providers";
import type { Channel, Credential } from "#proxy/snapshot/types.gen";

/** What is asked, and so what is sent and taken. The type of a form names its boundary, so that each brings its own. */
export type UpstreamExchangeKind = Accepted | `form-${Accepted}` | "plain" | "opaque" | "socket";
type Accepted = "call" | "stream" | "bytes";

/** `identity`: a compressed stream would have to be inflated and could not be passed through event by event. */
const ofAll = ["accept-encoding", "identity", "user-agent", "tollgate"];
const own: Readonly<Record<UpstreamExchangeKind, readonly string[]>> = {
  call: ["content-type", "application/json", "accept", "application/json", ...ofAll],
  stream: ["content-type", "application/json", "accept", "text/event-stream", ...ofAll],
  bytes: ["content-type", "application/json", "accept", "*/*", ...ofAll],
  "form-call": ["accept", "application/json", ...ofAll],
  "form-stream": ["accept", "text/event-stream", ...ofAll],
  "form-bytes": ["accept", "*/*", ...ofAll],
  plain: ["accept", "application/json", ...ofAll],
  socket: ["user-agent", "tollgate"],
  opaque: ofAll,
};

type FixedHeaders = Partial<Record<UpstreamExchangeKind, readonly string[]>>;

/** What a channel contributes to every request; rendered once for each channel and credential. */
const fixedHeaders = new WeakMap<Channel, Map<Credential | undefined, FixedHeaders>>();

/**
 * @param clientHeaders already reduced to what may go upstream, names in lower case
 * @returns names and values in turn
 */
export function requestHeaders(
  kind: UpstreamExchangeKind,
  channel: Channel,
  credential: Credential | undefined,
  clientHeaders: Readonly<Record<string, string>>,
): Required<Pick<SentRequest, "fixedHeaders" | "headers">> {
  const headers: string[] = [];
  for (const name in clientHeaders) {
    const value = clientHeaders[name];
    if (value !== undefined && !isRuled(name, channel)) headers.push(name, value);
  }
  return { fixedHeaders: fixedFor(kind, channel, credential), headers };
}

function fixedFor(kind: UpstreamExchangeKind, channel: Channel, credential: Credential | undefined): readonly string[] {
  let byCredential = fixedHeaders.get(channel);
  if (byCredential === undefined) {
    byCredential = new Map();
    fixedHeaders.set(channel, byCredential);
  }
  let fixed = byCredential.get(credential);
  if (fixed === undefined) {
    fixed = {};
    // A rotated credential is a new object; the old one's headers go with the channel object at the latest.
    if (byCredential.size > 64) byCredential.clear();
    byCredential.set(credential, fixed);
  }
  fixed[kind] ??= renderFixed(kind, channel, credential);
  return fixed[kind];
}

function renderFixed(kind: UpstreamExchangeKind, channel: Channel, credential: Credential | undefined): string[] {
  const headers: string[] = [];
  for (let index = 0; index < own[kind].length; index += 2) {
    const [name = "", value = ""] = own[kind].slice(index, index + 2);
    if (!isRuled(name, channel)) headers.push(name, value);
  }
  const { auth } = channel;
  const isSigned = providerOf(channel).sign !== undefined;
  if (credential !== undefined && auth.location === "Header" && !isSigned) {
    headers.push(auth.name, auth.scheme === "Bearer" ? `Bearer ${credential.secret}` : credential.secret);
  }
  for (const { name, value } of channel.headersSet ?? []) {
    const lowerCase = name.toLowerCase();
    // A form that is labelled otherwise cannot be read.
    if (lowerCase !== "content-type" || !kind.startsWith("form")) headers.push(lowerCase, value);
  }
  return headers;
}

/** What must not be repeated to a client: values of the channel's headers may be credentials as well. */
export function secretsOf(
  channel: Pick<Channel, "headersSet">,
  credential: Pick<Credential, "secret"> | undefined,
): readonly string[] {
  const values = (channel.headersSet ?? []).map(({ value }) => value);
  return credential === undefined ? values : [credential.secret, ...values];
}

/** Whether the channel sets this header itself, or wants none. */
function isRuled(name: string, { headersRemove, headersSet }: Channel): boolean {
  return (
    headersRemove?.some((entry) => entry.toLowerCase() === name) === true ||
    headersSet?.some((entry) => entry.name.toLowerCase() === name) === true
  );
}
