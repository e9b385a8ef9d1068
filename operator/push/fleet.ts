/**
 * Who acknowledged what: the connected proxies and, for each object, whether every ready one of them holds its present
 * version. Source of `Programmed` and of `/debug/fleet`; `RESOURCES.md` R12 says who counts.
 */
import type { ProxyConnection } from "./connection.ts";
import type { Publication, Publisher } from "./publisher.ts";

export interface ObjectAcknowledgement {
  readonly state: "Programmed" | "Pending" | "Rejected" | "NoProxies";
  readonly readyProxies: number;
  readonly acknowledgedBy: number;
  /** What a proxy said against it: `proxy: field and rule`. */
  readonly rejects: readonly string[];
}

/** One line of `/debug/fleet`. */
export interface ProxyView {
  readonly proxy: string;
  readonly build: string;
  readonly isReady: boolean;
  readonly revision: number;
  readonly digest: string;
  /** Revisions behind. */
  readonly lag: number;
  readonly backlog: number;
  readonly waitingMs: number | null;
  readonly applyMs: number | null;
  readonly roundTripMs: number | null;
  readonly rejects: readonly { readonly id: string; readonly severity: string; readonly message: string }[];
}

export class Fleet {
  readonly #publisher: Publisher;
  readonly #connections = new Map<string, ProxyConnection>();
  readonly #listeners = new Set<() => void>();
  /** Revision in which an object got its present version, but for those that still have their first. */
  readonly #changedIn = new Map<string, number>();
  readonly #stopListening: () => void;
  #firstRevision: number;
  #refusals = 0;

  constructor(publisher: Publisher) {
    this.#publisher = publisher;
    this.#firstRevision = publisher.snapshot.revision;
    this.#stopListening = publisher.onPublish((publication) => this.#spread(publication));
  }

  /** Transactions refused as a whole, by all proxies since the start. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Told after acknowledgements, joins, leaves and publications; look again at what you need. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  join(connection: ProxyConnection): void {
    // A proxy that comes back before its old stream was found dead replaces it.
    for (const other of [...this.#connections.values()]) {
      if (other.hello.proxy === connection.hello.proxy) other.close("the proxy opened another stream");
    }
    this.#connections.set(connection.id, connection);
    this.#changed();
  }

  /** A connection says that it acknowledged something or has ended. */
  update(connection: ProxyConnection): void {
    if (!connection.isOpen && this.#connections.delete(connection.id)) this.#refusals += connection.refusals;
    this.#changed();
  }

  connection(id: string): ProxyConnection | undefined {
    return this.#connections.get(id);
  }

  /** Whether every ready proxy holds the present version of an object, or the fact of its removal. */
  acknowledgementOf(id: string): ObjectAcknowledgement {
    const wanted = this.#wantedRevisionOf(id);
    const ready = [...this.#connections.values()].filter((connection) => connection.isReady);
    const acknowledged = ready.filter((connection) => connection.revision >= wanted);
    const rejects = acknowledged.flatMap((connection) =>
      connection.rejects
        .filter((reject) => reject.id === id)
        .map((reject) => `${connection.hello.proxy}: ${reject.message}`),
    );
    const problem = this.#publisher.problems.get(id);
    if (problem !== undefined) rejects.push(`operator: ${problem.path} ${problem.message}`);
    const counts = { readyProxies: ready.length, acknowledgedBy: acknowledged.length, rejects };
    if (ready.length === 0 && problem === undefined) return { state: "NoProxies", ...counts };
    if (rejects.length > 0) return { state: "Rejected", ...counts };
    // What the proxies hold is the version before.
    if (this.#publisher.isWaiting(id)) return { state: "Pending", ...counts, acknowledgedBy: 0 };
    return { state: acknowledged.length === ready.length ? "Programmed" : "Pending", ...counts };
  }

  #wantedRevisionOf(id: string): number {
    const { snapshot } = this.#publisher;
    return this.#changedIn.get(id) ?? (snapshot.held(id) === undefined ? snapshot.revision : this.#firstRevision);
  }

  get readyCount(): number {
    return [...this.#connections.values()].filter((connection) => connection.isReady).length;
  }

  /** A connected proxy has no configuration of this operator yet; not for longer than it counts as alive. */
  get isSyncing(): boolean {
    return [...this.#connections.values()].some(({ isReady }) => !isReady);
  }

  /** Ids that some connected proxy could not take, or that did not pass the operator's own check. */
  rejectedIds(): ReadonlySet<string> {
    const ids = new Set(this.#publisher.problems.keys());
    for (const connection of this.#connections.values()) for (const { id } of connection.rejects) ids.add(id);
    return ids;
  }

  /** Revision that every ready proxy has acknowledged; 0 when there is none. */
  get leastRevision(): number {
    const ready = [...this.#connections.values()].filter((connection) => connection.isReady);
    return ready.length === 0 ? 0 : Math.min(...ready.map((connection) => connection.revision));
  }

  view(): ProxyView[] {
    const { revision } = this.#publisher.snapshot;
    return [...this.#connections.values()].map((connection) => ({
      proxy: connection.hello.proxy,
      build: connection.hello.build,
      isReady: connection.isReady,
      revision: connection.revision,
      digest: connection.digest,
      lag: revision - connection.revision,
      backlog: connection.backlog,
      waitingMs: connection.waitingMs ?? null,
      applyMs: connection.applyMs ?? null,
      roundTripMs: connection.roundTripMs ?? null,
      rejects: connection.rejects.map(({ id, severity, message }) => ({ id, severity, message })),
    }));
  }

  /** Sends all proxies away, to come back within a time that spreads them. */
  close(reason: string): void {
    this.#stopListening();
    for (const connection of [...this.#connections.values()]) connection.goAway(1_000, reason);
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
    for (const listener of this.#listeners) listener();
  }
}
