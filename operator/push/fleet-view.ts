/** The lines of `/debug/fleet`: one view for each proxy. */

import type { ProxyConnection } from "./connection.ts";
import type { ProxyGroup } from "./replicas/summary.ts";

export interface ProxyView {
  readonly proxy: string;
  readonly isReady: boolean;
  readonly digest: string;
  readonly rejects: readonly { readonly id: string; readonly severity?: string; readonly message: string }[];
  /** The operator it is connected to, when that is another one; only that operator knows the other fields. */
  readonly via?: string;
  readonly build?: string;
  /** Names of capabilities that it lacks. */
  readonly lacks?: readonly string[];
  readonly revision?: number;
  /** Revisions behind. */
  readonly lag?: number;
  readonly backlog?: number;
  readonly waitingMs?: number | null;
  readonly applyMs?: number | null;
  readonly roundTripMs?: number | null;
}

/** @param revision of the configuration last published */
export function viewOfConnection(connection: ProxyConnection, revision: number): ProxyView {
  return {
    proxy: connection.hello.proxy,
    build: connection.hello.build,
    lacks: connection.lacks,
    isReady: connection.isReady,
    revision: connection.revision,
    digest: connection.digest,
    lag: revision - connection.revision,
    backlog: connection.backlog,
    waitingMs: connection.waitingMs ?? null,
    applyMs: connection.applyMs ?? null,
    roundTripMs: connection.roundTripMs ?? null,
    rejects: connection.rejects.map(({ id, severity, message }) => ({ id, severity, message })),
  };
}

export function viewOfGroup({ via, digest, proxies, rejects }: ProxyGroup & { readonly via: string }): ProxyView[] {
  return proxies.map((proxy) => ({
    proxy,
    via,
    isReady: true,
    digest,
    rejects: rejects.filter((reject) => reject.proxy === proxy).map(({ id, message }) => ({ id, message })),
  }));
}
