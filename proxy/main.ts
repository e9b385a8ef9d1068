/**
 * Starts the proxy: makes its parts, opens its ports, and shuts down in order when told to.
 *
 * The file has no logic of its own: the order of a request is in `handle-request.ts`, the life of the port in
 * `data-server.ts`. A proxy is alive once its ports are open and ready once it has a first snapshot; losing the
 * operator changes neither.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { startAdmin } from "./admin.ts";
import { openLedger } from "./admit/open-ledger.ts";
import { stores } from "./admit/stores.ts";
import { sweepRegularly } from "./admit/sweep-counters.ts";
import { LargeBodyQueue } from "./dispatch/large-body-queue.ts";
import { ReservationHeartbeat } from "./dispatch/reservations/reservation-heartbeat.ts";
import { isStillAllowed } from "./dispatch/revocation/is-still-allowed.ts";
import { OpenAttempts } from "./dispatch/revocation/open-attempts.ts";
import type { Services } from "./dispatch/services.ts";
import { OpenSessions } from "./dispatch/sessions/open-sessions.ts";
import { explain } from "./explain.ts";
import { BodiesUnderWay } from "./http/bodies-under-way.ts";
import { DataCertificate } from "./http/data-certificate.ts";
import { Spool } from "./http/form/spool.ts";
import { InFlightBytes } from "./http/in-flight-bytes.ts";
import { CallStates, callStatesDefaults } from "./neutral/state/call-states.ts";
import { ProxyMetrics } from "./observe/metrics.ts";
import { DataServer } from "./pipeline/data-server.ts";
import { handleRequest } from "./pipeline/handle-request.ts";
import { openResponses } from "./responses-state/open-responses.ts";
import { RotatedCredentials } from "./route/rotated-credentials.ts";
import { KeyedMutex } from "./runtime/keyed-mutex.ts";
import type { ProxyIo, ProxySettings } from "./settings.ts";
import { createTokenEstimator } from "./settle/estimate-tokens.ts";
import { KeyUses } from "./sync/key-uses.ts";
import { PushClient } from "./sync/push-client.ts";
import type { PushTransport } from "./sync/push-transport.ts";
import { reportUsageRegularly } from "./sync/report-usage.ts";
import { SnapshotStore } from "./sync/snapshot-store.ts";
import { unixSocketTransport } from "./sync/socket-transport.ts";
import { startLastGood } from "./sync/start-last-good.ts";
import { tlsTransport } from "./sync/tls-transport.ts";
import { UpstreamPools } from "./upstream/pools/upstream-pool.ts";
import { MediaDownloads } from "./upstream/request/download-media.ts";

const build = "0.1.0";
/** Longer than the longest estimate of tokens. */
const settlementGraceMs = 6_000;
/** A key that has run out is cut within a second (docs/design/operations.md 3.2). */
const expiryCheckMs = 500;

/** Runs until `io.stop` is aborted, then drains. @throws Error when a port or the ledger's store cannot be opened */
export async function runProxy(settings: ProxySettings, io: ProxyIo): Promise<void> {
  const { limits } = settings;
  const { log } = io;
  const metrics = new ProxyMetrics();
  const snapshots = new SnapshotStore();
  // Side by side: each waits for a thread to start.
  const [ledger, responses] = await Promise.all([openLedger(settings, log, metrics), openResponses(settings, log)]);
  metrics.watchLedger(() => ledger);
  const stopSweeping = sweepRegularly(ledger, () => snapshots.pin());
  const estimator = createTokenEstimator();
  const keyUses = new KeyUses();
  const mediaDownloads = new MediaDownloads();
  const credentials = new RotatedCredentials({
    now: () => performance.now(),
    onRefused: (ejected) => log.warn("a provider refuses a channel's credential", { ...ejected }),
  });
  snapshots.onEvent(({ type }) => {
    if (type === "applied") credentials.follow(snapshots.pin());
  });
  const push = connect(settings, snapshots, log.child({ part: "push" }));
  const inFlightBytes = new InFlightBytes(limits.inFlightBytesMax);
  const services: Services = {
    snapshots,
    honoursKeys: () => limits.keyStalenessMaxMs === 0 || push.unconfirmedForMs <= limits.keyStalenessMaxMs,
    ledger,
    reservations: new ReservationHeartbeat(ledger, limits.reservationTtlMs),
    pools: new UpstreamPools(limits),
    openAttempts: new OpenAttempts(),
    openSessions: new OpenSessions(),
    mediaDownloads,
    callStates: new CallStates({ ...callStatesDefaults, clock: () => performance.now() }),
    responses,
    conversationMutex: new KeyedMutex(),
    credentials,
    keyUses,
    metrics,
    accessLog: io.accessLog,
    log,
    limits,
    inFlightBytes,
    spool: new Spool(settings.spoolFolder, limits.spoolBytesMax),
    largeBodyQueue: new LargeBodyQueue(inFlightBytes),
    bodiesUnderWay: new BodiesUnderWay(limits.inFlightRequestsMax),
    trustedProxies: settings.trustedProxies,
    estimateTokens: (text) => estimator.estimate(text),
    now: Date.now,
    random: Math.random,
    nextRequestId: createRequestIds(),
  };
  const stopReporting = reportUsageRegularly({
    uses: keyUses,
    credentials,
    ledger,
    isShared: stores[settings.quota.store].isShared,
    pin: () => snapshots.pin(),
    now: services.now,
    isConnected: () => push.isConnected,
    send: (report) => push.report(report),
  });
  watchConfiguration(services, snapshots, push, log);
  const certificate = settings.tls && new DataCertificate({ ...settings.tls, log });
  metrics.watchCertificate(() => certificate?.notAfterMs);
  const server = new DataServer({
    limits,
    trustedProxies: settings.trustedProxies,
    certificate,
    handle: (exchange) => {
      estimator.warm();
      return handleRequest(exchange, services);
    },
    nextRequestId: services.nextRequestId,
    log,
  });
  const admin = await startAdmin({
    listen: settings.admin,
    metrics,
    snapshots,
    isDraining: () => server.isDraining,
    explain: (question) => explain(question, snapshots.pin(), Date.now()),
  });
  const data = await server.listen(settings.listen, settings.sharePort);
  const lastGood = settings.lastGood && (await startLastGood({ ...settings.lastGood, store: snapshots, log }));
  push.start();
  io.started({ data, admin: admin.address });

  await aborted(io.stop);
  log.info("draining", { openRequests: server.openRequests });
  await server.drain({
    onClosed: () => services.openSessions.drain(),
    cut: () => {
      services.openAttempts.end("shutting-down");
      services.openSessions.cut();
    },
  });
  await lastSettlements(metrics);
  await stopReporting();
  await push.close();
  await lastGood?.close();
  services.reservations.close();
  stopSweeping();
  await ledger.close();
  await estimator.close();
  await services.pools.destroy();
  await mediaDownloads.close();
  await responses.close();
  await admin.close();
  metrics.close();
  io.accessLog?.close();
}

function connect(settings: ProxySettings, store: SnapshotStore, log: ProxyIo["log"]): PushClient {
  const { limits } = settings;
  return new PushClient({
    transport: transportTo(settings.operator, limits.pushDeadMs),
    store,
    proxy: settings.name,
    build,
    heartbeatMs: limits.pushHeartbeatMs,
    deadMs: limits.pushDeadMs,
    onEvent: (event) => {
      const { type, ...fields } = event;
      if (type === "connected") log.debug(type, fields);
      else log.warn(type, fields);
    },
  });
}

function transportTo(operator: ProxySettings["operator"], replyTimeoutMs: number): PushTransport {
  if (operator.kind === "unix") return unixSocketTransport({ socketPath: operator.path, replyTimeoutMs });
  return tlsTransport({ ...operator, replyTimeoutMs });
}

/** What follows from a new configuration beyond the swap itself: pools, cut streams, gauges. */
function watchConfiguration(services: Services, store: SnapshotStore, push: PushClient, log: ProxyIo["log"]): void {
  let appliedAtMs: number | undefined;
  let rejects = 0;
  let rejected: ReadonlySet<string> = new Set();
  store.onEvent((event) => {
    if (event.type === "applied") {
      // An operator that came back and holds the same has changed nothing.
      if (event.previous.digest !== event.snapshot.digest) appliedAtMs = performance.now();
      // An event names all that are held; each is told and counted once while it lasts.
      const news = event.rejects.filter(({ id }) => !rejected.has(id));
      rejected = new Set(event.rejects.map(({ id }) => id));
      rejects += news.length;
      services.pools.retain(store.pin().channels);
      log.debug("configuration applied", { revision: event.revision, applyMs: Math.round(event.applyMs) });
      for (const reject of news) log.warn("the proxy refused an object of the configuration", { ...reject });
    }
    cutRevoked(services, store);
  });
  // A key runs out by the clock, without a change of the configuration.
  setInterval(() => cutRevoked(services, store), expiryCheckMs).unref();
  services.metrics.watchConfig(() => ({
    revision: store.pin().revision,
    silentForMs: store.isReady ? push.silentForMs : undefined,
    ageMs: appliedAtMs === undefined ? undefined : performance.now() - appliedAtMs,
    rejects,
    keyCount: store.pin().keyCount,
    isConnected: push.isConnected,
    isStale: store.isStale,
  }));
}

/** Ends the open calls of keys that may not make them any more, where the fleet wants that at once. */
function cutRevoked(services: Services, store: SnapshotStore): void {
  const live = store.pin();
  const nowMs = services.now();
  services.openSessions.revoke(live, nowMs);
  if (live.fleet.revocation !== "Immediate") return;
  services.openAttempts.stop("revoked", (call) => !isStillAllowed(call, live, nowMs));
}

/** Ids unique over processes and restarts: random once, then counted. */
function createRequestIds(): () => string {
  const prefix = `req_${randomBytes(9).toString("base64url").replace(/[-_]/g, "0")}`;
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}${count.toString(36).padStart(8, "0")}`;
  };
}

/** A response ends before its call is settled where that takes an estimate: the ledger must still be open then. */
async function lastSettlements(metrics: ProxyMetrics): Promise<void> {
  const untilMs = performance.now() + settlementGraceMs;
  while (metrics.inFlight > 0 && performance.now() < untilMs) await delay(10);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
