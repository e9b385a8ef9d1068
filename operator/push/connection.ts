/**
 * One proxy's stream as the operator sees it: what was sent, what was acknowledged, and what has changed since.
 *
 * Invariants: at most one transaction is unacknowledged, and meanwhile changes merge in a set of ids, so that a slow
 * proxy costs memory only for distinct changed objects; a large transaction goes in parts, each written when the one
 * before has drained; revocations are written at once, between parts and before acknowledgements
 * (docs/design/configuration.md 3.5 and 3.6). It knows nothing of HTTP: `push-server.ts` gives it a sink to write to.
 */
import { setImmediate as giveWay } from "node:timers/promises";
import type { IndexedSnapshot } from "#proxy/snapshot/build-index";
import { differenceBySums } from "#proxy/snapshot/diff";
import { type BucketSums, decodeSums } from "#proxy/snapshot/digest";
import { capabilitiesLacked } from "#proxy/snapshot/push/capabilities";
import type { Acknowledgement, DownMessage, Hello, Reject, Report, UpMessage } from "#proxy/snapshot/push/messages";
import { protocolVersion } from "#proxy/snapshot/push/messages";
import { noVersions, type ResourceVersions, versionsSince } from "#proxy/snapshot/push/resource-versions";
import type { Timers } from "#proxy/snapshot/push/timers";
import type { Publication } from "./publisher.ts";
import { transactionLines } from "./transaction-lines.ts";
import type { ResourceUids } from "./versions/resource-uids.ts";
import type { SourceProgress } from "./versions/source-progress.ts";

/** The sink that lines are written to. */
export interface LineSink {
  /** @returns false when the peer reads slower than we write: wait for `drained` before the next part */
  write(line: string): boolean;
  /** Resolves when there is room again; rejects when the stream is over. */
  drained(): Promise<void>;
  end(): void;
}

export interface ConnectionOptions {
  readonly id: string;
  readonly operator: string;
  readonly epoch: number;
  readonly hello: Hello;
  readonly sink: LineSink;
  readonly timers: Timers;
  readonly heartbeatMs: number;
  readonly deadMs: number;
  /** Called after each acknowledgement and once when the connection has ended. */
  readonly onChange: (connection: ProxyConnection) => void;
  readonly onReport?: (proxy: string, report: Report) => void;
  readonly onRefusedAsDeleted?: (ids: readonly string[]) => void;
  /** Where the source counts versions. */
  readonly progress?: SourceProgress;
  /** Where the source has uids. */
  readonly uids?: ResourceUids;
}

interface InFlight {
  readonly revision: number;
  readonly digest: string;
  readonly sums: BucketSums;
  readonly sentAt: number;
}

/** Ids and digests in one line: the longest ones stay below the frame that a proxy accepts. */
const revokedPerLineMax = 2_000;

export class ProxyConnection {
  readonly id: string;
  readonly hello: Hello;
  /** Names of the capabilities that this proxy lacks. */
  readonly lacks: readonly string[];
  readonly #options: ConnectionOptions;
  readonly #changed = new Set<string>();
  #target: IndexedSnapshot;
  /** The configuration that the proxy holds once everything sent is applied. */
  #sentDigest = "";
  #inFlight: InFlight | undefined;
  #acknowledged: Acknowledgement | undefined;
  #acknowledgedSums: BucketSums | undefined;
  /** The versions of the source that the proxy knows. */
  #toldVersions: ResourceVersions = noVersions;
  #toldRemovals = 0;
  #rejects: readonly Reject[];
  #refusals = 0;
  #roundTripMs: number | undefined;
  #heardAt: number;
  #isOpen = true;
  #isStarted = false;
  #endReason: string | undefined;
  #cancelBeat = () => {};

  constructor(options: ConnectionOptions, snapshot: IndexedSnapshot) {
    this.#options = options;
    this.id = options.id;
    this.hello = options.hello;
    this.lacks = capabilitiesLacked(options.hello.capabilities);
    this.#target = snapshot;
    this.#rejects = options.hello.rejects;
    this.#heardAt = options.timers.now();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get endReason(): string | undefined {
    return this.#endReason;
  }

  /** A proxy counts for `Programmed` once it has a first snapshot of this operator. */
  get isReady(): boolean {
    return this.#isOpen && this.#acknowledged !== undefined;
  }

  /** Revision last acknowledged on this connection; 0 before the first. */
  get revision(): number {
    return this.#acknowledged?.revision ?? 0;
  }

  get digest(): string {
    return this.#acknowledged?.digest ?? this.hello.digest;
  }

  /** Of the configuration last acknowledged on this connection, by bucket; undefined before the first. */
  get sums(): BucketSums | undefined {
    return this.#acknowledgedSums;
  }

  get rejects(): readonly Reject[] {
    return this.#rejects;
  }

  /** Whether it refuses more objects than it names: then the state of an object without a name is unknown. */
  get refusesMore(): boolean {
    return (this.#acknowledged?.rejectCount ?? 0) > this.#rejects.length;
  }

  /** Transactions refused as a whole. */
  get refusals(): number {
    return this.#refusals;
  }

  get applyMs(): number | undefined {
    return this.#acknowledged?.applyMs;
  }

  /** From the first byte of the last acknowledged transaction to its acknowledgement. */
  get roundTripMs(): number | undefined {
    return this.#roundTripMs;
  }

  /** Distinct objects changed and not yet sent. */
  get backlog(): number {
    return this.#changed.size;
  }

  /** Time since the transaction in flight was sent; undefined when there is none. */
  get waitingMs(): number | undefined {
    return this.#inFlight === undefined ? undefined : this.#options.timers.now() - this.#inFlight.sentAt;
  }

  /** Greets the proxy and sends the difference to its configuration. */
  start(): void {
    this.#isStarted = true;
    const { hello } = this;
    const target = this.#target;
    const sums = hello.sums === "" ? undefined : decodeSums(hello.sums);
    const isEqual = sums !== undefined && hello.digest === target.digest;
    const sync = sums === undefined ? "full" : isEqual ? "none" : "difference";
    this.#write({
      type: "welcome",
      protocol: protocolVersion,
      operator: this.#options.operator,
      stream: this.id,
      epoch: this.#options.epoch,
      revision: target.revision,
      digest: target.digest,
      sync,
      complete: this.#options.progress?.complete ?? noVersions,
      // A transaction brings its own.
      versions: isEqual ? this.#newVersions() : noVersions,
    });
    this.#heartbeat();
    if (isEqual) {
      // The proxy confirms with an acknowledgement, as after a transaction.
      this.#sentDigest = target.digest;
      this.#expect(target);
    } else {
      this.#sendBuckets(sums, target);
    }
  }

  /** Sends a new revision now, or merges it with others while an acknowledgement is outstanding. */
  offer(publication: Publication): void {
    if (!this.#isOpen) return;
    this.#target = publication.snapshot;
    // Its joining may have released this revision: the stream begins with it.
    if (!this.#isStarted) return;
    for (const id of publication.changed) this.#changed.add(id);
    if (this.#inFlight === undefined) {
      this.#sendChanged();
      return;
    }
    this.#revoke(publication);
  }

  /** Each line is a whole frame, however much is revoked at once; the source's versions go with the last. */
  #revoke({ snapshot, revokedKeys, revokedCredentials }: Publication): void {
    const { revision } = snapshot;
    const count = Math.max(revokedKeys.length, revokedCredentials.length);
    for (let from = 0; from < count; from += revokedPerLineMax) {
      const to = from + revokedPerLineMax;
      this.#write({
        type: "revoke",
        revision,
        keys: revokedKeys.slice(from, to),
        credentials: revokedCredentials.slice(from, to),
        versions: to < count ? noVersions : this.#newVersions(),
      });
    }
  }

  receive(message: UpMessage): void {
    if (!this.#isOpen) return;
    this.#heardAt = this.#options.timers.now();
    switch (message.type) {
      case "acknowledgement":
        this.#receiveAcknowledgement(message);
        return;
      case "report":
        this.#options.onReport?.(this.hello.proxy, message);
        return;
      case "ping":
        this.#write({ type: "pong", at: Math.round(this.#options.timers.wallClock()) });
        return;
      case "pong":
        return;
      default:
        message satisfies never;
    }
  }

  /** Asks the proxy to come back, perhaps to another replica, and ends the stream. */
  goAway(withinMs: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#write({ type: "goaway", withinMs, reason });
    this.close(reason);
  }

  close(reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#endReason = reason;
    this.#cancelBeat();
    this.#changed.clear();
    this.#options.sink.end();
    this.#options.onChange(this);
  }

  #receiveAcknowledgement(acknowledgement: Acknowledgement): void {
    this.#rejects = acknowledgement.rejects;
    const deleted = this.#rejects.filter(({ code }) => code === "removed");
    if (deleted.length > 0) this.#options.onRefusedAsDeleted?.(deleted.map(({ id }) => id));
    if (acknowledgement.refused !== undefined) {
      this.#refusals += 1;
      this.close(`the proxy refused a transaction: ${acknowledgement.refused.code}`);
      return;
    }
    const inFlight = this.#inFlight;
    if (inFlight === undefined || inFlight.revision !== acknowledgement.revision) return;
    if (inFlight.digest !== acknowledgement.digest) {
      this.close("the proxy acknowledged another digest");
      return;
    }
    this.#inFlight = undefined;
    this.#roundTripMs = this.#options.timers.now() - inFlight.sentAt;
    this.#acknowledged = acknowledgement;
    this.#acknowledgedSums = inFlight.sums;
    if (this.#changed.size > 0) this.#sendChanged();
    this.#options.onChange(this);
  }

  #sendChanged(): void {
    const target = this.#target;
    const upserts: string[] = [];
    const removes: string[] = [];
    for (const id of this.#changed) (target.held(id) === undefined ? removes : upserts).push(id);
    this.#changed.clear();
    this.#send(target, this.#sentDigest, { buckets: [], upserts, removes });
  }

  #sendBuckets(sums: BucketSums | undefined, target: IndexedSnapshot): void {
    this.#send(target, this.hello.digest, differenceBySums(sums, target));
  }

  #send(target: IndexedSnapshot, base: string, difference: ReturnType<typeof differenceBySums>): void {
    this.#expect(target);
    this.#sentDigest = target.digest;
    const { epoch, uids } = this.#options;
    const removedUids = uids?.removedSince(this.#toldRemovals) ?? [];
    this.#toldRemovals = uids?.sequence ?? 0;
    const versions = this.#newVersions();
    const uidOf = (id: string) => uids?.uidOf(id);
    const lines = transactionLines({ epoch, base, difference, target, versions, removedUids, uidOf });
    // A small transaction is one line and goes out now; the rest of a large one follows as the stream drains.
    const first = lines.next();
    if (first.done === true) return;
    const hasRoom = this.#options.sink.write(first.value);
    this.#writeRest(lines, hasRoom).catch(() => this.close("the stream ended while parts were sent"));
  }

  #expect({ revision, digest, sums }: IndexedSnapshot): void {
    this.#inFlight = { revision, digest, sums, sentAt: this.#options.timers.now() };
  }

  /** The versions of the source that are newer than the proxy was last told. */
  #newVersions(): ResourceVersions {
    const seen = this.#options.progress?.seen ?? noVersions;
    const news = versionsSince(this.#toldVersions, seen);
    this.#toldVersions = seen;
    return news;
  }

  async #writeRest(lines: Generator<string>, hasRoom: boolean): Promise<void> {
    let mayWrite = hasRoom;
    while (this.#isOpen) {
      if (!mayWrite) await this.#options.sink.drained();
      const line = lines.next();
      if (line.done === true || !this.#isOpen) return;
      mayWrite = this.#options.sink.write(line.value);
      await giveWay();
    }
  }

  #heartbeat(): void {
    const { timers, heartbeatMs, deadMs } = this.#options;
    this.#cancelBeat = timers.after(heartbeatMs, () => {
      if (timers.now() - this.#heardAt >= deadMs) {
        this.close("the proxy is silent");
        return;
      }
      this.#write({ type: "ping", at: Math.round(timers.wallClock()) });
      this.#heartbeat();
    });
  }

  #write(message: DownMessage): void {
    this.#options.sink.write(`${JSON.stringify(message)}\n`);
  }
}
