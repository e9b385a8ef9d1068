/** What every request may use: made once by `main.ts`, given to each stage that needs a part of it. */
import type { Ledger } from "./admit/ledger.ts";
import type { MediaDownloads } from "./forward/download-media.ts";
import type { OpenAttempts } from "./forward/open-attempts.ts";
import type { UpstreamPools } from "./forward/upstream-pool.ts";
import type { BodiesUnderWay } from "./http/bodies-under-way.ts";
import type { InFlightBytes } from "./http/in-flight-bytes.ts";
import type { LargeBodies } from "./large-bodies.ts";
import type { ProxyLimits } from "./limits.ts";
import type { LiveReservations } from "./live-reservations.ts";
import type { AccessLog } from "./observe/access-log.ts";
import type { Logger } from "./observe/logger.ts";
import type { ProxyMetrics } from "./observe/metrics.ts";
import type { OwnerTurns } from "./responses-state/owner-turns.ts";
import type { ResponseStore } from "./responses-state/response-store.ts";
import type { RotatedCredentials } from "./route/rotated-credentials.ts";
import type { KeyUses } from "./sync/key-uses.ts";
import type { SnapshotStore } from "./sync/snapshot-store.ts";
import type { CallStates } from "./translate/state/call-states.ts";

export interface Services {
  readonly snapshots: Pick<SnapshotStore, "pin" | "isReady">;
  /** False while no operator has confirmed the configuration for longer than keys are honoured without. */
  readonly honoursKeys: () => boolean;
  readonly ledger: Ledger;
  readonly reservations: LiveReservations;
  readonly pools: UpstreamPools;
  readonly metrics: ProxyMetrics;
  readonly accessLog: AccessLog | undefined;
  readonly log: Logger;
  readonly limits: ProxyLimits;
  readonly inFlightBytes: InFlightBytes;
  /** Their translation, one at a time. */
  readonly largeBodies: LargeBodies;
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
  /** Fetches files that clients name by address, for upstreams that take only content. */
  readonly mediaDownloads: MediaDownloads;
  /** Provider state of recent tool calls, for clients of other formats. */
  readonly callStates: CallStates;
  /** Responses that later calls may go on from. */
  readonly responses: ResponseStore;
  /** Those that put together what a call goes on from, one of an owner at a time. */
  readonly conversationTurns: OwnerTurns;
  /** Which secret of a channel's credential is sent, where one was replaced and its provider refuses the new one. */
  readonly credentials: Pick<RotatedCredentials, "inUse" | "accepted" | "refused">;
  /** Told once a call; for the operator's status. */
  readonly keyUses: Pick<KeyUses, "note">;
}
