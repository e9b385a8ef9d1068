/** Lists the services that requests use. `main.ts` makes them once; each stage gets those it needs. */
import type { Ledger } from "#proxy/admit/ledger";
import type { BodiesUnderWay } from "#proxy/http/bodies-under-way";
import type { Spool } from "#proxy/http/form/spool";
import type { InFlightBytes } from "#proxy/http/in-flight-bytes";
import type { ProxyLimits } from "#proxy/limits";
import type { CallStates } from "#proxy/neutral/state/call-states";
import type { AccessLog } from "#proxy/observe/access-log";
import type { Logger } from "#proxy/observe/logger";
import type { ProxyMetrics } from "#proxy/observe/metrics";
import type { ResponseStore } from "#proxy/responses-state/response-store";
import type { RotatedCredentials } from "#proxy/route/rotated-credentials";
import type { KeyedMutex } from "#proxy/runtime/keyed-mutex";
import type { KeyUses } from "#proxy/sync/key-uses";
import type { SnapshotStore } from "#proxy/sync/snapshot-store";
import type { UpstreamPools } from "#proxy/upstream/pools/upstream-pool";
import type { MediaDownloads } from "#proxy/upstream/request/download-media";
import type { LargeBodyQueue } from "./large-body-queue.ts";
import type { ReservationHeartbeat } from "./reservations/reservation-heartbeat.ts";
import type { OpenAttempts } from "./revocation/open-attempts.ts";
import type { OpenSessions } from "./sessions/open-sessions.ts";

export interface Services {
  readonly snapshots: Pick<SnapshotStore, "pin" | "isReady">;
  /** False while no operator has confirmed the configuration for longer than keys are honoured without. */
  readonly honoursKeys: () => boolean;
  readonly ledger: Ledger;
  readonly reservations: ReservationHeartbeat;
  readonly pools: UpstreamPools;
  readonly metrics: ProxyMetrics;
  readonly accessLog: AccessLog | undefined;
  readonly log: Logger;
  readonly limits: ProxyLimits;
  readonly inFlightBytes: InFlightBytes;
  /** Disk space for files of forms. */
  readonly spool: Spool;
  /** Their translation, one at a time. */
  readonly largeBodyQueue: LargeBodyQueue;
  /** Bodies of requests that are not whole yet, by key. */
  readonly bodiesUnderWay: BodiesUnderWay;
  readonly trustedProxies: { readonly hops: number; readonly cidrs: readonly string[] };
  /** Counts tokens of text off the event loop. */
  readonly estimateTokens: (text: string) => Promise<number>;
  /** Wall clock, milliseconds since the epoch. */
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly nextRequestId: () => string;
  readonly openAttempts: OpenAttempts;
  readonly openSessions: OpenSessions;
  /** Fetches files that clients name by address, for upstreams that take only content. */
  readonly mediaDownloads: MediaDownloads;
  /** Provider state of recent tool calls, for clients of other formats. */
  readonly callStates: CallStates;
  /** Responses that later calls may continue. */
  readonly responses: ResponseStore;
  /** Puts together the earlier conversation of a call, one of an owner at a time. */
  readonly conversationMutex: KeyedMutex;
  /** Which secret of a channel's credential is sent, where one was replaced and its provider refuses the new one. */
  readonly credentials: Pick<RotatedCredentials, "inUse" | "accepted" | "refused">;
  /** Told once a call; for the operator's status. */
  readonly keyUses: Pick<KeyUses, "note">;
}
