/**
 * Keeps the connections to upstreams: one pool for each distinct way to reach an origin.
 *
 * Pools are shared by channels that connect alike and outlive a change of a channel's other fields. The egress policy
 * holds at every connect (`guarded-connector.ts`). Environment proxies are ignored: only a channel's own `proxyURL`
 * counts.
 */
import { createHash } from "node:crypto";
import { type Dispatcher, Pool, ProxyAgent } from "undici";
import type { ProxyLimits } from "../limits.ts";
import { EgressPolicy } from "../snapshot/egress-policy.ts";
import type { Channel } from "../snapshot/types.gen.ts";
import { guardedConnector, guardedLookup, judgeLiteral } from "./guarded-connector.ts";

interface PoolEntry {
  readonly key: string;
  readonly dispatcher: Dispatcher;
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
  dispatcherFor(channel: Channel, egressAllowCIDRs: readonly string[]): Dispatcher {
    if (egressAllowCIDRs !== this.#egressCIDRs) this.#replacePolicy(egressAllowCIDRs);
    const known = this.#byChannel.get(channel);
    if (known !== undefined && this.#byKey.get(known.key) === known) return known.dispatcher;
    const key = this.#keyOf(channel);
    let entry = this.#byKey.get(key);
    if (entry === undefined) {
      entry = { key, dispatcher: this.#open(channel) };
      this.#byKey.set(key, entry);
    }
    this.#byChannel.set(channel, entry);
    return entry.dispatcher;
  }

  /** Lets go of the pools that none of these channels uses; requests in flight there end first. */
  retain(channels: readonly Channel[]): void {
    const used = new Set(channels.map((channel) => this.#keyOf(channel)));
    for (const [key, entry] of this.#byKey) {
      if (used.has(key)) continue;
      this.#byKey.delete(key);
      // Graceful: resolves when the last request of the pool has ended. A failure to close is a socket already gone.
      entry.dispatcher.close().catch(() => {});
    }
  }

  /** Closes every connection at once; requests in flight fail. */
  async destroy(): Promise<void> {
    const entries = [...this.#byKey.values()];
    this.#byKey.clear();
    await Promise.all(entries.map((entry) => entry.dispatcher.destroy()));
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
    const connectMs = channel.timeouts.connectMs ?? this.#limits.connectTimeoutMs;
    // Hashed: the client certificate's key must not linger in a map key.
    const tls = channel.tls === undefined ? "" : createHash("sha256").update(JSON.stringify(channel.tls)).digest("hex");
    return `${origin} ${connectMs} ${channel.proxyURL ?? ""} ${tls}`;
  }

  #open(channel: Channel): Dispatcher {
    const origin = new URL(channel.baseURL).origin;
    const connectMs = channel.timeouts.connectMs ?? this.#limits.connectTimeoutMs;
    const tls = tlsOptions(channel);
    const common = {
      pipelining: 1,
      // The attempt keeps its own, exact timers.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 600_000,
      maxHeaderSize: this.#limits.upstreamHeaderBytesMax,
      allowH2: false,
    };
    if (channel.proxyURL !== undefined) {
      const lookup = guardedLookup(this.#egress);
      judgeLiteral(new URL(channel.proxyURL).hostname, this.#egress);
      return new ProxyAgent({
        uri: channel.proxyURL,
        requestTls: tls,
        proxyTls: { lookup, timeout: connectMs },
        ...common,
      });
    }
    return new Pool(origin, { ...common, connect: guardedConnector(this.#egress, connectMs, tls) });
  }
}

function tlsOptions(channel: Channel): { ca?: string; servername?: string; cert?: string; key?: string } {
  const { tls } = channel;
  if (tls === undefined) return {};
  return {
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
    ...(tls.certificate === undefined ? {} : { cert: tls.certificate }),
    ...(tls.privateKey === undefined ? {} : { key: tls.privateKey }),
  };
}
