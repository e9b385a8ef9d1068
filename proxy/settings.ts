/**
 * Describes the settings that a proxy starts with, as plain values that are already checked.
 *
 * `cli/settings/proxy-settings.ts` fills them from flags, variables and file; tests write them by hand. Settings that
 * the whole fleet shares (`requireAccount`, `revocation` ...) are in the snapshot's fleet object instead.
 */
import type { ProxyLimits } from "./limits.ts";
import type { AccessLog } from "./observe/access-log.ts";
import type { Logger } from "./observe/logger.ts";

/** Where a port listens. Port 0 takes a free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** How the operator is reached: on the same machine, or over TLS behind a Service with several addresses. */
export type OperatorAddress =
  | { readonly kind: "unix"; readonly path: string }
  | {
      readonly kind: "https";
      readonly url: string;
      /** Name in the operator's certificate; that of the URL by default. */
      readonly serverName?: string | undefined;
      /** PEM of the authorities to trust; read anew for every request. */
      readonly caFile: string;
      /** A token with the operator's audience; read anew for every request. */
      readonly tokenFile: string;
    };

/** Where counters live; `proxy/admit/stores.ts` has a row for each. */
export type QuotaStore = "Embedded" | "Memory" | "Redis";

/** What holds while the ledger's store fails (docs/design/limits-and-money.md 9). */
export type QuotaFailureMode = "BalancesClosed" | "Closed" | "Open";

/** The Redis or Valkey that proxies share. */
export interface RedisSettings {
  /** `redis://` or `rediss://`, without a password. */
  readonly url: string;
  readonly passwordFile: string | undefined;
  /** Begins every key: `{tollgate}`. */
  readonly hashTag: string;
  /** Longest time that a call waits for a decision. */
  readonly decisionTimeoutMs: number;
}

export interface ProxySettings {
  /** Name in the operator's view of the fleet. */
  readonly name: string;
  readonly listen: ListenAddress;
  /** Several proxies of this machine open the same data port (`reusePort`, Linux). */
  readonly sharePort: boolean;
  readonly admin: ListenAddress;
  readonly operator: OperatorAddress;
  readonly dataFolder: string;
  /** For temporary files, which have no name once they are open; must exist. */
  readonly spoolFolder: string;
  /** `cidrs`, if any, are used instead of `hops`. None by default: the client is who opened the socket. */
  readonly trustedProxies: { readonly hops: number; readonly cidrs: readonly string[] };
  readonly limits: ProxyLimits;
  /** Undefined: plain HTTP. Both files are read again when they change. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly quota: {
    /** `Memory`: counters of this process only, for several proxies without a shared store. */
    readonly store: QuotaStore;
    readonly failureMode: QuotaFailureMode;
    /** Begin from zero in a store without history, or with another one than is expected. */
    readonly acceptEmpty: boolean;
    /** Present with `Redis`. */
    readonly redis?: RedisSettings | undefined;
  };
  /** Undefined: no last good file is read or written. */
  readonly lastGood: { readonly file: string; readonly keyFile: string } | undefined;
}

/** Where a started proxy really listens. */
export interface ProxyAddresses {
  readonly data: ListenAddress;
  readonly admin: ListenAddress;
}

/** What the surrounding program gives to a proxy, so that the proxy touches neither `process` nor a terminal. */
export interface ProxyIo {
  readonly log: Logger;
  /** Undefined: no access log is wanted. */
  readonly accessLog: AccessLog | undefined;
  /** Aborted once by SIGTERM or SIGINT: drain and return. */
  readonly stop: AbortSignal;
  /** Called once, when both ports are open (not when ready: readiness needs a first snapshot). */
  readonly started: (addresses: ProxyAddresses) => void;
}
