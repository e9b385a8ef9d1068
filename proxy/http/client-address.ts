/**
 * Finds the address that a request comes from: the socket's, unless trusted proxies are configured.
 *
 * Only `X-Forwarded-For` is read, and only from its right end, which trusted hops wrote; anything a client forged is
 * further left. `Forwarded`, `X-Real-IP` and their like count for nothing. The address is found for each request, not
 * for a connection: a proxy reuses connections for many clients.
 */

import { headerValues, type RawHeaders } from "#proxy/http1/wire/header-values";
import { type CidrList, cidrsContain, compileCidrs } from "./address/cidr.ts";
import { parseForwardedAddress } from "./address/forwarded-address.ts";
import { type IpAddress, parseSocketAddress } from "./address/ip-address.ts";

/** Settings `trustedProxies.*`; with CIDRs the hops are not counted. */
export interface TrustedProxies {
  /** Proxies between the clients and this one, each of which appends to `X-Forwarded-For`; 0 trusts nobody. */
  readonly hops: number;
  /** Blocks whose addresses are proxies; empty trusts nobody. */
  readonly cidrs: readonly string[];
}

/**
 * @param socketAddress `socket.remoteAddress`
 * @returns undefined when the place where the address should be is missing or holds no address: a key with address
 *   rules then refuses
 */
export function readClientAddress(
  socketAddress: string | undefined,
  headers: RawHeaders,
  trusted: TrustedProxies,
): IpAddress | undefined {
  const peer = parseSocketAddress(socketAddress);
  if (trusted.cidrs.length > 0) return firstUntrusted(peer, headers, compileCidrs(trusted.cidrs));
  if (trusted.hops === 0) return peer;
  return parseForwardedAddress(forwardedFor(headers).at(-trusted.hops) ?? "");
}

/** Walks from the nearest hop towards the client and stops at the first that is no trusted proxy. */
function firstUntrusted(peer: IpAddress | undefined, headers: RawHeaders, proxies: CidrList): IpAddress | undefined {
  let nearest = peer;
  const entries = forwardedFor(headers);
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    if (nearest === undefined || !cidrsContain(proxies, nearest)) return nearest;
    nearest = parseForwardedAddress(entries[index] ?? "");
  }
  return nearest;
}

/** All entries of all fields in order. Empty ones keep their place: dropping them would shift the count of hops. */
function forwardedFor(headers: RawHeaders): string[] {
  const values = headerValues(headers, "x-forwarded-for");
  return values.length === 0 ? [] : values.join(",").split(",").map(trimSpace);
}

/** Space and tab only: what `String.trim` takes besides is part of no address. */
function trimSpace(entry: string): string {
  return entry.replace(/^[ \t]+|[ \t]+$/g, "");
}
