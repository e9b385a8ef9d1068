/**
 * The compiled state: wire objects, results, and the changes of the running pass.
 *
 * Only a change of meaning counts: an object or result that is equal to the one before keeps its identity.
 */
import { isDeepStrictEqual } from "node:util";
import type { Fleet, WireObject } from "#proxy/snapshot/types.gen";
import type { ObjectResult } from "./result.ts";

/** The changes that a pass collects; listeners read them as `CompileChanges`. */
export interface PassChanges {
  readonly upserts: Map<string, WireObject>;
  readonly removes: Set<string>;
  readonly results: Map<string, ObjectResult | undefined>;
  readonly counted: Set<string>;
  readonly faults: Map<string, unknown>;
}

export class CompiledState {
  readonly objects = new Map<string, WireObject>();
  readonly results = new Map<string, ObjectResult>();
  /** Ids of results with `Accepted=False`. */
  readonly refusedIds = new Set<string>();
  readonly counts = { ApiKey: 0, Channel: 0, ModelRoute: 0, Account: 0 };
  #pass: PassChanges | undefined;
  #isUnderWay = false;

  constructor(fleet: Fleet) {
    this.objects.set("setting/fleet", fleet);
  }

  /** Begins a pass. The changes of a previous pass that did not complete are part of it. */
  beginPass(): PassChanges {
    this.#isUnderWay = true;
    this.#pass ??= {
      upserts: new Map(),
      removes: new Set(),
      results: new Map(),
      counted: new Set(),
      faults: new Map(),
    };
    return this.#pass;
  }

  notePublished(): void {
    this.#isUnderWay = false;
  }

  endPass(): void {
    this.#isUnderWay = false;
    this.#pass = undefined;
  }

  /** Whether a pass changed this wire object and has not published it. */
  isUnderWay(id: string): boolean {
    return this.#isUnderWay && (this.#pass?.upserts.has(id) === true || this.#pass?.removes.has(id) === true);
  }

  adopt(id: string, copy: WireObject): void {
    if (this.objects.has(id)) this.objects.set(id, copy);
  }

  put(id: string, object: WireObject | undefined, pass: PassChanges): void {
    const before = this.objects.get(id);
    if (object === undefined) {
      if (before === undefined) return;
      this.objects.delete(id);
      pass.upserts.delete(id);
      pass.removes.add(id);
    } else if (before === undefined || !isDeepStrictEqual(before, object)) {
      this.objects.set(id, object);
      pass.removes.delete(id);
      pass.upserts.set(id, object);
    }
  }

  putResult(id: string, result: ObjectResult | undefined, pass: PassChanges): void {
    const before = this.results.get(id);
    if (result?.accepted.status === "False") this.refusedIds.add(id);
    else this.refusedIds.delete(id);
    if (result === undefined) {
      if (before === undefined) return;
      this.results.delete(id);
      this.counts[before.kind] -= 1;
      pass.results.set(id, undefined);
    } else if (before === undefined || !isDeepStrictEqual(before, result)) {
      if (before === undefined) this.counts[result.kind] += 1;
      this.results.set(id, result);
      pass.results.set(id, result);
    }
  }
}
