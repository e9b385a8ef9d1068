/**
 * Elects a leader by a Lease (docs/design/operations.md 1.4): all operators serve proxies, and only the holder writes.
 *
 * Invariants: time is measured by the monotonic clock from changes that this operator observed, never by timestamps of
 * others; the holder counts on the Lease only until `renewDeadlineMs` after it *sent* its last renewal, and nobody else
 * acquires it before that, so a former leader that was paused or cut off never writes after another one has begun;
 * every write of the Lease names the version that it replaces. Losing the Lease ends nothing but writing.
 */
import type { ApiClient } from "#operator/kubernetes/api/api-client";
import { ApiError, isApiStatus } from "#operator/kubernetes/api/api-error";
import { isApiObject, leaseResource } from "#operator/kubernetes/api/api-object";
import type { OwnerReference, ReleaseOwner } from "#operator/kubernetes/installation/release-owner";
import type { Leadership } from "./leadership.ts";
import { isSameTerm, type LeaseRecord, microTime, readLease, writeLease } from "./lease-record.ts";

export interface LeaseTimings {
  /** How long a Lease holds without a renewal; whole seconds in the API. */
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
  /** The owner with which the Lease is deleted. */
  readonly owner?: ReleaseOwner | undefined;
  readonly log: { info(message: string): void; warn(message: string): void };
  readonly random?: () => number;
}

/**
 * The longest duration of another's Lease that is honoured, in multiples of our own. A longer duration comes from an
 * operator of another release that may still lead; one written by hand must not block all operators for ever.
 */
const foreignDurationsMax = 4;

/** How often a leader reads the Lease again at once after a foreign write, before it waits for the retry period. */
const lookAgainMax = 2;

interface Observation {
  readonly record: LeaseRecord;
  /** Monotonic time since which the record has not changed, except for its version. */
  readonly sinceMs: number;
}

export class LeaseElector implements Leadership {
  readonly #options: LeaseElectorOptions;
  readonly #timings: LeaseTimings;
  readonly #random: () => number;
  readonly #callbacks = new Set<() => void>();
  readonly #stop = new AbortController();
  #observation: Observation | undefined;
  /** Since when this operator holds the Lease. */
  #owner: OwnerReference | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  /** Monotonic time until which this operator may write. */
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
      throw new RangeError(
        "The lease duration must be at least renew deadline plus retry period, and the deadline longer than the period.",
      );
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

  /** How often the Lease passed to another holder, by its own count. */
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

  /** Leaves the election and releases the Lease where we hold it, so that another acquires it within the retry period. */
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
      this.#options.log.warn(`the operator cannot release the Lease, which expires by itself: ${describe(error)}`);
    }
  }

  #tryLater(delayMs: number): void {
    if (this.#stop.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#attempt = this.#try().finally(() => this.#tryLater(this.#untilNextMs()));
    }, delayMs).unref();
  }

  /** A little under the retry period, so that a released Lease is acquired within it; sooner when one expires. */
  #untilNextMs(): number {
    const periodMs = this.#timings.retryPeriodMs * (0.75 + this.#random() * 0.2);
    const leftMs = this.isLeader() ? 0 : (this.#runsOutAtMs() ?? 0) - performance.now();
    // An attempt at an expired Lease was just made.
    return leftMs > 0 ? Math.min(periodMs, leftMs) : periodMs;
  }

  async #try(againMax = lookAgainMax): Promise<void> {
    try {
      await this.#acquireOrRenew();
      if (this.#failure !== undefined) this.#options.log.info("the operator can read the Lease again");
      this.#failure = undefined;
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const isGone = this.isLeader() && isApiStatus(error, 404);
      if (!isGone && !isApiStatus(error, 409)) this.#noteFailure(describe(error));
      else {
        // Another operator was faster, or the Lease was deleted: the next read shows who leads. It may not be us any more.
        this.#forgetVersion();
        if (this.isLeader() && againMax > 0) return this.#try(againMax - 1);
      }
    }
    this.#tell();
  }

  async #acquireOrRenew(): Promise<void> {
    const known = this.#observation?.record;
    if (this.isLeader() && known !== undefined && known.resourceVersion !== "") {
      await this.#write(known, this.#options.address, performance.now());
      return;
    }
    const record = await this.#readLease();
    // Another holder is in the Lease: our leadership is over, whatever our deadline says.
    if (record !== undefined && !this.#isOurs(record)) this.#leaderUntilMs = Number.NEGATIVE_INFINITY;
    if (record !== undefined && !this.#isFree(record)) return;
    this.#owner = await this.#options.owner?.read(this.#bounds);
    const sentAtMs = performance.now();
    if (record === undefined) await this.#create(sentAtMs);
    else await this.#write(record, this.#options.address, sentAtMs);
  }

  /** Reads the Lease. @returns undefined where there is none */
  async #readLease(): Promise<LeaseRecord | undefined> {
    const { client, namespace, name } = this.#options;
    const beforeMs = this.#readAtMs;
    const askedAtMs = performance.now();
    try {
      const lease = await client.get(leaseResource, namespace, name, this.#bounds);
      this.#options.owner?.owns(lease);
      const record = readLease(lease);
      this.#readAtMs = askedAtMs;
      this.#transitions = record.transitions;
      const known = this.#observation;
      if (known === undefined) this.#observation = { record, sinceMs: askedAtMs };
      else if (isSameTerm(known.record, record)) this.#observation = { record, sinceMs: known.sinceMs };
      else {
        // It was written after the read before this one. The holder stops well before the lease is over, so counting
        // from that read is safe while reads are no rarer than the retry period.
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

  /** When the Lease of another, as last read, expires. */
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

  /** Replaces the record in the Lease: acquires, renews or (with an empty `holder`) releases it. */
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
    if (this.#failure !== text) this.#options.log.warn(`the operator cannot acquire or renew the Lease: ${text}`);
    this.#failure = text;
  }

  #tell(): void {
    const now = { isLeader: this.isLeader(), address: this.leaderAddress() };
    const before = this.#told;
    if (now.isLeader === before.isLeader && now.address === before.address) return;
    this.#told = now;
    const { log } = this.#options;
    if (now.isLeader && !before.isLeader) log.info("this operator leads and writes status from now on");
    else if (before.isLeader && !now.isLeader)
      log.warn("this operator no longer leads; it still serves proxies and writes nothing");
    for (const callback of this.#callbacks) callback();
  }
}

function describe(error: unknown): string {
  return error instanceof ApiError || error instanceof Error ? error.message : String(error);
}
