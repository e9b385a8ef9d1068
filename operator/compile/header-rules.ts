/**
 * Decides which headers a channel may set or remove: never headers that frame a message or carry a credential. The
 * channel's own credential may use any header except framing ones.
 */

import type { ChannelSpec } from "#operator/resources/types.gen";
import type { Channel } from "#proxy/snapshot/types.gen";

/** Headers of one hop (RFC 9110 section 7.6.1) and those that frame the message. */
const framing: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const authentication: ReadonlySet<string> = new Set([
  "api-key",
  "authorization",
  "cookie",
  "set-cookie",
  "x-api-key",
  "x-goog-api-key",
]);

/** Whether a header frames the message or belongs to one connection; changing it would break every call. */
export function isFramingHeader(name: string): boolean {
  return framing.has(name.toLowerCase());
}

export interface CompiledHeaders {
  readonly set: NonNullable<Channel["headersSet"]>;
  readonly remove: string[];
  /** A message for each rule that is left out. */
  readonly problems: readonly string[];
}

/** @param authName the header that carries the channel's own credential, in lower case */
export function compileHeaders(headers: ChannelSpec["headers"], authName: string): CompiledHeaders {
  const problems: string[] = [];
  const isAllowed = (name: string, field: string): boolean => {
    const lower = name.toLowerCase();
    const why = isFramingHeader(name)
      ? "belongs to one connection"
      : authentication.has(lower) || lower === authName
        ? "carries credentials; use spec.auth"
        : /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)
          ? undefined
          : "is not a header name";
    if (why !== undefined) problems.push(`${field}: ${name} ${why}; the rule is left out.`);
    return why === undefined;
  };
  const set: NonNullable<Channel["headersSet"]> = [];
  for (const { name, value } of headers?.set ?? []) {
    if (!isAllowed(name, "spec.headers.set")) continue;
    if (/^[\t\x20-\x7e]*$/.test(value)) set.push({ name, value });
    else problems.push(`spec.headers.set: the value of ${name} holds control or non-ASCII characters; it is left out.`);
  }
  const remove = (headers?.remove ?? []).filter((name) => isAllowed(name, "spec.headers.remove"));
  return { set, remove, problems };
}
