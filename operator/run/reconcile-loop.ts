/**
 * Runs reconcile passes over changed resources, one at a time: source -> compile -> publish.
 *
 * It is level-based. A notice only enqueues the objects to reconcile, and notices that come during a pass are merged
 * into the next one. Each step yields to other work after a few milliseconds, so that 100,000 objects never hold the
 * event loop, and a pass over one object costs as much as one object costs.
 *
 * A pass that throws is a fault of the operator and loses nothing: its changes are enqueued again, and the next pass
 * publishes every difference from the published configuration. Nothing is published before everything has been compiled
 * once. When only a listener fails, the listener is called again, and later changes are published without waiting for
 * it. Called by `core.ts`.
 */
import { setImmediate as giveWay } from "node:timers/promises";
import type { Compilation, CompileChanges } from "#operator/compile/compilation";
import { Backoff } from "#operator/kubernetes/watch/backoff";
import type { Publisher } from "#operator/push/publisher";
import type { ResourceUids } from "#operator/push/versions/resource-uids";
import type { SourceProgress } from "#operator/push/versions/source-progress";
import type { ResourceChange } from "#operator/resources/resource";

const sliceMs = 5;
/** Wait between a pass that threw and the next one. */
const retryMinMs = 1_000;
const retryMaxMs = 10_000;

export interface ReconcileLoopOptions {
  readonly compilation: Compilation;
  readonly publisher: Publisher;
  /** Receives the changes of each pass. */
  readonly onPass: (changes: CompileChanges) => Promise<void> | void;
  /** Called when a pass threw, with the wait until the next one. */
  readonly onFailure: (cause: unknown, retryInMs: number) => void;
  /** Called for each object, by `resultId`, that is refused for a fault of the compiler. */
  readonly onFault: (id: string, cause: unknown) => void;
  readonly retryMinMs?: number;
  /** Where the source counts versions and has uids. */
  readonly progress?: SourceProgress;
  readonly uids?: ResourceUids;
}

export class ReconcileLoop {
  readonly #options: ReconcileLoopOptions;
  readonly #backoff: Backoff;
  #waiting = new Map<string, ResourceChange>();
  #isAsked = false;
  #running: Promise<boolean> | undefined;
  /** Nothing is compiled or published until it is over. */
  #retry: NodeJS.Timeout | undefined;
  /** The listener must be called again for published changes; later changes do not wait for that. */
  #tellAgain: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ReconcileLoopOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.retryMinMs ?? retryMinMs, retryMaxMs);
  }

  /**
   * Enqueues these objects for this pass, for the one after the running pass, or for the pass that is tried again.
   *
   * @returns once no pass is running: whether everything enqueued is done
   */
  async enqueue(changes: Iterable<ResourceChange>): Promise<boolean> {
    for (const change of changes) this.#waiting.set(`${change.kind}/${change.namespace}/${change.name}`, change);
    this.#isAsked = true;
    if (this.#isClosed || this.#retry !== undefined) return false;
    this.#running ??= this.#run();
    return await this.#running;
  }

  /** Tries no pass again. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#tellAgain);
  }

  async #run(): Promise<boolean> {
    while (this.#isAsked && this.#retry === undefined) {
      this.#isAsked = false;
      const changes = this.#waiting;
      this.#waiting = new Map();
      try {
        if (await this.#pass([...changes.values()])) this.#backoff.reset();
      } catch (cause) {
        // It does not matter which of two notices of an object stays: both only enqueue it.
        this.#waiting = new Map([...changes, ...this.#waiting]);
        this.#tryLater(cause);
      }
    }
    this.#running = undefined;
    return this.#retry === undefined && this.#tellAgain === undefined;
  }

  #tellLater(cause: unknown): void {
    clearTimeout(this.#tellAgain);
    const delayMs = this.#backoff.next();
    this.#options.onFailure(cause, delayMs);
    this.#tellAgain = setTimeout(() => void this.enqueue([]), delayMs).unref();
    if (this.#isClosed) clearTimeout(this.#tellAgain);
  }

  #tryLater(cause: unknown): void {
    const delayMs = this.#backoff.next();
    this.#options.onFailure(cause, delayMs);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      void this.enqueue([]);
    }, delayMs).unref();
    if (this.#isClosed) clearTimeout(this.#retry);
  }

  /** @returns false when everything is published and a listener failed */
  async #pass(changes: readonly ResourceChange[]): Promise<boolean> {
    const { compilation, publisher, onPass, onFault, progress, uids } = this.#options;
    // Before the pass reads anything: a change that comes meanwhile may or may not be in this pass.
    const onPublished = progress?.beginPass() ?? (() => {});
    for (const change of changes) uids?.observe(change, performance.now());
    const { upserts, removes, ...compiled } = await driveInSlices(compilation.updateInSteps(changes));
    if (publisher.hasPublished) await publisher.publishChangesInSlices({ upserts, removes, onPublished });
    else await publisher.publishChangesInSlices({ upserts: compilation.objects, removes: [], onPublished });
    await driveInSlices(this.#shareObjects(upserts.keys()));
    compilation.notePublished();
    try {
      await onPass({ upserts, removes, ...compiled });
    } catch (cause) {
      // The pass stays open: the next one reports its changes as well.
      this.#tellLater(cause);
      return false;
    }
    clearTimeout(this.#tellAgain);
    this.#tellAgain = undefined;
    compilation.endPass();
    for (const [id, cause] of compiled.faults) onFault(id, cause);
    return true;
  }

  /** Both sides keep all objects: of 100,000 keys one copy of each is enough. */
  *#shareObjects(ids: Iterable<string>): Generator<void, void> {
    const { compilation, publisher } = this.#options;
    for (const id of ids) {
      const copy = publisher.latest(id);
      if (copy !== undefined) compilation.adopt(id, copy);
      yield;
    }
  }
}

async function driveInSlices<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (let begunAt = performance.now(); ; ) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - begunAt < sliceMs) continue;
    await giveWay();
    begunAt = performance.now();
  }
}
