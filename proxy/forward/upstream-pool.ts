/**
 * Keeps the connections to upstreams: one pool for each distinct way to reach an origin.
 *
 * Pools are shared by channels that connect alike and outlive a change of a channel's other fields. The egress policy
 * holds at every connect: a literal address is judged before, a name after its resolution, and the address that was
 * judged is the one connected to, so an answer that changes between check and use (DNS rebinding) leads nowhere.
 * Environment proxies are ignored: only a channel's own `proxyURL` counts.
 */
import { createHash } from "node:crypto";
import { type LookupAddress, lookup as resolveName } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";
import type { ProxyLimits } from "../limits.ts";
import { EgressPolicy } from "../snapshot/egress-policy.ts";
import type { Channel } from "../snapshot/types.gen.ts";

/** Thrown into a connect that the egress policy refuses. */
export class EgressRefusedError extends Error {
  readonly code = "EGRESS_REFUSED";
  constructor(host: string) {
    super(`the egress policy refuses the address of ${host}; allow it with the setting egress.allowCIDRs`);
    this.name = "EgressRefusedError";
  }
}

/** Thrown into a connect that takes too long. */
export class ConnectTimeoutError extends Error {
  readonly code = "CONNECT_TIMEOUT";
}

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
      const lookup = this.#checkedLookup(this.#egress);
      this.#judgeLiteral(new URL(channel.proxyURL).hostname, this.#egress);
      return new ProxyAgent({
        uri: channel.proxyURL,
        requestTls: tls,
        proxyTls: { lookup, timeout: connectMs },
        ...common,
      });
    }
    return new Pool(origin, { ...common, connect: this.#connector(connectMs, tls) });
  }

  #connector(connectMs: number, tls: object): buildConnector.connector {
    const policy = this.#egress;
    const connect = buildConnector({ ...tls, allowH2: false, timeout: 0, lookup: this.#checkedLookup(policy) });
    return (options, callback) => {
      try {
        this.#judgeLiteral(options.hostname, policy);
      } catch (error) {
        callback(error instanceof Error ? error : new Error(String(error)), null);
        return;
      }
      let isSettled = false;
      const timer = setTimeout(
        () => {
          isSettled = true;
          callback(
            new ConnectTimeoutError(`no connection to ${options.host ?? options.hostname} within ${connectMs} ms`),
            null,
          );
          if (socket !== undefined && "destroy" in socket) socket.destroy();
        },
        // Node fires a longer timer at once.
        Math.min(connectMs || Number.POSITIVE_INFINITY, 2 ** 31 - 1),
      );
      const socket: { destroy(): void } | undefined = startConnect(connect, options, (error, connected) => {
        clearTimeout(timer);
        if (isSettled) {
          connected?.destroy();
          return;
        }
        isSettled = true;
        // A failed connect calls back with the error alone: the socket is absent then, not null.
        if (connected) callback(null, connected);
        else callback(error ?? new Error("connect failed"), null);
      });
    };
  }

  #judgeLiteral(hostname: string, policy: EgressPolicy): void {
    const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    if (isIP(bare) !== 0 && policy.judge(bare) !== "allowed") throw new EgressRefusedError(hostname);
  }

  /** Resolves a name and hands on only the addresses that the policy allows. */
  #checkedLookup(policy: EgressPolicy): LookupFunction {
    return (hostname, options, callback) => {
      resolveName(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
        if (error !== null) {
          callback(error, "");
          return;
        }
        const open = addresses.filter((entry) => policy.judge(entry.address) === "allowed");
        const [first] = open;
        if (first === undefined) callback(new EgressRefusedError(hostname), "");
        else if (options.all === true) callback(null, open);
        else callback(null, first.address, first.family);
      });
    };
  }
}

/**
 * Starts undici's connector and returns the socket it is opening, so that a timeout can destroy it.
 * The published type says `void`; the socket is returned since undici 5, and its absence only delays the cleanup.
 */
function startConnect(
  connect: buildConnector.connector,
  options: buildConnector.Options,
  callback: (error: Error | null, socket: Parameters<buildConnector.Callback>[1] | undefined) => void,
): { destroy(): void } | undefined {
  const started: unknown = connect(options, (...result: Parameters<buildConnector.Callback>) =>
    callback(result[0], result[1]),
  );
  return isDestroyable(started) ? started : undefined;
}

function isDestroyable(value: unknown): value is { destroy(): void } {
  return typeof value === "object" && value !== null && "destroy" in value && typeof value.destroy === "function";
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
