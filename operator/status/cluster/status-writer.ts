/**
 * Writes status to the API server, by server-side apply on the status subresource under a fixed field manager.
 *
 * It is level-based: a notice only enqueues an object. When its turn comes, the desired status (the reconciler's) is
 * compared with the observed one (the watch's), and only a difference of meaning is written, so an operator that
 * restarts or becomes leader writes nothing. Only the leader writes, and it checks that before each write; each write
 * names the uid and version that it was made for, so that a write delayed by a pause changes nothing. One write is in
 * flight for an object, a few over all; any refusal slows all writes down together, and a status that somebody else
 * keeps changing back is written ever more rarely (`status-contention.ts`). Called by `status-loop.ts`.
 */
import type { ApiClient } from "#operator/kubernetes/api/api-client";
import { ApiError } from "#operator/kubernetes/api/api-error";
import type { Leadership } from "#operator/kubernetes/leader-election/leadership";
import { Backoff } from "#operator/kubernetes/watch/backoff";
import { hasReason } from "#operator/resources/reasons";
import type { OwnKind } from "#operator/resources/resource";
import { ownResources } from "#operator/source/kubernetes/own-resources";
import { isSameMeaning } from "#operator/status/same-meaning";
import type { StatusDocument } from "#operator/status/status-document";
import { HeldQueue } from "./held-queue.ts";
import { type ObservedStatus, type ObservedStatuses, statusFieldManager } from "./observed-statuses.ts";
import { readStatus } from "./read-status.ts";
import { StatusContention } from "./status-contention.ts";

/** The result of an attempt to write. */
export type WriteResult = "written" | "conflict" | "gone" | "invalid" | "forbidden" | "throttled" | "failed";

export interface StatusWriterOptions {
  readonly client: Pick<ApiClient, "apply" | "list">;
  readonly leadership: Pick<Leadership, "isLeader" | "onChange">;
  readonly observedStatuses: ObservedStatuses;
  /** The desired status, by `resultId`, and the uid of its object. */
  readonly desired: (id: string) => { readonly document: StatusDocument; readonly uid: string | undefined } | undefined;
  /** All objects that should have a status, by `resultId`. */
  readonly ids: () => Iterable<string>;
  readonly isReachable: () => boolean;
  /** Receives each status that was written, with the status before it and the object's uid. */
  readonly onWritten: (before: StatusDocument | undefined, after: StatusDocument, uid: string) => void;
  /** Receives, now and then for each namespace, an object whose status somebody else keeps changing back. */
  readonly onContested?: (document: StatusDocument, uid: string, why: string) => void;
  readonly log: { warn(message: string): void; error(message: string): void };
  readonly contention?: StatusContention;
  /** Between two resyncs that enqueue everything, should a notice have been lost. */
  readonly sweepEveryMs?: number;
  /** Writes a second, where more than a burst waits. */
  readonly perSecond?: number;
  readonly backoff?: Backoff;
}

/** A good status is written at once. */
const soonMs = 50;
/** A refused status waits this long: objects that are applied together find each other within this time. */
const settleMs = 300;
/** A pending status waits this long: proxies acknowledge within milliseconds. Also the wait after a conflict. */
const patientMs = 1_000;
const inFlightMax = 8;
/** Statuses in flight: an API server that receives ten thousand first statuses has other work too. */
const defaultPerSecond = 100;
const burst = 200;
const writeTimeoutMs = 5_000;
const unreachableMs = 500;
const tellEveryMs = 60_000;
/** A status that was undone this often was not edited by a person. */
const contestedTimes = 3;
const tellContestedEveryMs = 30 * 60_000;
/** Between two checks whether a Lease that seemed lost is ours after all. */
const resumeMs = 500;

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #contention: StatusContention;
  readonly #queue: HeldQueue;
  readonly #inFlight = new Set<string>();
  /** Statuses that the API server refuses as invalid: they are not tried again. */
  readonly #refused = new Map<string, StatusDocument>();
  /** The version of an object at which a write met a conflict. */
  readonly #conflicts = new Map<string, string>();
  /** Namespaces whose statuses somebody else writes too, and when that was reported. */
  readonly #contested = new Map<string, number>();
  readonly #results = new Map<WriteResult, number>();
  readonly #backoff: Backoff;
  readonly #stops: (() => void)[];
  readonly #sweeping: NodeJS.Timeout;
  #term = new AbortController();
  /** When all writes so far would be over at the even pace; a burst may be ahead of it. */
  #pacedUntilMs = 0;
  /** The API server throttles, or is unreachable. */
  #pausedUntilMs = 0;
  #isFailing = false;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** An object was dropped because this operator did not lead at that moment. */
  #hasLetGo = false;
  #sweptAtMs = performance.now();
  #isClosed = false;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
    this.#backoff = options.backoff ?? new Backoff(500, 30_000);
    this.#contention = options.contention ?? new StatusContention();
    this.#queue = new HeldQueue([soonMs, settleMs, patientMs, ...this.#contention.delaysMs]);
    const { leadership, observedStatuses } = options;
    this.#stops = [
      leadership.onChange(() => {
        if (!leadership.isLeader()) this.#stepDown();
      }),
      observedStatuses.onObserved((id) => this.enqueue(id)),
    ];
    this.#sweeping = setInterval(() => this.#sweep(), resumeMs).unref();
  }

  /** Enqueues an object, by `resultId`: its desired or observed status may have changed. */
  enqueue(id: string): void {
    const { leadership, observedStatuses, desired } = this.#options;
    if (this.#isClosed) return;
    if (!leadership.isLeader()) {
      this.#hasLetGo = true;
      return;
    }
    const wanted = desired(id);
    const observed = observedStatuses.get(id);
    if (wanted === undefined || observed === undefined || !isDifferent(observed, wanted.document)) return;
    const nowMs = performance.now();
    // While a write is in flight the observed status may be that write.
    const contentionMs = this.#inFlight.has(id) ? 0 : this.#contention.waitMs(id, observed, nowMs);
    this.#queue.put(id, Math.max(delayOf(wanted.document), contentionMs), nowMs);
    this.#pumpSoon();
  }

  /** Attempts by result. */
  get results(): ReadonlyMap<WriteResult, number> {
    return this.#results;
  }

  /** Objects whose status waits to be written. */
  get depth(): number {
    return this.#queue.open;
  }

  /** How long the oldest of them has waited. */
  get oldestMs(): number {
    const { oldestSinceMs } = this.#queue;
    return oldestSinceMs === undefined ? 0 : performance.now() - oldestSinceMs;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#sweeping);
    for (const stop of this.#stops) stop();
    this.#stepDown();
  }

  /** Enqueues everything: now and then, and when an expired Lease was renewed before anybody acquired it. */
  #sweep(): void {
    const { leadership, ids, sweepEveryMs = 10 * 60_000 } = this.#options;
    const nowMs = performance.now();
    if (!leadership.isLeader() || (!this.#hasLetGo && nowMs - this.#sweptAtMs < sweepEveryMs)) return;
    this.#hasLetGo = false;
    this.#sweptAtMs = nowMs;
    for (const id of ids()) this.enqueue(id);
  }

  /** Another operator writes from now on: the queue is of no use. */
  #stepDown(): void {
    this.#hasLetGo = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#queue.clear();
    this.#refused.clear();
    this.#conflicts.clear();
    this.#contention.clear();
    this.#contested.clear();
    this.#term.abort();
    this.#term = new AbortController();
  }

  get #intervalMs(): number {
    return 1_000 / (this.#options.perSecond ?? defaultPerSecond);
  }

  #pumpSoon(): void {
    const dueMs = this.#queue.nextDueMs();
    if (dueMs === undefined || this.#isClosed) return;
    clearTimeout(this.#timer);
    const waitMs =
      Math.max(dueMs, this.#pacedUntilMs - burst * this.#intervalMs, this.#pausedUntilMs) - performance.now();
    this.#timer = setTimeout(() => this.#pump(), Math.max(0, waitMs)).unref();
  }

  #pump(): void {
    const { leadership, isReachable } = this.#options;
    const nowMs = performance.now();
    if (!leadership.isLeader()) {
      this.#stepDown();
      return;
    }
    // After a failure one write is tried alone until one succeeds.
    const most = this.#isFailing ? 1 : inFlightMax;
    // Each write that ends makes room and pumps again.
    if (this.#inFlight.size >= most) return;
    if (!isReachable()) this.#pausedUntilMs = nowMs + unreachableMs;
    else if (nowMs >= this.#pacedUntilMs - burst * this.#intervalMs && nowMs >= this.#pausedUntilMs) {
      const id = this.#queue.shift(nowMs);
      if (id !== undefined && this.#inFlight.has(id)) this.#queue.put(id, settleMs, nowMs);
      else if (id !== undefined && this.#begin(id))
        this.#pacedUntilMs = Math.max(this.#pacedUntilMs, nowMs) + this.#intervalMs;
    }
    this.#pumpSoon();
  }

  /** @returns whether there was something to write */
  #begin(id: string): boolean {
    const { observedStatuses, desired } = this.#options;
    const observed = observedStatuses.get(id);
    const wanted = desired(id);
    if (observed === undefined || wanted === undefined || !isDifferent(observed, wanted.document)) {
      this.#queue.done(id);
      return false;
    }
    const { document, uid } = wanted;
    if (this.#refused.get(id) === document) {
      this.#queue.done(id);
      return false;
    }
    // The compiler's result is for an earlier version of the object.
    if (uid !== observed.uid || document.status.observedGeneration !== observed.generation) {
      this.#queue.put(id, settleMs, performance.now());
      return false;
    }
    if (this.#isTooSoon(id, observed, document)) return false;
    this.#inFlight.add(id);
    void this.#write(id, observed, document).then(() => {
      this.#inFlight.delete(id);
      this.#queue.done(id);
      this.#pumpSoon();
    });
    return true;
  }

  /** Somebody else changes the status back: delays the write, and reports it when that goes on. */
  #isTooSoon(id: string, observed: ObservedStatus, document: StatusDocument): boolean {
    const nowMs = performance.now();
    if (this.#contention.timesUndone(id, observed, nowMs) >= contestedTimes)
      this.#reportContested(observed, document, nowMs);
    const waitMs = this.#contention.waitMs(id, observed, nowMs);
    if (waitMs > 0) this.#queue.put(id, waitMs, nowMs);
    return waitMs > 0;
  }

  #reportContested({ uid, foreignManager }: ObservedStatus, document: StatusDocument, nowMs: number): void {
    const { log, onContested } = this.#options;
    const { namespace, name } = document.metadata;
    const toldAtMs = this.#contested.get(namespace);
    if (toldAtMs !== undefined && nowMs - toldAtMs < tellContestedEveryMs) return;
    this.#contested.set(namespace, nowMs);
    const object = `${document.kind} ${namespace}/${name}`;
    const why =
      foreignManager === undefined
        ? `Another operator also writes the status of ${object}, because two releases watch this namespace. Narrow operator.watchNamespaces of one of them.`
        : `${foreignManager} also writes the status of ${object}. Stop it from doing so.`;
    log.warn(`${why} Until then this operator writes the contested statuses ever more rarely.`);
    onContested?.(document, uid, why);
  }

  async #write(id: string, observed: ObservedStatus, document: StatusDocument): Promise<void> {
    const { client, observedStatuses, onWritten } = this.#options;
    const { signal } = this.#term;
    const { kind } = document;
    const status = { ...document.status, conditions: keepTransitionTimes(observed.document, document) };
    const { uid, resourceVersion } = observed;
    try {
      if (this.#conflicts.get(id) === resourceVersion) {
        await this.#readAgain(id, kind, document, signal);
        return;
      }
      const { namespace, name } = document.metadata;
      const object = { metadata: { namespace, name, uid, resourceVersion }, status };
      const options = { fieldManager: statusFieldManager, subresource: "status", signal } as const;
      const response = await client.apply(ownResources[kind], object, { ...options, timeoutMs: writeTimeoutMs });
      this.#count("written");
      this.#conflicts.delete(id);
      this.#isFailing = false;
      this.#backoff.reset();
      const written = readStatus(kind, response, observedStatuses.pool) ?? document;
      this.#contention.noteWrite(id, observed, written, performance.now());
      // The next comparison uses this response, whether the watch has brought it or not.
      observedStatuses.observe(kind, response);
      onWritten(observed.document, { ...document, status }, uid);
    } catch (error) {
      if (!signal.aborted) this.#handleFailure(error, id, resourceVersion, document);
    }
  }

  /** Fetches an object whose write failed: after a restore the watch may believe that it has the present version. */
  async #readAgain(id: string, kind: OwnKind, { metadata }: StatusDocument, signal: AbortSignal): Promise<void> {
    const { client, observedStatuses } = this.#options;
    this.#conflicts.delete(id);
    const options = { namespace: metadata.namespace, fieldSelector: `metadata.name=${metadata.name}`, signal };
    const { items } = await client.list(ownResources[kind], { ...options, timeoutMs: writeTimeoutMs });
    const [object] = items;
    if (object === undefined) observedStatuses.forget(id);
    else observedStatuses.observe(kind, object, true);
  }

  #handleFailure(error: unknown, id: string, resourceVersion: string, document: StatusDocument): void {
    const { log, observedStatuses } = this.#options;
    if (!(error instanceof ApiError)) {
      log.error(`the operator cannot write the status of ${id}: ${String(error)}`);
      return;
    }
    const result = resultOf(error);
    this.#count(result);
    switch (result) {
      case "conflict":
        this.#conflicts.set(id, resourceVersion);
        this.#queue.put(id, patientMs, performance.now());
        return;
      case "gone":
        // The watch brings its deletion, or the next object of that name.
        observedStatuses.forget(id);
        return;
      case "invalid":
        if (this.#refused.size >= 10_000) this.#refused.clear();
        this.#refused.set(id, document);
        log.error(`the API server refuses the status of ${id}: ${error.message}`);
        return;
      default:
        this.#slowDown(error);
        this.#queue.put(id, settleMs, performance.now());
    }
  }

  #slowDown(error: ApiError): void {
    const nowMs = performance.now();
    this.#isFailing = true;
    // Writes in flight fail together and count once.
    if (nowMs >= this.#pausedUntilMs) this.#pausedUntilMs = nowMs + this.#backoff.next(error.retryAfterMs);
    if (nowMs - this.#toldAtMs < tellEveryMs) return;
    this.#toldAtMs = nowMs;
    this.#options.log.warn(`the operator cannot write status: ${error.message}; it tries again`);
  }

  #count(result: WriteResult): void {
    this.#results.set(result, (this.#results.get(result) ?? 0) + 1);
  }
}

function isDifferent({ document }: ObservedStatus, wanted: StatusDocument): boolean {
  return document === undefined || (document !== wanted && !isSameMeaning(document, wanted));
}

/** How long a status waits for a better one. */
function delayOf({ status }: StatusDocument): number {
  const isOnItsWay = status.conditions.some((condition) => hasReason(condition, "Programmed", "Pending"));
  if (!isOnItsWay) return soonMs;
  const isRefused = status.conditions.some(({ type, status: value }) => type !== "Programmed" && value === "False");
  return isRefused ? settleMs : patientMs;
}

/** A condition that is as it was before keeps its transition time, whatever happened in between unwritten. */
function keepTransitionTimes(
  before: StatusDocument | undefined,
  { status }: StatusDocument,
): StatusDocument["status"]["conditions"] {
  return status.conditions.map((condition) => {
    const was = before?.status.conditions.find(({ type }) => type === condition.type);
    const isSame = was !== undefined && was.status === condition.status;
    return isSame ? { ...condition, lastTransitionTime: was.lastTransitionTime } : condition;
  });
}

function resultOf({ status, code }: ApiError): WriteResult {
  if (code !== "refused" || status === undefined) return "failed";
  if (status === 409) return "conflict";
  if (status === 404) return "gone";
  if (status === 400 || status === 422) return "invalid";
  if (status === 401 || status === 403) return "forbidden";
  if (status === 429) return "throttled";
  return "failed";
}
