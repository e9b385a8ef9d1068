/**
 * Turns proxies' reports into enqueued objects of the status reconciler.
 *
 * Usage figures are enqueued at their own pace; a quota or credit that is used up, and a refused credential, at once. A
 * change of an account's funds enqueues all of its keys.
 */

import { type Compilation, type CompileChanges, resultId } from "#operator/compile/compilation";
import type { AccountResult, ObjectResult } from "#operator/compile/result";
import type { Report } from "#proxy/snapshot/push/messages";
import type { Surroundings } from "./conditions.ts";
import { CredentialHealth } from "./credential-health.ts";
import { isUnfunded, type ShownUse, UsageTracker } from "./usage-tracker.ts";

export interface UsageObserverOptions {
  readonly compilation: Pick<Compilation, "results" | "keysOf">;
  /** Receives the objects, by `resultId`, whose figures or conditions may have changed. */
  readonly enqueue: (ids: Iterable<string>) => void;
  /** The usage of an object in the status of a previous operator. */
  readonly inherited: (id: string) => ShownUse | undefined;
  /** Whether all present proxies have reported. */
  readonly isStable: () => boolean;
  /** Between two figures of one object; a minute by default. */
  readonly everyMs?: number | undefined;
}

export type ObservedUse = Pick<
  Surroundings,
  "isUnfunded" | "exhaustedQuotas" | "endlessQuotas" | "health" | "isHealthPartial"
> & {
  readonly use?: ShownUse | undefined;
};

/** docs/design/configuration.md 1.4. */
const writesPerSecond = 5;

export class UsageObserver {
  readonly #options: UsageObserverOptions;
  readonly #tracker: UsageTracker;
  readonly #health = new CredentialHealth(() => performance.now());
  #isHealthComplete = false;
  readonly #unfunded = new Set<string>();
  readonly #clock: NodeJS.Timeout;

  constructor(options: UsageObserverOptions) {
    this.#options = options;
    const { compilation, inherited, everyMs, enqueue } = options;
    this.#tracker = new UsageTracker({
      now: () => Date.now(),
      inherited,
      generationOf: (id) => compilation.results.get(id)?.generation,
      ...(everyMs !== undefined && { everyMs }),
    });
    this.#clock = setInterval(() => {
      enqueue(this.#tracker.due(writesPerSecond));
      enqueue(this.#health.due());
      this.#noteHealthComplete();
    }, 1_000).unref();
  }

  /** Accepts a proxy's report. */
  acceptReport(proxy: string, report: Report): void {
    const { compilation, enqueue } = this.#options;
    enqueue(this.#health.acceptReport(proxy, report));
    for (const id of this.#tracker.acceptReport(proxy, report)) {
      enqueue([id]);
      const account = compilation.results.get(id);
      if (account?.kind === "Account") this.#reconcileFunds(account);
    }
  }

  /** After a pass of the compiler. */
  reconcile({ results }: Pick<CompileChanges, "results">): void {
    for (const [id, result] of results) {
      if (result === undefined) {
        this.#tracker.forget(id);
        this.#unfunded.delete(id);
      } else if (result.kind === "ApiKey") this.#tracker.forgetQuotas(id);
      else if (result.kind === "Account") this.#reconcileFunds(result);
    }
  }

  /** The present use of an object. */
  observe(result: ObjectResult): ObservedUse {
    const use = this.#tracker.shownOf(result.id);
    if (result.kind === "Account") return { use, isUnfunded: this.#isDry(result) };
    if (result.kind === "Channel") {
      const health = this.#health.healthOf(result.id);
      return { isHealthPartial: !this.#isHealthComplete, ...(health && { health: { ...health, hasTraffic: true } }) };
    }
    if (result.kind !== "ApiKey") return {};
    const account =
      result.account === undefined
        ? undefined
        : this.#options.compilation.results.get(resultId("Account", result.namespace, result.account));
    const exhaustedQuotas = this.#tracker.exhaustedOf(result.id);
    const endlessQuotas = exhaustedQuotas.length === 0 ? [] : this.#tracker.endlessOf(result.id);
    const isUnfunded = account?.kind === "Account" && this.#isDry(account);
    return { use, exhaustedQuotas, endlessQuotas, isUnfunded };
  }

  /** Starts again from the observed status: reports to other operators are not in this tracker. */
  restart(): void {
    this.#tracker.clear();
    this.#health.clear();
    this.#isHealthComplete = false;
    this.#unfunded.clear();
    for (const result of this.#options.compilation.results.values()) {
      if (result.kind === "Account" && this.#isDry(result)) this.#unfunded.add(result.id);
    }
  }

  close(): void {
    clearInterval(this.#clock);
  }

  /** The observed health of channels stays until all proxies have had the time to report. */
  #noteHealthComplete(): void {
    if (this.#isHealthComplete) return;
    if (!this.#options.isStable()) this.#health.restartWait();
    if (!this.#health.isComplete) return;
    this.#isHealthComplete = true;
    const { compilation, enqueue } = this.#options;
    enqueue([...compilation.results.values()].flatMap(({ kind, id }) => (kind === "Channel" ? [id] : [])));
  }

  #isDry(account: AccountResult): boolean {
    return isUnfunded(account, this.#tracker.spentNanosOf(account.id));
  }

  /** An account that runs dry, or is filled up, changes the condition of all of its keys. */
  #reconcileFunds(account: AccountResult): void {
    const { compilation, enqueue } = this.#options;
    const isDry = this.#isDry(account);
    if (isDry === this.#unfunded.has(account.id)) return;
    if (isDry) this.#unfunded.add(account.id);
    else this.#unfunded.delete(account.id);
    this.#tracker.show(account.id);
    enqueue([account.id, ...compilation.keysOf(account.namespace, account.name)]);
  }
}
