/**
 * Opens connections only to addresses that the egress policy allows.
 *
 * A literal address is checked before the connect, a name after its resolution. The address that was checked is the
 * one connected to, so a DNS record that changes between check and use (DNS rebinding) leads nowhere.
 */
import { type LookupAddress, lookup as resolveName } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { ConnectTimeoutError } from "#proxy/http1/client/connect-timeout-error";
import type { EgressPolicy } from "#proxy/snapshot/egress-policy";

/** Thrown into a connect that the egress policy refuses. */
export class EgressRefusedError extends Error {
  readonly code = "EGRESS_REFUSED";
  constructor(host: string) {
    super(`the egress policy refuses the address of ${host}; allow it with the setting egress.allowCIDRs`);
    this.name = "EgressRefusedError";
  }
}

/** @param connectMs 0: no limit. @param tls options of `tls.connect` */
export function guardedConnector(policy: EgressPolicy, connectMs: number, tls: object): buildConnector.connector {
  const connect = buildConnector({ ...tls, allowH2: false, timeout: 0, lookup: guardedLookup(policy) });
  return (options, callback) => {
    try {
      judgeLiteral(options.hostname, policy);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
      return;
    }
    let isSettled = false;
    const timer = setTimeout(
      () => {
        isSettled = true;
        callback(new ConnectTimeoutError(options.host ?? options.hostname, connectMs), null);
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

/** @throws EgressRefusedError for an address that the policy refuses; names are judged when they are resolved */
export function judgeLiteral(hostname: string, policy: EgressPolicy): void {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  if (isIP(bare) !== 0 && policy.judge(bare) !== "allowed") throw new EgressRefusedError(hostname);
}

/** Resolves a name and hands on only the addresses that the policy allows. */
export function guardedLookup(policy: EgressPolicy): LookupFunction {
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
