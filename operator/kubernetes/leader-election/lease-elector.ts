/**
 * Leader election by a Lease (`OPERATIONS.md` section 3): all operators serve proxies, the holder alone writes.
 *
 * Invariants: time is measured by the monotonic clock from what we saw change, never by timestamps of others; whoever
 * holds the Lease believes so only until `renewDeadlineMs` after it *sent* its last renewal, and nobody else takes it
 * before that: a former leader that was paused or cut off therefore never writes after another began. Every write of the
 * Lease names the version it replaces. Losing it ends nothing but writing.
 */
import type { ApiClient } from "#operator/kubernetes/api/api-client";
import { ApiError, isApiStatus } from "#operator/kubernetes/api/api-error";
import { isApiObject, leaseResource } from "#operator/kubernetes/api/api-object";
import type { OwnerReference, ReleaseOwner } from "#operator/kubernetes/installation/release-owner";
import type { Leadership } from "./leadership.ts";
import { isSameTerm, type LeaseRecord, microTime, readLease, writeLease } from "./lease-record.ts";

export interface LeaseTimings {
  /** How long a Lease holds that nobody renews; whole seconds in the API. */
  readonly leaseDurationMs: number;
  /** How long the holder goes on without a renewal. */
  readonly renewDeadlineMs: number;
  /** Between two attempts. */
  readonly retryPeriodMs: number;
}

export const defaultLeaseTimings: LeaseTimings = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

export interface LeaseElectorOptions {
  readonly client: ApiClient;
  /** Where the Lease lies: the operator's own namespace. */
  readonly namespace: string;
  readonly name: string;
  /** `ip:port` under which the other operators reach this one. */
  readonly address: string;
  readonly podName: string;
  readonly timings?: Partial<LeaseTimings>;
  /** With which the Lease is removed. */
  readonly owner?: ReleaseOwner | undefined;
  readonly log: { info(message: string): void; warn(message: string): void };
  readonly random?: () => number;
}

/**
 * How many of our own durations another's Lease may hold: longer ones are those of operators of a release whose lease was
 * longer, which may still be leading; one that somebody wrote in by hand must not keep everybody from leading for ever.
 */
const foreignDurationsMax = 4;

/** How often a leader looks at once when somebody wrote the Lease, before it looks after the retry period as ever. */
const lookAgainMax = 2;

interface Observation {
  readonly record: LeaseRecord;
  /** Monotonic time from which the record is known not to have changed, but for its version. */
  readonly sinceMs: number;
}

export class LeaseElector implements Leadership {
  readonly #options: LeaseElectorOptions;
  readonly #timings: LeaseTimings;
  readonly #random: () => number;
  readonly #callbacks = new Set<() => void>();
  readonly #stop = new AbortController();
  #observation: Observation | undefined;
  /** As of when the Lease was taken. */
  #owner: OwnerReference | undefined;
  readAtMs = Number.NEGATIVE_INFINITY;
  /** Monotonic time until which we may write. */
  #leaderUntilMs = Number.NEGATIVE_INFINITY;
  #told: { isLeader: boolean; address: string | undefined } = { isLeader: false, address: undefined };
  #timer: NodeJS.Timeout | undefined;
  #lapse: NodeJS.Timeout | undefined;
  #attempt: Promise<void> | undefined;
  #failure: string | undefined;
  #transitions = 0;

  constructor(options: LeaseElectorOptions) {
    this.#options = options;
    this.#timings = { ...defaultLeaseTimings, ...options.timings };
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = this.#timings;
    if (renewDeadlineMs + retryPeriodMs > leaseDurationMs || retryPeriodMs >= renewDeadlineMs) {
      throw new RangeError("A lease must outlast the renew deadline by the retry period, and that the retry period.");
    }
    this.#random = options.random ?? Math.random;
  }

  isLeader(): boolean {
    return performance.now() < this.#leaderUntilMs;
  }

  leaderAddress(): string | undefined {
    if (this.isLeader()) return this.#options.address;
    const holder = this.#observation?.record.holder;
    return holder === "" || holder === this.#options.address ? undefined : holder;
  }

  /** How often the Lease changed hands, as far as it says. */
  get transitions(): number {
    return this.#transitions;
  }

  onChange(callback: () => void): () => void {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  start(): void {
    this.#tryLater(0);
  }

  /** Ends taking part, and gives the Lease back where we hold it, so that another takes it within the retry period. */
  async close(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#attempt;
    const wasLeader = this.isLeader();
    this.#leaderUntilMs = Number.NEGATIVE_INFINITY;
    clearTimeout(this.#lapse);
    this.#tell();
    const record = this.#observation?.record;
    if (!wasLeader || record === undefined) return;
    try {
      await this.#write(record, "", performance.now());
    } catch (error) {
      this.#options.log.warn(`the Lease could not be given back and runs out by itself: ${describe(error)}`);
    }
  }

  #tryLater(delayMs: number): void {
    if (this.#stop.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#attempt = this.#try().finally(() => this.#tryLater(this.#untilNextMs()));
    }, delayMs).unref();
  }

  /** A little under the retry period, so that a Lease given back is taken within it; sooner where one runs out. */
  #untilNextMs(): number {
    const periodMs = this.#timings.retryPeriodMs * (0.75 + this.#random() * 0.2);
    const leftMs = this.isLeader() ? 0 : (this.#runsOutAtMs() ?? 0) - performance.now();
    // One that ran out already was just tried for.
    return leftMs > 0 ? Math.min(periodMs, leftMs) : periodMs;
  }

  async #try(againMax = lookAgainMax): Promise<void> {
    try {
      await this.acquireOrRenew();
      if (this.#failure !== undefined) this.#options.log.info("the Lease can be read again");
      this.#failure = undefined;
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const isGone = this.isLeader() && isApiStatus(error, 404);
      if (!isGone && !isApiStatus(error, 409)) this.#noteFailure(describe(error));
      else {
        // Somebody was quicker, or deleted it: the next look shows who leads. It may not be us any more.
        this.#forgetVersion();
        if (this.isLeader() && againMax > 0) return this.#try(againMax - 1);
      }
    }
    this.#tell();
  }

  async acquireOrRenew(): Promise<void> {
    const known = this.#observation?.record;
    if (this.isLeader() && known !== undefined && known.resourceVersion !== "") {
      await this.#write(known, this.#options.address, performance.now());
      return;
    }
    const record = await this.readLease();
    // Somebody else wrote himself in: whatever our deadline says, it is over.
    if (record !== undefined && !this.#isOurs(record)) this.#leaderUntilMs = Number.NEGATIVE_INFINITY;
    if (record !== undefined && !this.#isFree(record)) return;
    this.#owner = await this.#options.owner?.read(this.#bounds);
    const sentAtMs = performance.now();
    if (record === undefined) await this.#create(sentAtMs);
    else await this.#write(record, this.#options.address, sentAtMs);
  }

  /** Reads the Lease. @returns undefined where there is none */
  async readLease(): Promise<LeaseRecord | undefined> {
    const { client, namespace, name } = this.#options;
    const beforeMs = this.readAtMs;
    const askedAtMs = performance.now();
    try {
      const lease = await client.get(leaseResource, namespace, name, this.#bounds);
      this.#options.owner?.owns(lease);
      const record = readLease(lease);
      this.readAtMs = askedAtMs;
      this.#transitions = record.transitions;
      const known = this.#observation;
      if (known === undefined) this.#observation = { record, sinceMs: askedAtMs };
      else if (isSameTerm(known.record, record)) this.#observation = { record, sinceMs: known.sinceMs };
      else {
        // It was written after the look before this one. The holder stops well before the lease is over, so counting
        // from that look is safe while looks are no rarer than the retry period.
        this.#observation = { record, sinceMs: Math.max(beforeMs, askedAtMs - this.#timings.retryPeriodMs) };
      }
      return record;
    } catch (error) {
      if (!isApiStatus(error, 404)) throw error;
      this.#observation = undefined;
      return undefined;
    }
  }

  #isOurs({ holder, holderPod }: LeaseRecord): boolean {
    return holder === this.#options.address && holderPod === this.#options.podName;
  }

  #isFree(record: LeaseRecord): boolean {
    if (record.holder === "" || this.#isOurs(record)) return true;
    const runsOutAtMs = this.#runsOutAtMs();
    return runsOutAtMs !== undefined && performance.now() >= runsOutAtMs;
  }

  /** When the Lease of another, as last seen, is over. */
  #runsOutAtMs(): number | undefined {
    if (this.#observation === undefined) return undefined;
    const { record, sinceMs } = this.#observation;
    const { leaseDurationMs: ownMs } = this.#timings;
    return sinceMs + Math.min(Math.max(record.durationMs, ownMs), foreignDurationsMax * ownMs);
  }

  async #create(sentAtMs: number): Promise<void> {
    const { client, namespace, name, address, podName } = this.#options;
    const time = microTime(Date.now());
    const { leaseDurationMs: durationMs } = this.#timings;
    const content = { namespace, name, holder: address, pod: podName, durationMs, transitions: 0, owner: this.#owner };
    const lease = writeLease({ ...content, acquireTime: time, renewTime: time });
    const created = await client.create(leaseResource, lease, { namespace, ...this.#bounds });
    if (isApiObject(created)) this.#observation = { record: readLease(created), sinceMs: sentAtMs };
    this.#hold(sentAtMs);
  }

  /** Writes the Lease in place of the record given: takes, renews or (`holder` empty) gives it back. */
  async #write(record: LeaseRecord, holder: string, sentAtMs: number): Promise<void> {
    const { client, namespace, name, podName } = this.#options;
    const time = microTime(Date.now());
    const isOurs = this.#isOurs(record);
    const written = await client.update(
      leaseResource,
      writeLease({
        namespace,
        name,
        holder,
        pod: podName,
        durationMs: this.#timings.leaseDurationMs,
        transitions: isOurs || holder === "" ? record.transitions : record.transitions + 1,
        acquireTime: isOurs ? (record.acquireTime ?? time) : time,
        renewTime: time,
        resourceVersion: record.resourceVersion,
        owner: this.#owner,
      }),
      // The last write of a process that ends must not end with it.
      holder === "" ? { timeoutMs: this.#timings.retryPeriodMs } : this.#bounds,
    );
    if (holder === "") return;
    const next = readLease(written);
    this.#transitions = next.transitions;
    this.#observation = { record: next, sinceMs: sentAtMs };
    this.#hold(sentAtMs);
  }

  get #bounds() {
    return { timeoutMs: this.#timings.renewDeadlineMs / 2, signal: this.#stop.signal };
  }

  #hold(sentAtMs: number): void {
    this.#leaderUntilMs = sentAtMs + this.#timings.renewDeadlineMs;
    clearTimeout(this.#lapse);
    this.#lapse = setTimeout(() => this.#tell(), this.#leaderUntilMs - performance.now() + 1).unref();
  }

  #forgetVersion(): void {
    if (this.#observation === undefined) return;
    const { record, sinceMs } = this.#observation;
    this.#observation = { record: { ...record, resourceVersion: "" }, sinceMs };
  }

  #noteFailure(text: string): void {
    if (this.#failure !== text) this.#options.log.warn(`the Lease cannot be taken or renewed: ${text}`);
    this.#failure = text;
  }

  #tell(): void {
    const now = { isLeader: this.isLeader(), address: this.leaderAddress() };
    const before = this.#told;
    if (now.isLeader === before.isLeader && now.address === before.address) return;
    this.#told = now;
    const { log } = this.#options;
    if (now.isLeader && !before.isLeader) log.info("this operator leads: it writes status from now on");
    else if (before.isLeader && !now.isLeader)
      log.warn("this operator no longer leads: it serves on and writes nothing");
    for (const callback of this.#callbacks) callback();
  }
}

function describe(error: unknown): string {
  return error instanceof ApiError || error instanceof Error ? error.message : String(error);
}
