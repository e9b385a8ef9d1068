/**
 * Reconciles the status of every object with the compiler's results and the proxies' acknowledgements.
 *
 * It is level-based: `reconcile` and `reconcileAcknowledgements` enqueue objects whose status is then computed anew,
 * and only changes of meaning are passed on, so the next notice makes up for a lost one. The queue is worked off in
 * slices of a few milliseconds, so that 100,000 objects never hold the event loop. `run/status-loop.ts` calls it after
 * each pass and each acknowledgement.
 */
import { type Compilation, type CompileChanges, resultId } from "#operator/compile/compilation";
import type { ObjectResult } from "#operator/compile/result";
import { hasReason } from "#operator/resources/reasons";
import { ConditionPool } from "./condition-pool.ts";
import {
  combineAcknowledgements,
  conditionsOf,
  type ResourceAcknowledgement,
  type Surroundings,
} from "./conditions.ts";
import type { ChannelHealth } from "./credential-health.ts";
import { isSameMeaning } from "./same-meaning.ts";
import { type Attached, type StatusDocument, statusDocument } from "./status-document.ts";
import type { ShownUse } from "./usage-tracker.ts";

/** How long one slice may hold the event loop. */
const sliceMs = 5;
/** Between two slices: proxies that wait for their configuration take precedence over status. */
const pauseMs = 10;
/** How long an inherited `Programmed` is believed while proxies reconnect. */
const believedMs = 10_000;
/** With more objects in the queue, proxies that wait for a first configuration take precedence. */
const backlogMax = 1_000;
const waitMs = 50;

export interface StatusReconcilerOptions {
  readonly compilation: Pick<Compilation, "results" | "attachedRoutes" | "keysOf" | "isUnderWay">;
  /** The fleet's acknowledgement of one wire object. */
  readonly acknowledgementOf: (wireId: string) => ResourceAcknowledgement;
  readonly now: () => number;
  /** Whether a proxy is waiting for its first configuration. */
  readonly isSyncing?: () => boolean;
  /** Receives each change of meaning; `after` undefined: the object is gone. */
  readonly onChange: (before: StatusDocument | undefined, after: StatusDocument | undefined) => void;
  /** The status that a previous operator wrote, where it is known; asked once for each object. */
  readonly inherited?: (id: string) => StatusDocument | undefined;
  /** Shared with other holders of conditions. */
  readonly pool?: ConditionPool;
  /** Balance and quotas of a key or account, and health of a channel, where they are known. */
  readonly observeUse?: (result: ObjectResult) => Pick<
    Surroundings,
    "isUnfunded" | "exhaustedQuotas" | "endlessQuotas" | "health" | "isHealthPartial"
  > & {
    readonly use?: ShownUse | undefined;
  };
}

export class StatusReconciler {
  readonly #options: StatusReconcilerOptions;
  readonly #documents = new Map<string, StatusDocument>();
  /** Objects whose present version every ready proxy has acknowledged. */
  readonly #programmed = new Set<string>();
  /** Objects that wait for the fleet. */
  readonly #waiting = new Set<string>();
  /** When the clock alone next changes a key's condition, in milliseconds since the epoch. */
  readonly #dueTimes = new Map<string, number>();
  /** Until when an inherited `Programmed` is believed without other evidence, by object. */
  readonly #believed = new Map<string, number>();
  readonly #accountStates = new Map<string, string>();
  readonly #pool: ConditionPool;
  /** The queue: objects to reconcile. */
  readonly #open = new Set<string>();
  #joinBatch: NodeJS.Timeout | undefined;

  constructor(options: StatusReconcilerOptions) {
    this.#options = options;
    this.#pool = options.pool ?? new ConditionPool();
  }

  /** The present status of an object, by `resultId`. */
  statusOf(id: string): StatusDocument | undefined {
    return this.#documents.get(id);
  }

  get documents(): ReadonlyMap<string, StatusDocument> {
    return this.#documents;
  }

  /** After a pass of the compiler. */
  reconcile(changes: CompileChanges): void {
    const touched = new Set([...changes.results.keys(), ...changes.counted]);
    for (const result of changes.results.values()) {
      if (result?.kind !== "Account" || this.#accountStates.get(result.id) === result.state) continue;
      this.#accountStates.set(result.id, result.state);
      for (const key of this.#options.compilation.keysOf(result.namespace, result.name)) touched.add(key);
    }
    for (const id of [...changes.upserts.keys(), ...changes.removes]) {
      const owner = ownerOf(id);
      if (owner === undefined) continue;
      this.#programmed.delete(owner);
      this.#believed.delete(owner);
      touched.add(owner);
    }
    this.#enqueueSlice(touched);
  }

  /** Enqueues objects, by `resultId`, whose observed use or health changed. */
  enqueue(ids: Iterable<string>): void {
    this.#enqueueSlice(ids);
  }

  /**
   * After proxies came, went or acknowledged.
   *
   * @param rejected wire ids that a proxy refuses now or refused at the last call
   */
  reconcileAcknowledgements(rejected: readonly string[] = []): void {
    this.#enqueueSlice(this.#waiting);
    this.#enqueueSlice(rejected.flatMap((id) => ownerOf(id) ?? []));
  }

  /** All objects: the first proxy came or the last one went. */
  reconcileAll(): void {
    this.#enqueueSlice(this.#options.compilation.results.keys());
  }

  /** Objects whose conditions the clock changes now. */
  reconcileDue(): void {
    const nowMs = this.#options.now();
    const due: string[] = [];
    for (const [id, dueMs] of this.#dueTimes) if (dueMs <= nowMs) due.push(id);
    this.#enqueueSlice(due);
  }

  /**
   * Notes the observed status of an object. When it means the same as ours it replaces ours, because its transition times
   * are the true ones.
   *
   * @param isInherited it may be the last status of a previous operator, whose `Programmed` is believed
   */
  observe(id: string, observed: StatusDocument, isInherited: boolean): void {
    const present = this.#documents.get(id);
    if (present === undefined) return;
    if (isSameMeaning(present, observed)) {
      this.#documents.set(id, observed);
      return;
    }
    const result = this.#options.compilation.results.get(id);
    if (!isInherited || result === undefined || this.#programmed.has(id) || !wasProgrammed(observed, result)) return;
    this.#believe(id, result);
    this.#enqueueSlice([id]);
  }

  /** Forgets everything: another operator writes from now on, and its status is where this one will start again. */
  reset(): void {
    this.close();
    for (const kept of [this.#documents, ...this.#kept]) kept.clear();
  }

  /** By object, its document apart. */
  get #kept() {
    return [this.#programmed, this.#waiting, this.#dueTimes, this.#believed, this.#accountStates];
  }

  /** Empties the queue. */
  close(): void {
    clearTimeout(this.#joinBatch);
    this.#joinBatch = undefined;
    this.#open.clear();
  }

  #enqueueSlice(ids: Iterable<string>): void {
    for (const id of ids) this.#open.add(id);
    if (this.#joinBatch === undefined) this.#reconcileSlice();
  }

  #reconcileSlice(): void {
    this.#joinBatch = undefined;
    if (this.#open.size > backlogMax && this.#options.isSyncing?.() === true) {
      this.#joinBatch = setTimeout(() => this.#reconcileSlice(), waitMs);
      return;
    }
    const startMs = performance.now();
    for (const id of this.#open) {
      this.#open.delete(id);
      this.#reconcileOne(id);
      if (performance.now() - startMs > sliceMs) break;
    }
    if (this.#open.size > 0) this.#joinBatch = setTimeout(() => this.#reconcileSlice(), pauseMs);
  }

  #reconcileOne(id: string): void {
    const { compilation, acknowledgementOf, now, onChange, observeUse } = this.#options;
    const result = compilation.results.get(id);
    // Proxies acknowledged another version than this one. The pass that made it enqueues the object when it ends.
    if ([id, ...(result?.wireIds ?? [])].some((wireId) => compilation.isUnderWay(wireId))) return;
    const before = this.#documents.get(id) ?? (result && this.#inherit(id, result));
    if (!result) {
      for (const kept of this.#kept) kept.delete(id);
      if (this.#documents.delete(id)) onChange(before, undefined);
      return;
    }
    const acknowledgement = combineAcknowledgements(result.wireIds.map(acknowledgementOf));
    const nowMs = now();
    this.#noteAcknowledgement(id, acknowledgement, nowMs);
    if (result.wireIds.length === 0 || acknowledgement.state === "Programmed") this.#waiting.delete(id);
    else this.#waiting.add(id);
    const observed = observeUse?.(result) ?? {};
    const dueMs = nextChangeMs(result, observed, nowMs) ?? this.#believed.get(id);
    if (dueMs === undefined) this.#dueTimes.delete(id);
    else this.#dueTimes.set(id, dueMs);
    const account = this.#accountOf(result);
    const conditions = conditionsOf(result, acknowledgement, {
      nowMs,
      wasProgrammed: this.#programmed.has(id),
      ...(before && { before: before.status.conditions }),
      ...(account && { account }),
      ...observed,
    }).map((condition) => this.#pool.share(condition));
    const after = statusDocument(result, conditions, nowMs, {
      ...this.#attachedTo(result),
      use: observed.use,
      health: observed.health ?? (observed.isHealthPartial === true ? inheritedHealth(before) : undefined),
    });
    if (before && isSameMeaning(before, after)) {
      // Progress alone is not reported, but should be right when something else is.
      this.#documents.set(id, isPending(after) ? after : before);
      return;
    }
    this.#documents.set(id, after);
    onChange(before, after);
  }

  /** The status of a previous operator; its `Programmed` stays true while proxies reconnect. */
  #inherit(id: string, result: ObjectResult): StatusDocument | undefined {
    const inherited = this.#options.inherited?.(id);
    if (inherited !== undefined && wasProgrammed(inherited, result)) this.#believe(id, result);
    return inherited;
  }

  #believe(id: string, result: ObjectResult): void {
    this.#programmed.add(id);
    // Certificates may have changed without the resource, and no status tells which ones the proxies had.
    const isSure = result.kind !== "Channel" || !result.refersToCertificates;
    if (!isSure) this.#believed.set(id, this.#options.now() + believedMs);
  }

  #noteAcknowledgement(id: string, { state }: ResourceAcknowledgement, nowMs: number): void {
    if (state === "Programmed") this.#programmed.add(id);
    else if (state !== "Pending" || (this.#believed.get(id) ?? Number.POSITIVE_INFINITY) <= nowMs) {
      this.#programmed.delete(id);
    } else return;
    this.#believed.delete(id);
  }

  #attachedTo({ kind, namespace, name }: ObjectResult): Attached {
    const { compilation } = this.#options;
    if (kind === "Channel") return { routes: compilation.attachedRoutes(namespace, name) };
    if (kind !== "Account") return {};
    let keys = 0;
    for (const _ of compilation.keysOf(namespace, name)) keys += 1;
    return { keys };
  }

  #accountOf(result: ObjectResult) {
    if (result.kind !== "ApiKey" || result.account === undefined) return undefined;
    const account = this.#options.compilation.results.get(resultId("Account", result.namespace, result.account));
    return account?.kind === "Account" ? account : undefined;
  }
}

/** The health of a channel's credentials in an observed status, used until every proxy has reported. */
function inheritedHealth(before: StatusDocument | undefined): ChannelHealth | undefined {
  if (before?.kind !== "Channel" || !("credentials" in before.status)) return undefined;
  const refused = (before.status.credentials ?? []).filter((one) => "healthy" in one && one.healthy === "False");
  return { ejected: refused.map(({ name }) => name), formerInUse: [] };
}

function isPending({ status }: StatusDocument): boolean {
  return status.conditions.some((condition) => hasReason(condition, "Programmed", "Pending"));
}

/** Whether a status has this version as live. */
function wasProgrammed({ status }: StatusDocument, result: ObjectResult): boolean {
  const { generation } = result;
  const isSaid = status.conditions.some((condition) => {
    return (
      condition.type === "Programmed" && condition.status === "True" && condition.observedGeneration === generation
    );
  });
  if (!isSaid || (result.kind !== "ApiKey" && result.kind !== "Channel")) return isSaid;
  // A Secret may have changed without the resource: its version was not the one that the proxies had.
  const told = "credentials" in status ? (status.credentials ?? []) : [];
  return result.credentials.every((credential) => {
    const before = told.find(({ name }) => name === credential.name);
    if (before === undefined || before.secretResourceVersion !== credential.secretResourceVersion) return false;
    return fingerprintOf(before) === fingerprintOf(credential);
  });
}

/** Only keys have one. */
function fingerprintOf(credential: { readonly fingerprint?: string | undefined } | object): string | undefined {
  return "fingerprint" in credential ? credential.fingerprint : undefined;
}

function nextChangeMs(
  result: ObjectResult,
  { use }: { readonly use?: ShownUse | undefined },
  nowMs: number,
): number | undefined {
  if (result.kind !== "ApiKey") return undefined;
  const { expiresAtMs, credentials } = result;
  let next: number | undefined;
  const times = [expiresAtMs, ...credentials.flatMap((one) => [one.notBeforeMs, one.notAfterMs])];
  for (const timeMs of [...times, ...(use?.quotas.map(({ resetAt }) => resetAt) ?? [])]) {
    if (timeMs !== undefined && timeMs > nowMs && (next === undefined || timeMs < next)) next = timeMs;
  }
  return next;
}

/** The resource a wire object belongs to; the fleet's settings belong to none. */
function ownerOf(wireId: string): string | undefined {
  const [kind, namespace, name] = wireId.split("/");
  if (kind === "setting") return undefined;
  return kind === "credential" ? `channel/${namespace}/${name}` : wireId;
}
