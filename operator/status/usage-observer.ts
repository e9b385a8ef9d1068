/**
 * What proxies report of use -> looks at status: figures at their pace, and at once where a quota or a credit is used up,
 * which for an account is a matter of all of its keys; and of credentials that providers refuse.
 */

import { type Compilation, type CompileChanges, resultId } from "#operator/compile/compilation";
import type { AccountResult, ObjectResult } from "#operator/compile/result";
import type { Report } from "#proxy/snapshot/push/messages";
import type { Surroundings } from "./conditions.ts";
import { CredentialHealth } from "./credential-health.ts";
import { isUnfunded, type ShownUse, UsageTracker } from "./usage-tracker.ts";

export interface UsageObserverOptions {
  readonly compilation: Pick<Compilation, "results" | "keysOf">;
  /** Told the objects, by `resultId`, whose figures or conditions may have changed. */
  readonly lookAt: (ids: Iterable<string>) => void;
  /** What an operator before this one showed of an object. */
  readonly standing: (id: string) => ShownUse | undefined;
  /** Whether the proxies that there are have been heard. */
  readonly isSettled: () => boolean;
  /** Between two figures of one object; a minute by default. */
  readonly everyMs?: number | undefined;
}

export type ObservedUse = Pick<
  Surroundings,
  "isUnfunded" | "exhaustedQuotas" | "endlessQuotas" | "health" | "isHealthUnsettled"
> & {
  readonly use?: ShownUse | undefined;
};

/** RESOURCES.md R11. */
const writesPerSecond = 5;

export class UsageObserver {
  readonly #options: UsageObserverOptions;
  readonly #book: UsageTracker;
  readonly #ejected = new CredentialHealth(() => performance.now());
  #isHealthSettled = false;
  readonly #unfunded = new Set<string>();
  readonly #clock: NodeJS.Timeout;

  constructor(options: UsageObserverOptions) {
    this.#options = options;
    const { compilation, standing, everyMs, lookAt } = options;
    this.#book = new UsageTracker({
      now: () => Date.now(),
      standing,
      generationOf: (id) => compilation.results.get(id)?.generation,
      ...(everyMs !== undefined && { everyMs }),
    });
    this.#clock = setInterval(() => {
      lookAt(this.#book.due(writesPerSecond));
      lookAt(this.#ejected.due());
      this.#settleHealth();
    }, 1_000).unref();
  }

  /** A proxy's report. */
  take(proxy: string, report: Report): void {
    const { compilation, lookAt } = this.#options;
    lookAt(this.#ejected.take(proxy, report));
    for (const id of this.#book.take(proxy, report)) {
      lookAt([id]);
      const account = compilation.results.get(id);
      if (account?.kind === "Account") this.#lookAtFunds(account);
    }
  }

  /** After a pass of the compiler. */
  look({ results }: Pick<CompileChanges, "results">): void {
    for (const [id, result] of results) {
      if (result === undefined) {
        this.#book.forget(id);
        this.#unfunded.delete(id);
      } else if (result.kind === "ApiKey") this.#book.forgetQuotas(id);
      else if (result.kind === "Account") this.#lookAtFunds(result);
    }
  }

  /** What is known of an object's use now. */
  observe(result: ObjectResult): ObservedUse {
    const use = this.#book.shownOf(result.id);
    if (result.kind === "Account") return { use, isUnfunded: this.#isDry(result) };
    if (result.kind === "Channel") {
      const health = this.#ejected.healthOf(result.id);
      return { isHealthUnsettled: !this.#isHealthSettled, ...(health && { health: { ...health, hasTraffic: true } }) };
    }
    if (result.kind !== "ApiKey") return {};
    const account =
      result.account === undefined
        ? undefined
        : this.#options.compilation.results.get(resultId("Account", result.namespace, result.account));
    const exhaustedQuotas = this.#book.exhaustedOf(result.id);
    const endlessQuotas = exhaustedQuotas.length === 0 ? [] : this.#book.endlessOf(result.id);
    const isUnfunded = account?.kind === "Account" && this.#isDry(account);
    return { use, exhaustedQuotas, endlessQuotas, isUnfunded };
  }

  /** Begins anew from what stands: what was reported elsewhere meanwhile is not in this book. */
  restart(): void {
    this.#book.clear();
    this.#ejected.clear();
    this.#isHealthSettled = false;
    this.#unfunded.clear();
    for (const result of this.#options.compilation.results.values()) {
      if (result.kind === "Account" && this.#isDry(result)) this.#unfunded.add(result.id);
    }
  }

  close(): void {
    clearInterval(this.#clock);
  }

  /** What stood of a channel's health before this operator kept status holds until all proxies could tell theirs. */
  #settleHealth(): void {
    if (this.#isHealthSettled) return;
    if (!this.#options.isSettled()) this.#ejected.waitAnew();
    if (!this.#ejected.isSettled) return;
    this.#isHealthSettled = true;
    const { compilation, lookAt } = this.#options;
    lookAt([...compilation.results.values()].flatMap(({ kind, id }) => (kind === "Channel" ? [id] : [])));
  }

  #isDry(account: AccountResult): boolean {
    return isUnfunded(account, this.#book.spentNanosOf(account.id));
  }

  /** An account that runs dry, or is filled up, changes the condition of all of its keys. */
  #lookAtFunds(account: AccountResult): void {
    const { compilation, lookAt } = this.#options;
    const isDry = this.#isDry(account);
    if (isDry === this.#unfunded.has(account.id)) return;
    if (isDry) this.#unfunded.add(account.id);
    else this.#unfunded.delete(account.id);
    this.#book.show(account.id);
    lookAt([account.id, ...compilation.keysOf(account.namespace, account.name)]);
  }
}
