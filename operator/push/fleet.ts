/**
 * Knows which proxy acknowledged which version: the connected proxies, those that followers report, and those that the
 * cluster lists. For each object it says whether every ready proxy holds the present version. `Programmed` and
 * `/debug/fleet` come from it; docs/design/configuration.md 1.5 says which proxies count.
 *
 * A proxy counts when it has acknowledged a configuration here or at another operator, or when the cluster calls its
 * pod ready: a ready proxy that never connected holds none of our configuration. Proxies of this operator are compared
 * by revision, those of others by the sums of the object's bucket, which are equal wherever the content is. The fleet
 * tells the publisher which capabilities connected proxies lack, and the publisher holds those versions back.
 */

import type { ExpectedProxies } from "#operator/kubernetes/installation/expected-proxies";
import { bucketOf } from "#proxy/snapshot/digest";
import { capabilitiesNeeded } from "#proxy/snapshot/push/capabilities";
import { systemTimers, type Timers } from "#proxy/snapshot/push/timers";
import type { ProxyConnection } from "./connection.ts";
import { type ProxyView, viewOfConnection, viewOfGroup } from "./fleet-view.ts";
import { OldProxies } from "./old-proxies.ts";
import type { Publication, Publisher } from "./publisher.ts";
import type { PeerSummaries } from "./replicas/peer-summaries.ts";
import type { OldProxy, ProxyGroup, Summary } from "./replicas/summary.ts";

export interface ObjectAcknowledgement {
  readonly state: "Programmed" | "Pending" | "Rejected" | "NoProxies" | "ProxyTooOld";
  readonly readyProxies: number;
  readonly acknowledgedBy: number;
  readonly rejects: readonly ObjectRefusal[];
  /** Some of the ready proxies that do not hold it, with the cause where it is known. */
  readonly missing: readonly string[];
  /** Proxies that lack some of its fields, in whichever state. */
  readonly tooOld?: TooOld;
}

/** The refusal of an object by a proxy or by the operator's own check. */
export interface ObjectRefusal {
  readonly by: string;
  /** Field and rule. */
  readonly why: string;
}

export interface TooOld {
  /** As the author of the resource writes them. */
  readonly fields: readonly string[];
  readonly proxies: readonly string[];
  /** Where the object is in force meanwhile: in its previous version, nowhere, or at proxies that understand it. */
  readonly inForce: "before" | "nowhere" | "elsewhere";
}

export interface FleetOptions {
  /** Summaries of followers, where there are several operators. */
  readonly peers?: PeerSummaries;
  /** Undefined: there is no cluster that lists proxies. */
  readonly expected?: ExpectedProxies;
  readonly timers?: Timers;
  /** Time in which all proxies and followers report after a start or a change of leader. */
  readonly stabiliseMs?: number;
  /** How long an old proxy whose stream ended still counts, because it may reconnect. */
  readonly graceMs?: number;
}

/** The proxies that count, computed once between two changes. */
interface FleetState {
  readonly ready: readonly ProxyConnection[];
  readonly groups: readonly (ProxyGroup & { readonly via: string })[];
  /** Ready in the cluster, without a known configuration. */
  readonly absent: readonly string[];
  /** Here or elsewhere, and without some capability. */
  readonly old: readonly OldProxy[];
}

const missingNamedMax = 5;

export class Fleet {
  readonly #publisher: Publisher;
  readonly #options: FleetOptions;
  readonly #timers: Timers;
  readonly #connections = new Map<string, ProxyConnection>();
  readonly #listeners = new Set<() => void>();
  /** Revision in which an object got its present version; objects that still have their first are left out. */
  readonly #changedIn = new Map<string, number>();
  readonly #stops: (() => void)[];
  #state: FleetState | undefined;
  #firstRevision: number;
  #refusals = 0;
  readonly #old: OldProxies;
  #stableAt: number;

  constructor(publisher: Publisher, options: FleetOptions = {}) {
    this.#publisher = publisher;
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#firstRevision = publisher.snapshot.revision;
    this.#stableAt = this.#timers.now() + (options.stabiliseMs ?? 15_000);
    this.#old = new OldProxies({
      ...options,
      graceMs: options.graceMs ?? 30_000,
      connections: () => this.#connections.values(),
      onChange: () => this.#proxiesChanged(),
    });
    this.#stops = [
      publisher.onPublish((publication) => this.#spread(publication)),
      publisher.onHeldBack(() => this.#changed()),
      options.peers?.onChange(() => this.#proxiesChanged()) ?? (() => {}),
      options.expected?.onChange(() => this.#proxiesChanged()) ?? (() => {}),
    ];
  }

  /** Transactions refused as a whole, by all proxies of this operator since the start. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Calls back after acknowledgements, joins, leaves and publications; the listener reads what it needs. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  join(connection: ProxyConnection): void {
    const former = [...this.#connections.values()].filter(({ hello }) => hello.proxy === connection.hello.proxy);
    // Add it first: a revision that the next lines release is offered to it too, and its capabilities count at once.
    this.#connections.set(connection.id, connection);
    this.#old.joined(connection.hello.proxy);
    // A proxy that comes back before its old stream was found dead replaces it.
    for (const other of former) other.close("the proxy opened another stream");
    this.#proxiesChanged();
  }

  /** A connection acknowledged something or has ended. */
  update(connection: ProxyConnection): void {
    if (!connection.isOpen && this.#connections.delete(connection.id)) {
      this.#refusals += connection.refusals;
      this.#old.left(connection);
      this.#tellLacked();
    }
    this.#changed();
  }

  /** Sets the capabilities that connected proxies lack at any operator, as the leader reports them. */
  setLackedElsewhere(lacked: readonly string[]): void {
    this.#old.setLackedElsewhere(lacked);
    this.#tellLacked();
  }

  /** Capabilities that some connected proxy lacks, as far as this operator knows; the leader knows of all. */
  get lacked(): ReadonlySet<string> {
    return this.#old.lacked();
  }

  connection(id: string): ProxyConnection | undefined {
    return this.#connections.get(id);
  }

  /** Whether every ready proxy holds the present version of an object, or the fact of its removal. */
  acknowledgementOf(id: string): ObjectAcknowledgement {
    const { ready, groups, absent } = this.#current();
    const wanted = this.#wantedRevisionOf(id);
    const bucket = bucketOf(id);
    const wantedSum = this.#publisher.wantedSums[bucket];
    const tooOld = this.#tooOldFor(id);
    const rejects: ObjectRefusal[] = [];
    const missing: string[] = [];
    let readyProxies = ready.length + absent.length;
    let acknowledgedBy = 0;
    for (const { revision, hello, rejects: held, refusesMore } of ready) {
      if (revision < wanted) {
        missing.push(hello.proxy);
        continue;
      }
      const found = held.find((reject) => reject.id === id);
      if (found === undefined && refusesMore) {
        missing.push(perhapsRefused(hello.proxy));
        continue;
      }
      acknowledgedBy += 1;
      if (found === undefined || tooOld?.proxies.includes(hello.proxy)) continue;
      rejects.push({ by: hello.proxy, why: found.message });
    }
    for (const group of groups) {
      readyProxies += group.proxies.length;
      if (group.sums[bucket] !== wantedSum) {
        missing.push(...group.proxies);
        continue;
      }
      const found = group.rejects.filter((reject) => reject.id === id);
      const untold = group.untold.filter((proxy) => !found.some((reject) => reject.proxy === proxy));
      acknowledgedBy += group.proxies.length - untold.length;
      missing.push(...untold.map(perhapsRefused));
      for (const { proxy, message } of found)
        if (tooOld?.proxies.includes(proxy) !== true) rejects.push({ by: proxy, why: message });
    }
    for (const name of absent) missing.push(`${name} (not connected)`);

    const problem = this.#publisher.problems.get(id);
    if (problem !== undefined) rejects.push({ by: "the operator", why: `${problem.path} ${problem.message}` });
    const named = missing.slice(0, missingNamedMax);
    const facts = { readyProxies, acknowledgedBy, rejects, missing: named, ...(tooOld && { tooOld }) };
    if (readyProxies === 0 && problem === undefined) return { state: "NoProxies", ...facts };
    if (rejects.length > 0) return { state: "Rejected", ...facts };
    if (tooOld !== undefined) return { state: "ProxyTooOld", ...facts };
    // The proxies hold the previous version.
    if (this.#publisher.isWaiting(id)) return { state: "Pending", ...facts, acknowledgedBy: 0 };
    return { state: acknowledgedBy === readyProxies ? "Programmed" : "Pending", ...facts };
  }

  /** The number of proxies that count, wherever they are connected, or not connected at all. */
  get readyCount(): number {
    const { ready, groups, absent } = this.#current();
    return groups.reduce((sum, { proxies }) => sum + proxies.length, ready.length + absent.length);
  }

  /** The number of proxies that acknowledged a configuration of this operator. */
  get ownReadyCount(): number {
    return this.#current().ready.length;
  }

  /** The number of streams open here. */
  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Proxies that are ready in the cluster and connected to no known operator. */
  get absent(): readonly string[] {
    return this.#current().absent;
  }

  /** Whether a connected proxy has no configuration of this operator yet; only for as long as it counts as alive. */
  get isSyncing(): boolean {
    return [...this.#connections.values()].some(({ isReady }) => !isReady);
  }

  /** False shortly after a start or a change of leader, until all proxies and followers have had the time to report. */
  get isStable(): boolean {
    if (this.#timers.now() >= this.#stableAt) return true;
    const { expected } = this.#options;
    if (expected === undefined || expected.ready === undefined) return false;
    // That there are no proxies at all is believed a little later.
    return this.#current().absent.length === 0 && this.readyCount > 0;
  }

  /** Starts the stabilising time: this operator became leader, and followers have not reported yet. */
  stabilise(): void {
    const settleMs = this.#options.stabiliseMs ?? 15_000;
    this.#stableAt = this.#timers.now() + settleMs;
    this.#old.forgetIn(settleMs);
  }

  /** Ids that some connected proxy refused, or that did not pass the operator's own check. */
  rejectedIds(): ReadonlySet<string> {
    const ids = new Set(this.#publisher.problems.keys());
    for (const connection of this.#connections.values()) for (const { id } of connection.rejects) ids.add(id);
    for (const { rejects } of this.#current().groups) for (const { id } of rejects) ids.add(id);
    return ids;
  }

  /** Revision that every ready proxy of this operator has acknowledged; 0 when there is none. */
  get leastRevision(): number {
    const { ready } = this.#current();
    return ready.length === 0 ? 0 : Math.min(...ready.map((connection) => connection.revision));
  }

  view(): ProxyView[] {
    const { revision } = this.#publisher.snapshot;
    const own = [...this.#connections.values()].map((connection) => viewOfConnection(connection, revision));
    return [...own, ...this.#current().groups.flatMap(viewOfGroup)];
  }

  /** The summary of the proxies here, for the leader. */
  summary(operator: string): Summary {
    const groups = new Map<
      string,
      ProxyGroup & { proxies: string[]; rejects: { proxy: string; id: string; message: string }[]; untold: string[] }
    >();
    const joining: string[] = [];
    for (const { hello, sums, digest, rejects, refusesMore, isOpen } of this.#connections.values()) {
      if (!isOpen) continue;
      if (sums === undefined) {
        joining.push(hello.proxy);
        continue;
      }
      const group = groups.get(digest) ?? {
        digest,
        sums: this.#publisher.asWanted(sums),
        proxies: [],
        rejects: [],
        untold: [],
      };
      groups.set(digest, group);
      group.proxies.push(hello.proxy);
      if (refusesMore) group.untold.push(hello.proxy);
      for (const { id, message } of rejects) group.rejects.push({ proxy: hello.proxy, id, message });
    }
    return { operator, groups: [...groups.values()], joining, old: this.#old.own() };
  }

  /** Asks all proxies to reconnect, perhaps to another operator. */
  sendAway(withinMs: number, reason: string): void {
    for (const connection of [...this.#connections.values()]) connection.goAway(withinMs, reason);
  }

  /** Ends all connections; the proxies keep serving and connect to another operator. */
  close(reason: string): void {
    for (const stop of this.#stops) stop();
    this.sendAway(1_000, reason);
    this.#old.close();
  }

  #current(): FleetState {
    this.#state ??= this.#computeState();
    return this.#state;
  }

  #computeState(): FleetState {
    const { peers, expected } = this.#options;
    const ready = [...this.#connections.values()].filter((connection) => connection.isReady);
    // A proxy that connected here may still be in the summary of the operator that it left.
    const known = new Set([...this.#connections.values()].map(({ hello }) => hello.proxy));
    const holding = new Set(ready.map(({ hello }) => hello.proxy));
    const groups: (ProxyGroup & { readonly via: string })[] = [];
    for (const group of peers?.groups() ?? []) {
      const proxies = group.proxies.filter((name) => !known.has(name));
      const untold = group.untold.filter((name) => !known.has(name));
      for (const name of proxies) {
        known.add(name);
        holding.add(name);
      }
      if (proxies.length > 0) groups.push({ ...group, proxies, untold });
    }
    const absent = [...(expected?.ready ?? [])].filter((name) => !holding.has(name));
    return { ready, groups, absent, old: this.#old.all() };
  }

  /** Proxies that would not understand the wanted version of an object, whether it is held back or not. */
  #tooOldFor(id: string): TooOld | undefined {
    const { old } = this.#current();
    const isHeldBack = this.#publisher.isHeldBack(id);
    const object = isHeldBack || old.length > 0 ? this.#publisher.latest(id) : undefined;
    if (object === undefined) return undefined;
    const all = capabilitiesNeeded(object);
    const lacked = all.filter(({ name }) => old.some(({ lacks }) => lacks.includes(name)));
    // A held back version is in force nowhere, even if the old proxies are unknown here: the previous leader knew them.
    const needed = lacked.length === 0 && isHeldBack ? all : lacked;
    if (needed.length === 0) return undefined;
    const proxies = old.filter(({ lacks }) => needed.some(({ name }) => lacks.includes(name)));
    const isBefore = this.#publisher.snapshot.held(id)?.object !== undefined;
    return {
      fields: needed.map(({ field }) => field),
      proxies: proxies.map(({ proxy }) => proxy),
      inForce: isHeldBack ? (isBefore ? "before" : "nowhere") : "elsewhere",
    };
  }

  #tellLacked(): void {
    this.#state = undefined;
    // Without a connected proxy nothing need be released; the lacking capabilities are noted.
    const isServing = this.#connections.size > 0 || this.#current().groups.length > 0;
    this.#publisher.setLacked(isServing ? this.lacked : new Set([...this.#publisher.lacked, ...this.lacked]));
  }

  #proxiesChanged(): void {
    this.#tellLacked();
    this.#changed();
  }

  #wantedRevisionOf(id: string): number {
    const { snapshot } = this.#publisher;
    return this.#changedIn.get(id) ?? (snapshot.held(id) === undefined ? snapshot.revision : this.#firstRevision);
  }

  #spread(publication: Publication): void {
    const { snapshot, changed } = publication;
    const isFirst = snapshot.revision === 1;
    if (isFirst) this.#firstRevision = 1;
    for (const id of isFirst ? [] : changed) {
      if (snapshot.held(id) === undefined) this.#changedIn.delete(id);
      else this.#changedIn.set(id, snapshot.revision);
    }
    for (const connection of this.#connections.values()) connection.offer(publication);
    this.#changed();
  }

  #changed(): void {
    this.#state = undefined;
    for (const listener of this.#listeners) listener();
  }
}

function perhapsRefused(proxy: string): string {
  return `${proxy} (which refuses more objects than it names)`;
}
