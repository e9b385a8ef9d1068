/**
 * Writes Events (events.k8s.io/v1). The first of its kind is created; the same Event again within half an hour is
 * counted in its series, at most once a minute.
 *
 * Events are best effort: a few a second are written, others are counted and dropped, and an API server that refuses
 * them is left alone for a while. Only the leader writes. Called after each write of status.
 */
import { hash } from "node:crypto";
import type { ApiClient } from "#operator/kubernetes/api/api-client";
import { ApiError, isApiStatus } from "#operator/kubernetes/api/api-error";
import { eventResource } from "#operator/kubernetes/api/api-object";
import type { Leadership } from "#operator/kubernetes/leader-election/leadership";
import { Backoff } from "#operator/kubernetes/watch/backoff";
import type { OwnKind } from "#operator/resources/resource";
import { HeldQueue } from "#operator/status/cluster/held-queue";
import type { EventFacts } from "./events-of.ts";

/** The object that an Event is about. */
export interface Regarding {
  readonly kind: OwnKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export type EventResult = "created" | "counted" | "dropped" | "failed";

export interface EventWriterOptions {
  readonly client: Pick<ApiClient, "create" | "apply">;
  readonly leadership: Pick<Leadership, "isLeader" | "onChange">;
  readonly isReachable: () => boolean;
  /** This operator. */
  readonly podName: string;
  readonly log: { warn(message: string): void };
  readonly now?: () => number;
  /** From the first repetition to its count, and between two counts of one series. */
  readonly seriesMs?: { readonly first: number; readonly every: number };
  readonly backoff?: Backoff;
}

interface Told {
  readonly regarding: Regarding;
  readonly facts: EventFacts;
  readonly eventName: string;
  count: number;
  isCreated: boolean;
  lastMs: number;
}

const fieldManager = "tollgate-events";
const controller = "tollgate.dev/operator";
/** The same after this time is news again; the API server keeps Events for an hour. */
const rememberMs = 30 * 60_000;
const rememberedMax = 2_000;
const waitingMax = 500;
const perSecond = 10;
const unreachableMs = 1_000;
const tellEveryMs = 60_000;
/** Bounds of the API. */
const noteMax = 1_024;
const nameMax = 253;
const instanceMax = 128;

export class EventWriter {
  readonly #options: EventWriterOptions;
  readonly #now: () => number;
  readonly #seriesMs: { readonly first: number; readonly every: number };
  readonly #backoff: Backoff;
  /** By object and content; the least recently told first. */
  readonly #told = new Map<string, Told>();
  readonly #queue: HeldQueue;
  readonly #results = new Map<EventResult, number>();
  readonly #stop: () => void;
  #term = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #notBeforeMs = 0;
  #isWriting = false;
  #warnedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: EventWriterOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#seriesMs = options.seriesMs ?? { first: 5_000, every: 60_000 };
    this.#backoff = options.backoff ?? new Backoff(500, 30_000);
    this.#queue = new HeldQueue([0, this.#seriesMs.first, this.#seriesMs.every]);
    const { leadership } = options;
    this.#stop = leadership.onChange(() => {
      if (!leadership.isLeader()) this.#stepDown();
    });
  }

  /** Attempts by result. */
  get results(): ReadonlyMap<EventResult, number> {
    return this.#results;
  }

  /** Sends an Event about an object, or counts its repetition. */
  send(regarding: Regarding, facts: EventFacts): void {
    if (!this.#options.leadership.isLeader()) return;
    const note = facts.note.length > noteMax ? `${facts.note.slice(0, noteMax - 1)}…` : facts.note;
    const key = hash("sha256", JSON.stringify([regarding, facts.type, facts.reason, facts.action, note]), "hex");
    const nowMs = this.#now();
    const before = this.#told.get(key);
    const isAgain = before !== undefined && nowMs - before.lastMs < rememberMs;
    this.#told.delete(key);
    if (isAgain) {
      before.count += 1;
      before.lastMs = nowMs;
      this.#told.set(key, before);
    } else {
      // The same Event has the same name, so that an operator that restarts finds it.
      const suffix = `.${hash("sha256", `${key} ${Math.floor(nowMs / rememberMs)}`, "hex").slice(0, 16)}`;
      const eventName = `${regarding.name.slice(0, nameMax - suffix.length)}${suffix}`;
      const told = { regarding, facts: { ...facts, note }, eventName, count: 1, isCreated: false, lastMs: nowMs };
      this.#told.set(key, told);
    }
    const [oldest] = this.#told.keys();
    if (this.#told.size > rememberedMax && oldest !== undefined) this.#told.delete(oldest);
    if (this.#queue.size >= waitingMax) {
      this.#count("dropped");
      if (!isAgain) this.#told.delete(key);
      return;
    }
    const { first, every } = this.#seriesMs;
    this.#queue.put(key, !isAgain ? 0 : before.count === 2 ? first : every, performance.now());
    this.#writeSoon();
  }

  close(): void {
    this.#stop();
    this.#stepDown();
  }

  #stepDown(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#queue.clear();
    this.#told.clear();
    this.#term.abort();
    this.#term = new AbortController();
  }

  #writeSoon(): void {
    const dueMs = this.#queue.nextDueMs();
    if (dueMs === undefined || this.#isWriting) return;
    clearTimeout(this.#timer);
    const waitMs = Math.max(0, Math.max(dueMs, this.#notBeforeMs) - performance.now());
    this.#timer = setTimeout(() => void this.#writeNext(), waitMs).unref();
  }

  async #writeNext(): Promise<void> {
    const { leadership, isReachable } = this.#options;
    if (!leadership.isLeader()) {
      this.#stepDown();
      return;
    }
    const nowMs = performance.now();
    this.#notBeforeMs = nowMs + (isReachable() ? 1_000 / perSecond : unreachableMs);
    const key = isReachable() ? this.#queue.shift(nowMs) : undefined;
    const told = key === undefined ? undefined : this.#told.get(key);
    if (key !== undefined) this.#queue.done(key);
    if (key !== undefined && told !== undefined) {
      this.#isWriting = true;
      await this.#write(key, told);
      this.#isWriting = false;
    }
    this.#writeSoon();
  }

  async #write(key: string, told: Told): Promise<void> {
    const { client } = this.#options;
    const { signal } = this.#term;
    const { namespace } = told.regarding;
    try {
      if (told.isCreated) {
        const series = { count: told.count, lastObservedTime: microTime(told.lastMs) };
        const event = { metadata: { namespace, name: told.eventName }, series };
        await client.apply(eventResource, event, { fieldManager, signal });
        this.#count("counted");
      } else {
        await client.create(eventResource, this.#eventOf(told), { namespace, signal });
        told.isCreated = true;
        this.#count("created");
      }
      this.#backoff.reset();
    } catch (error) {
      if (signal.aborted) return;
      this.#handleFailure(error, key, told);
    }
  }

  #eventOf({ regarding, facts, eventName, lastMs }: Told): object {
    const { kind, namespace, name, uid } = regarding;
    const { type, reason, action, note } = facts;
    return {
      metadata: { namespace, name: eventName },
      eventTime: microTime(lastMs),
      type,
      reason,
      action,
      note,
      regarding: { apiVersion: "tollgate.dev/v1alpha1", kind, namespace, name, uid },
      reportingController: controller,
      reportingInstance: this.#options.podName.slice(0, instanceMax),
    };
  }

  #handleFailure(error: unknown, key: string, told: Told): void {
    if (!told.isCreated && isApiStatus(error, 409)) {
      told.isCreated = true;
      return;
    }
    this.#count("failed");
    const nowMs = performance.now();
    const { code, status = 0, retryAfterMs } = error instanceof ApiError ? error : { code: "refused" };
    if (code !== "refused" || status === 429 || status >= 500) {
      this.#notBeforeMs = nowMs + this.#backoff.next(retryAfterMs);
      this.#queue.put(key, 0, nowMs);
    } else if (told.isCreated && isApiStatus(error, 404)) {
      // The API server has deleted it after its hour: the next is the first again.
      this.#told.delete(key);
    }
    if (nowMs - this.#warnedAtMs < tellEveryMs) return;
    this.#warnedAtMs = nowMs;
    const why = error instanceof Error ? error.message : String(error);
    this.#options.log.warn(`the operator cannot write an Event: ${why}`);
  }

  #count(result: EventResult): void {
    this.#results.set(result, (this.#results.get(result) ?? 0) + 1);
  }
}

/** With microseconds, as the API wants it. */
function microTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace("Z", "000Z");
}
