/**
 * Keeps the connections to upstreams: one pool for each distinct way to reach an origin.
 *
 * Channels that connect alike share a pool, and a pool outlives a change of a channel's other fields. The egress
 * policy holds at every connect (`guarded-connector.ts`). Environment proxies are ignored: only a channel's own
 * `proxyURL` counts.
 */
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { Pool, ProxyAgent } from "undici";
import { ConnectionPool } from "#proxy/http1/client/connection-pool";
import type { Upstream } from "#proxy/http1/client/upstream";
import type { ProxyLimits } from "#proxy/limits";
import { armDeadline } from "#proxy/runtime/deadlines";
import { EgressPolicy } from "#proxy/snapshot/egress-policy";
import type { Channel } from "#proxy/snapshot/types.gen";
import { openChannelSocket, tlsOptions } from "./channel-socket.ts";
import { guardedLookup, judgeLiteral } from "./guarded-connector.ts";
import { UndiciUpstream } from "./undici-upstream.ts";

/** Longest that a tunnel through a proxy may take to open. */
const tunnelTimeoutMs = 120_000;

interface PoolEntry {
  readonly key: string;
  readonly upstream: Upstream;
}

export class UpstreamPools {
  readonly #limits: ProxyLimits;
  readonly #byKey = new Map<string, PoolEntry>();
  readonly #byChannel = new WeakMap<Channel, PoolEntry>();
  #egressCIDRs: readonly string[] = [];
  #egress = new EgressPolicy([]);

  constructor(limits: ProxyLimits) {
    this.#limits = limits;
  }

  /** @param egressAllowCIDRs of the pinned snapshot; a change of it opens new pools. */
  upstreamFor(channel: Channel, egressAllowCIDRs: readonly string[]): Upstream {
    if (egressAllowCIDRs !== this.#egressCIDRs) this.#replacePolicy(egressAllowCIDRs);
    const known = this.#byChannel.get(channel);
    if (known !== undefined && this.#byKey.get(known.key) === known) return known.upstream;
    const key = this.#keyOf(channel);
    let entry = this.#byKey.get(key);
    if (entry === undefined) {
      entry = { key, upstream: this.#open(channel) };
      this.#byKey.set(key, entry);
    }
    this.#byChannel.set(channel, entry);
    return entry.upstream;
  }

  /**
   * A connection that is in no pool: its owner ends it.
   * @param egressAllowCIDRs as above
   * @param connectMs longest for each of its steps; 0: no limit
   * @param onRead gets what is read; the bytes are valid during the call only
   * @throws Error where it cannot be opened: `EGRESS_REFUSED`, `CONNECT_TIMEOUT`, or as the network says
   */
  openSocket(
    channel: Channel,
    egressAllowCIDRs: readonly string[],
    connectMs: number,
    onRead: (bytes: Buffer) => void,
  ): Promise<Socket> {
    if (egressAllowCIDRs !== this.#egressCIDRs) this.#replacePolicy(egressAllowCIDRs);
    return openChannelSocket(channel, this.#egress, connectMs, onRead);
  }

  /** Lets go of the pools that none of these channels uses; requests in flight there end first. */
  retain(channels: readonly Channel[]): void {
    const used = new Set(channels.map((channel) => this.#keyOf(channel)));
    for (const [key, entry] of this.#byKey) {
      if (used.has(key)) continue;
      this.#byKey.delete(key);
      entry.upstream.close();
    }
  }

  /** Closes every connection at once; requests in flight fail. */
  async destroy(): Promise<void> {
    const entries = [...this.#byKey.values()];
    this.#byKey.clear();
    await Promise.all(entries.map((entry) => entry.upstream.destroy()));
  }

  #replacePolicy(cidrs: readonly string[]): void {
    const changed = cidrs.join() !== this.#egressCIDRs.join();
    this.#egressCIDRs = cidrs;
    if (!changed) return;
    this.#egress = new EgressPolicy(cidrs);
    this.retain([]);
  }

  #keyOf(channel: Channel): string {
    const origin = new URL(channel.baseURL).origin;
    // Hashed: the client certificate's key must not linger in a map key.
    const tls = channel.tls === undefined ? "" : createHash("sha256").update(JSON.stringify(channel.tls)).digest("hex");
    return `${origin} ${channel.proxyURL ?? ""} ${tls}`;
  }

  #open(channel: Channel): Upstream {
    const origin = new URL(channel.baseURL);
    const policy = this.#egress;
    const lookup = guardedLookup(policy);
    const tls = tlsOptions(channel);
    const headBytesMax = this.#limits.upstreamHeaderBytesMax;
    const { proxyURL } = channel;
    if (proxyURL === undefined) {
      const checkHost = (hostname: string): void => judgeLiteral(hostname, policy);
      return new ConnectionPool({ origin, headBytesMax, lookup, armDeadline, checkHost, tls });
    }
    judgeLiteral(new URL(proxyURL).hostname, policy);
    const agent = new ProxyAgent({
      uri: proxyURL,
      requestTls: tls,
      proxyTls: { lookup },
      // Also to an upstream without TLS: else the proxy would read the call and its credential.
      proxyTunnel: true,
      // Each request bounds its wait itself; this ends tunnels that a proxy never opened.
      connectTimeout: tunnelTimeoutMs,
      clientFactory: (url, options) => new Pool(url, { ...options, headersTimeout: tunnelTimeoutMs }),
      pipelining: 1,
      // The attempt keeps its own, exact timers.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 600_000,
      maxHeaderSize: headBytesMax,
      allowH2: false,
    });
    return new UndiciUpstream(origin.origin, agent);
  }
}
