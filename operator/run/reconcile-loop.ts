/**
 * The way of a change through the operator: source -> compile -> publish, one pass at a time.
 *
 * Level-based: a notice only says which objects to look at again; those that come during a pass merge and are looked at
 * in the next. Every step gives way to others after a few milliseconds, so that 100,000 objects never hold the event
 * loop, and a pass over one object costs what one object costs.
 *
 * A pass that throws is a fault of ours, and loses nothing: its changes are put back, and the next pass publishes what
 * differs from what is published, whichever pass changed it. Nothing is published before everything has been compiled
 * once. Where only the telling fails, it is told again, and what comes meanwhile is published at once. Called by `core.ts`.
 */
import { setImmediate as giveWay } from "node:timers/promises";
import type { Compilation, CompileChanges } from "#operator/compile/compilation";
import { Backoff } from "#operator/kubernetes/watch/backoff";
import type { Publisher } from "#operator/push/publisher";
import type { ResourceUids } from "#operator/push/versions/resource-uids";
import type { SourceProgress } from "#operator/push/versions/source-progress";
import type { ResourceChange } from "#operator/resources/resource";

const sliceMs = 5;
/** Between a pass that threw and the next, which may mend it or meet the same. */
const retryMinMs = 1_000;
const retryMaxMs = 10_000;

export interface ReconcileLoopOptions {
  readonly compilation: Compilation;
  readonly publisher: Publisher;
  /** Told after each pass what it changed. */
  readonly onPass: (changes: CompileChanges) => Promise<void> | void;
  /** Told when a pass threw, and when it is tried again. */
  readonly onFailure: (cause: unknown, retryInMs: number) => void;
  /** Told of an object that is refused for a fault of the compiler's own, by `resultId`. */
  readonly onFault: (id: string, cause: unknown) => void;
  readonly retryMinMs?: number;
  /** Where the source counts versions and gives uids. */
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
  /** What was published is to be told again; what comes meanwhile does not wait for that. */
  #tellAgain: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ReconcileLoopOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.retryMinMs ?? retryMinMs, retryMaxMs);
  }

  /**
   * Looks again at these objects, now or after the pass that is under way, or with the pass that is tried again.
   *
   * @returns once no pass is under way: whether all that was asked for is done
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
        // Which of two notices of an object stays is all one: both say "look again".
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

  /** @returns false where everything is published and not everybody was told */
  async #pass(changes: readonly ResourceChange[]): Promise<boolean> {
    const { compilation, publisher, onPass, onFault, progress, uids } = this.#options;
    // Before anything is looked at: what comes meanwhile may or may not be in this pass.
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
      // The pass stays open: the next tells of it as well.
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
