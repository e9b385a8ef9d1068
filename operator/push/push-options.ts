/** The options of the push endpoint. `run/core.ts` and `run/push-endpoint.ts` fill them. */
import type { IncomingMessage } from "node:http";
import type { Router } from "express";
import type { Report } from "#proxy/snapshot/push/messages";
import type { Timers } from "#proxy/snapshot/push/timers";
import type { RefusalReason } from "./authenticate/peer.ts";
import type { Fleet } from "./fleet.ts";
import type { Publisher } from "./publisher.ts";
import type { Epochs } from "./versions/epoch.ts";
import type { ResourceUids } from "./versions/resource-uids.ts";
import type { SourceProgress } from "./versions/source-progress.ts";

/** The authenticated peer of a request; posts for a stream must come from the peer that opened it. */
export interface ProxyIdentity {
  readonly name: string;
  /** A proxy by default. */
  readonly role?: "proxy" | "operator";
  /** The only name that its hello may give; absent: any name. */
  readonly pod?: string;
}

export interface PushAppOptions {
  readonly publisher: Publisher;
  readonly fleet: Fleet;
  /** Distinguishes this run of this operator from all others. */
  readonly operator: string;
  /** Undefined: a source that never goes back in time. */
  readonly epochs?: Epochs;
  readonly heartbeatMs: number;
  readonly deadMs: number;
  /** @returns undefined for a peer that must not be served. @throws ReviewUnavailableError when it cannot be checked now */
  readonly authenticateProxy: (request: IncomingMessage) => Promise<ProxyIdentity | undefined>;
  readonly onReport?: (proxy: string, report: Report) => void;
  /** Where the source counts versions and has uids. */
  readonly progress?: SourceProgress;
  readonly uids?: ResourceUids;
  /** A consistent read of the source's present versions, to tell a replica that lags from a source that went back. */
  readonly sourceWentBack?: (claimed: Readonly<Record<string, string>>) => Promise<boolean>;
  /** Lists again every watch that is behind a proxy; the progress tells when that is done. */
  readonly listBehind?: (claimed: Readonly<Record<string, string>>) => void;
  /** Receives the ids of objects that a proxy refuses as deleted. */
  readonly onRefusedAsDeleted?: (ids: readonly string[]) => void;
  /** Routes for other operators, which have been authenticated as operators. */
  readonly peers?: Router;
  readonly onRefused?: (reason: RefusalReason) => void;
  /** Called when a proxy was sent away because this operator is behind it. */
  readonly onBehind?: () => void;
  readonly timers?: Timers;
}
