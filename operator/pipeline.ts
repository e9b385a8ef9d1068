/**
 * The way of a change through the operator: source -> compile -> publish, one pass at a time.
 *
 * Level-based: a notice only says which objects to look at again; those that come during a pass merge and are looked at
 * in the next. Every step gives way to others after a few milliseconds, so that 100,000 objects never hold the event
 * loop, and a pass over one object costs what one object costs. Called by `main.ts`.
 */
import { setImmediate as giveWay } from "node:timers/promises";
import type { Compilation, CompileChanges } from "./compile/compilation.ts";
import type { Publisher } from "./push/publisher.ts";
import type { ResourceUids } from "./push/versions/resource-uids.ts";
import type { SourceProgress } from "./push/versions/source-progress.ts";
import type { ResourceChange } from "./resources/resource.ts";

const sliceMs = 5;

export interface PipelineOptions {
  readonly compilation: Compilation;
  readonly publisher: Publisher;
  /** Told after each pass what it changed. */
  readonly onPass: (changes: CompileChanges) => Promise<void> | void;
  /** Told when a pass threw: a programming error; the state before stays live. */
  readonly onFailure: (cause: unknown) => void;
  /** Where the source counts versions and gives uids. */
  readonly progress?: SourceProgress;
  readonly uids?: ResourceUids;
}

export class Pipeline {
  readonly #options: PipelineOptions;
  #waiting = new Map<string, ResourceChange>();
  #isAsked = false;
  #running: Promise<void> | undefined;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /** Looks again at these objects, now or after the pass that is under way; resolves when all passes are done. */
  async look(changes: Iterable<ResourceChange>): Promise<void> {
    for (const change of changes) this.#waiting.set(`${change.kind}/${change.namespace}/${change.name}`, change);
    this.#isAsked = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isAsked) {
      this.#isAsked = false;
      const changes = this.#waiting;
      this.#waiting = new Map();
      try {
        await this.#pass([...changes.values()]);
      } catch (cause) {
        this.#options.onFailure(cause);
      }
    }
  }

  async #pass(changes: readonly ResourceChange[]): Promise<void> {
    const { compilation, publisher, onPass, progress, uids } = this.#options;
    // Before anything is looked at: what comes meanwhile may or may not be in this pass.
    const onPublished = progress?.beginPass() ?? (() => {});
    for (const change of changes) uids?.look(change, performance.now());
    const { upserts, removes, ...compiled } = await driveInSlices(compilation.updateInSteps(changes));
    if (publisher.hasPublished) await publisher.publishChangesInSlices({ upserts, removes, onPublished });
    else await publisher.publishChangesInSlices({ upserts: compilation.objects, removes: [], onPublished });
    await driveInSlices(this.#shareObjects(upserts.keys()));
    compilation.endPass();
    await onPass({ upserts, removes, ...compiled });
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
