/**
 * Keeps the status of every object in line with what compiling found and the proxies acknowledged.
 *
 * Level-based: `look` and `lookAtAcknowledgements` compute the present status and hand on what changed in meaning, so a
 * lost notice is made up for by the next. What is more than a few milliseconds of work is done in later turns, so that
 * 100,000 objects never hold the event loop. The operator's wiring calls it after each pass and each acknowledgement.
 */
import { isDeepStrictEqual } from "node:util";
import { type Compilation, type CompileChanges, resultId } from "../compile/compilation.ts";
import type { KeyResult, ObjectResult } from "../compile/result.ts";
import type { Condition } from "../resources/types.gen.ts";
import { type Acknowledgement, combineAcknowledgements, conditionsOf, type Surroundings } from "./conditions.ts";
import { type Attached, type StatusDocument, statusDocument } from "./status-document.ts";
import type { ShownUse } from "./usage-book.ts";

/** How long one look may hold the event loop. */
const sliceMs = 5;
/** Between two slices: proxies that wait for their configuration go before its status. */
const pauseMs = 10;
/** With more to look at, proxies that wait for a first configuration go before. */
const backlogMax = 1_000;
const waitMs = 50;
const sharedConditionsMax = 2_048;

export interface StatusKeeperOptions {
  readonly compilation: Pick<Compilation, "results" | "attachedRoutes" | "keysOf">;
  /** What the fleet says about one wire object. */
  readonly acknowledgementOf: (wireId: string) => Acknowledgement;
  readonly now: () => number;
  /** Whether a proxy is waiting for its first configuration. */
  readonly isSyncing?: () => boolean;
  /** Told each change of meaning; `after` undefined: the object is gone. */
  readonly onChange: (before: StatusDocument | undefined, after: StatusDocument | undefined) => void;
  /** Balance and quotas of a key or account, and health of a channel, where they are known. */
  readonly observe?: (result: ObjectResult) => Pick<Surroundings, "isUnfunded" | "exhaustedQuotas" | "health"> & {
    readonly use?: ShownUse | undefined;
  };
}

export class StatusKeeper {
  readonly #options: StatusKeeperOptions;
  readonly #documents = new Map<string, StatusDocument>();
  /** Objects whose present version every ready proxy has acknowledged. */
  readonly #programmed = new Set<string>();
  /** Objects that wait for the fleet. */
  readonly #waiting = new Set<string>();
  /** When the clock alone next changes a key's condition, in milliseconds since the epoch. */
  readonly #turns = new Map<string, number>();
  readonly #accountStates = new Map<string, string>();
  readonly #shared = new Map<string, Condition>();
  /** Objects to look at again. */
  readonly #open = new Set<string>();
  #nextTurn: NodeJS.Timeout | undefined;

  constructor(options: StatusKeeperOptions) {
    this.#options = options;
  }

  /** The present status of an object, by `resultId`. */
  statusOf(id: string): StatusDocument | undefined {
    return this.#documents.get(id);
  }

  get documents(): ReadonlyMap<string, StatusDocument> {
    return this.#documents;
  }

  /** After a pass of the compiler. */
  look(changes: CompileChanges): void {
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
      touched.add(owner);
    }
    this.#refreshSoon(touched);
  }

  /** What is observed of these objects, by `resultId`, changed. */
  lookAt(ids: Iterable<string>): void {
    this.#refreshSoon(ids);
  }

  /**
   * After proxies came, went or acknowledged.
   *
   * @param rejected wire ids that a proxy refuses now or refused at the last look
   */
  lookAtAcknowledgements(rejected: readonly string[] = []): void {
    this.#refreshSoon(this.#waiting);
    this.#refreshSoon(rejected.flatMap((id) => ownerOf(id) ?? []));
  }

  /** All objects: the first proxy came or the last one went. */
  lookAtAll(): void {
    this.#refreshSoon(this.#options.compilation.results.keys());
  }

  /** As time passes. */
  lookAtClock(): void {
    const nowMs = this.#options.now();
    const due: string[] = [];
    for (const [id, turnMs] of this.#turns) if (turnMs <= nowMs) due.push(id);
    this.#refreshSoon(due);
  }

  /** Forgets what is still to be looked at. */
  close(): void {
    clearTimeout(this.#nextTurn);
    this.#open.clear();
  }

  #refreshSoon(ids: Iterable<string>): void {
    for (const id of ids) this.#open.add(id);
    if (this.#nextTurn === undefined) this.#refreshSlice();
  }

  #refreshSlice(): void {
    this.#nextTurn = undefined;
    if (this.#open.size > backlogMax && this.#options.isSyncing?.() === true) {
      this.#nextTurn = setTimeout(() => this.#refreshSlice(), waitMs);
      return;
    }
    const startMs = performance.now();
    for (const id of this.#open) {
      this.#open.delete(id);
      this.#refresh(id);
      if (performance.now() - startMs > sliceMs) break;
    }
    if (this.#open.size > 0) this.#nextTurn = setTimeout(() => this.#refreshSlice(), pauseMs);
  }

  #refresh(id: string): void {
    const { compilation, acknowledgementOf, now, onChange, observe } = this.#options;
    const before = this.#documents.get(id);
    const result = compilation.results.get(id);
    if (!result) {
      for (const kept of [this.#programmed, this.#waiting, this.#turns, this.#accountStates]) kept.delete(id);
      if (this.#documents.delete(id)) onChange(before, undefined);
      return;
    }
    const acknowledgement = combineAcknowledgements(result.wireIds.map(acknowledgementOf));
    if (acknowledgement.state === "Programmed") this.#programmed.add(id);
    else if (acknowledgement.state !== "Pending") this.#programmed.delete(id);
    if (result.wireIds.length === 0 || acknowledgement.state === "Programmed") this.#waiting.delete(id);
    else this.#waiting.add(id);
    const nowMs = now();
    const turnMs = result.kind === "ApiKey" ? nextTurnMs(result, nowMs) : undefined;
    if (turnMs === undefined) this.#turns.delete(id);
    else this.#turns.set(id, turnMs);
    const account = this.#accountOf(result);
    const observed = observe?.(result) ?? {};
    const conditions = conditionsOf(result, acknowledgement, {
      nowMs,
      wasProgrammed: this.#programmed.has(id),
      ...(before && { before: before.status.conditions }),
      ...(account && { account }),
      ...observed,
    }).map((condition) => this.#shareCondition(condition));
    const after = statusDocument(result, conditions, nowMs, { ...this.#attachedTo(result), use: observed.use });
    if (before && isSameMeaning(before, after)) return;
    this.#documents.set(id, after);
    onChange(before, after);
  }

  #attachedTo({ kind, namespace, name }: ObjectResult): Attached {
    const { compilation } = this.#options;
    if (kind === "Channel") return { routes: compilation.attachedRoutes(namespace, name) };
    if (kind !== "Account") return {};
    let keys = 0;
    for (const _ of compilation.keysOf(namespace, name)) keys += 1;
    return { keys };
  }

  /** Thousands of objects have the same conditions since the same second. */
  #shareCondition(condition: Condition): Condition {
    const { type, status, reason, message, observedGeneration, lastTransitionTime } = condition;
    const text = `${type} ${status} ${reason} ${observedGeneration} ${lastTransitionTime} ${message}`;
    const known = this.#shared.get(text);
    if (known !== undefined) return known;
    if (this.#shared.size >= sharedConditionsMax) this.#shared.clear();
    this.#shared.set(text, condition);
    return condition;
  }

  #accountOf(result: ObjectResult) {
    if (result.kind !== "ApiKey" || result.account === undefined) return undefined;
    const account = this.#options.compilation.results.get(resultId("Account", result.namespace, result.account));
    return account?.kind === "Account" ? account : undefined;
  }
}

function nextTurnMs({ expiresAtMs, credentials }: KeyResult, nowMs: number): number | undefined {
  let next: number | undefined;
  for (const timeMs of [expiresAtMs, ...credentials.flatMap((one) => [one.notBeforeMs, one.notAfterMs])]) {
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

function isSameMeaning(left: StatusDocument, right: StatusDocument): boolean {
  return isDeepStrictEqual(withoutCounts(left), withoutCounts(right));
}

/** How many proxies acknowledged so far is no change of meaning, and must not be written for each of them. */
function withoutCounts({ status, ...rest }: StatusDocument): unknown {
  const conditions = status.conditions.map((condition: Condition) => {
    return condition.type === "Programmed" && condition.reason !== "Rejected"
      ? { ...condition, message: "" }
      : condition;
  });
  return { ...rest, status: { ...status, conditions } };
}
