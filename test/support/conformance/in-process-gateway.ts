/**
 * The proxy's whole request pipeline in this process: manifests compiled by the operator's compiler, the real server,
 * ledger, filters and upstream pools on a free port. For suites of hundreds of calls that need what the proxy reports of
 * each; whatever concerns processes, push and files runs against `start-gateway.ts`.
 */
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import type { CompileSettings } from "#operator/compile/compilation";
import type { Compiled } from "#operator/compile/compile";
import { MemoryLedger } from "#proxy/admit/memory-ledger";
import { LargeBodyQueue } from "#proxy/dispatch/large-body-queue";
import { ReservationHeartbeat } from "#proxy/dispatch/reservations/reservation-heartbeat";
import { OpenAttempts } from "#proxy/dispatch/revocation/open-attempts";
import type { Services } from "#proxy/dispatch/services";
import { OpenSessions } from "#proxy/dispatch/sessions/open-sessions";
import { BodiesUnderWay } from "#proxy/http/bodies-under-way";
import { Spool } from "#proxy/http/form/spool";
import { InFlightBytes } from "#proxy/http/in-flight-bytes";
import { defaultLimits, type ProxyLimits } from "#proxy/limits";
import { CallStates, callStatesDefaults } from "#proxy/neutral/state/call-states";
import type { AccessRecord } from "#proxy/observe/access-log";
import { silentLogger } from "#proxy/observe/logger";
import { ProxyMetrics } from "#proxy/observe/metrics";
import { DataServer } from "#proxy/pipeline/data-server";
import { handleRequest } from "#proxy/pipeline/handle-request";
import { memoryStoreLimits } from "#proxy/responses-state/response-store";
import { MemoryResponses } from "#proxy/responses-state/store/memory-responses";
import { RotatedCredentials } from "#proxy/route/rotated-credentials";
import { KeyedMutex } from "#proxy/runtime/keyed-mutex";
import { createTokenEstimator } from "#proxy/settle/estimate-tokens";
import type { IndexedSnapshot } from "#proxy/snapshot/build-index";
import { emptySnapshot, SnapshotDraft } from "#proxy/snapshot/build-index";
import { UpstreamPools } from "#proxy/upstream/pools/upstream-pool";
import { downloadDefaults, MediaDownloads } from "#proxy/upstream/request/download-media";
import { compileText } from "#test/support/compile-manifests";
import { waitFor } from "#test/support/wait-for";

export interface InProcessOptions {
  readonly manifests: string;
  readonly settings?: Partial<CompileSettings>;
  readonly limits?: Partial<ProxyLimits>;
  readonly trustedProxies?: Services["trustedProxies"];
  /** In place of the tokenizer. */
  readonly estimateTokens?: Services["estimateTokens"];
}

export class InProcessGateway {
  readonly port: number;
  readonly ledger: MemoryLedger;
  readonly conversationMutex: KeyedMutex;
  /** What the access log was given, in the order in which requests ended. */
  readonly records: AccessRecord[];
  /** Keys whose use was noted, one entry for each call. */
  readonly usedKeys: string[];
  readonly #services: Services;
  readonly #live: { snapshot: IndexedSnapshot };
  readonly #options: InProcessOptions;
  readonly #close: () => Promise<void>;

  private constructor(parts: Parts) {
    this.port = parts.port;
    this.ledger = parts.ledger;
    this.conversationMutex = parts.services.conversationMutex;
    this.records = parts.records;
    this.usedKeys = parts.usedKeys;
    this.#services = parts.services;
    this.#live = parts.live;
    this.#options = parts.options;
    this.#close = parts.close;
  }

  /** The configuration in force. */
  get snapshot(): IndexedSnapshot {
    return this.#live.snapshot;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Bytes of bodies and files that are held now. */
  get inFlightBytes(): number {
    return this.#services.inFlightBytes.bytes;
  }

  /** Bytes of files of forms that are on disk now. */
  get spooledBytes(): number {
    return this.#services.spool.bytes;
  }

  /** Bodies that are not whole yet. */
  get bodiesUnderWay(): number {
    return this.#services.bodiesUnderWay.count;
  }

  /** What a metric says now, over all its labels that are not given. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const lines = (await this.#services.metrics.render()).split("\n");
    return lines
      .filter((line) => line.startsWith(`${name}{`) && wanted.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  }

  /** @throws AssertionError when a manifest is not accepted */
  static async start(options: InProcessOptions): Promise<InProcessGateway> {
    const live = { snapshot: acceptedSnapshotOf(options) };
    const usedKeys: string[] = [];
    const limits = { ...defaultLimits, endpointLagMs: 0, drainTimeoutMs: 1_000, ...options.limits };
    const ledger = new MemoryLedger({ now: Date.now, reservationTtlMs: limits.reservationTtlMs });
    const records: AccessRecord[] = [];
    const estimator = createTokenEstimator();
    let requests = 0;
    // Tests stand in for the public internet.
    const mediaDownloads = new MediaDownloads(downloadDefaults, ["127.0.0.1/32"]);
    const inFlightBytes = new InFlightBytes(limits.inFlightBytesMax);
    const services: Services = {
      snapshots: { pin: () => live.snapshot, isReady: true },
      honoursKeys: () => true,
      ledger,
      reservations: new ReservationHeartbeat(ledger, limits.reservationTtlMs),
      pools: new UpstreamPools(limits),
      openAttempts: new OpenAttempts(),
      openSessions: new OpenSessions(),
      mediaDownloads,
      callStates: new CallStates({ ...callStatesDefaults, clock: () => performance.now() }),
      conversationMutex: new KeyedMutex(),
      responses: new MemoryResponses({ limits: memoryStoreLimits, now: Date.now }),
      credentials: new RotatedCredentials({ now: () => performance.now() }),
      keyUses: { note: (key) => usedKeys.push(`${key.namespace}/${key.name}`) },
      metrics: new ProxyMetrics(),
      accessLog: { write: (record) => records.push(record), close: () => undefined },
      log: silentLogger,
      limits,
      inFlightBytes,
      spool: new Spool(tmpdir(), limits.spoolBytesMax),
      largeBodyQueue: new LargeBodyQueue(inFlightBytes),
      bodiesUnderWay: new BodiesUnderWay(limits.inFlightRequestsMax),
      trustedProxies: options.trustedProxies ?? { hops: 0, cidrs: [] },
      estimateTokens: options.estimateTokens ?? ((text) => estimator.estimate(text)),
      now: Date.now,
      random: Math.random,
      nextRequestId: () => {
        requests += 1;
        return `req_inprocess${requests}`;
      },
    };
    const server = new DataServer({
      limits,
      trustedProxies: services.trustedProxies,
      certificate: undefined,
      handle: (exchange) => handleRequest(exchange, services),
      nextRequestId: services.nextRequestId,
      log: silentLogger,
    });
    const address = await server.listen({ host: "127.0.0.1", port: 0 }, false);
    const close = async (): Promise<void> => {
      await server.drain({
        onClosed: () => services.openSessions.drain(),
        cut: () => services.openAttempts.end("shutting-down"),
      });
      services.reservations.close();
      await estimator.close();
      await services.pools.destroy();
      await mediaDownloads.close();
      services.metrics.close();
    };
    return new InProcessGateway({ port: address.port, ledger, records, usedKeys, services, live, options, close });
  }

  /** Another configuration from the next call on, whatever its conditions say. */
  apply(manifests: string): void {
    this.#live.snapshot = snapshotOf(compiledOf({ ...this.#options, manifests }));
  }

  /** What the proxy reported of this request, once it has. */
  recordOf(requestId: string): Promise<AccessRecord> {
    return waitFor(`the record of ${requestId}`, () => this.records.find((record) => record.requestId === requestId));
  }

  close(): Promise<void> {
    return this.#close();
  }
}

interface Parts {
  readonly port: number;
  readonly ledger: MemoryLedger;
  readonly records: AccessRecord[];
  readonly usedKeys: string[];
  readonly services: Services;
  readonly live: { snapshot: IndexedSnapshot };
  readonly options: InProcessOptions;
  readonly close: () => Promise<void>;
}

function compiledOf({ manifests, settings }: InProcessOptions): Compiled {
  return compileText(manifests, { egressAllowCIDRs: ["127.0.0.1/32"], ...settings });
}

function acceptedSnapshotOf(options: InProcessOptions): IndexedSnapshot {
  const compiled = compiledOf(options);
  for (const [id, { accepted, resolvedRefs }] of compiled.results) {
    assert.equal(accepted.status, "True", `${id}: ${accepted.message}`);
    assert.notEqual(resolvedRefs?.status, "False", `${id}: ${resolvedRefs?.message}`);
  }
  return snapshotOf(compiled);
}

function snapshotOf({ objects }: Compiled): IndexedSnapshot {
  const draft = new SnapshotDraft(emptySnapshot);
  for (const [id, object] of objects) draft.put(id, "0".repeat(64), 1, object);
  return draft.finish(1);
}
