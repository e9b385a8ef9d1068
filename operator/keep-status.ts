/**
 * Connects status to its causes: passes of the compiler, acknowledgements of the fleet, and time; hands it to whoever
 * writes it and tells a person at the terminal what an edit did.
 *
 * Acknowledgements come in bursts, one a proxy and transaction: they are looked at together.
 */

import type { Report } from "../proxy/snapshot/push/messages.ts";
import { type Compilation, type CompileChanges, resultId } from "./compile/compilation.ts";
import type { AccountResult, ObjectResult } from "./compile/result.ts";
import type { Fleet } from "./push/fleet.ts";
import { identityOf, type Origin, type OwnKind, type Problem, type ResourceSet } from "./resources/resource.ts";
import type { OperatorLog } from "./settings.ts";
import { Announcer, type AwaitedSecret } from "./status/announcer.ts";
import { describeProblem } from "./status/report-changes.ts";
import { StatusKeeper } from "./status/status-keeper.ts";
import type { StatusSink } from "./status/status-sink.ts";
import { isUnfunded, UsageBook } from "./status/usage-book.ts";

export interface KeepStatusOptions {
  readonly compilation: Compilation;
  readonly fleet: Fleet;
  readonly resources: ResourceSet;
  /** Where status is written. */
  readonly sink: StatusSink;
  readonly log: OperatorLog;
  /** Secrets that only wait for a variable of the environment. */
  readonly awaited?: readonly AwaitedSecret[] | undefined;
  /** Between two usage figures of one object; a minute by default. */
  readonly usageEveryMs?: number | undefined;
}

export interface StatusLoop {
  /** A proxy's report of use. */
  take(proxy: string, report: Report): void;
  /** After a pass of the compiler. */
  look(changes: CompileChanges): void;
  /** Finds the files of an earlier run; before the first pass. */
  prepare(): Promise<void>;
  /** Removes those of objects that went while no operator ran; after the first pass. */
  tidy(): void;
  close(): Promise<void>;
}

const gatherMs = 20;
/** Expiry and the like show in status within this time; proxies enforce them by their own clock. */
const clockMs = 5_000;
/** RESOURCES.md R11. */
const usageWritesPerSecond = 5;

export function keepStatus(options: KeepStatusOptions): StatusLoop {
  const { compilation, fleet, resources, sink, log } = options;
  const announcer = new Announcer({ log, resources, ...(options.awaited && { awaited: options.awaited }) });
  const book = new UsageBook({ now: () => Date.now(), ...(options.usageEveryMs && { everyMs: options.usageEveryMs }) });
  const keeper = new StatusKeeper({
    observe: (result) => observeUse(result, book, compilation),
    compilation,
    acknowledgementOf: (wireId) => fleet.acknowledgementOf(wireId),
    now: () => Date.now(),
    isSyncing: () => fleet.isSyncing,
    onChange: (before, after) => {
      if (after !== undefined) sink.put(after);
      else if (before !== undefined) sink.remove({ kind: before.kind, ...before.metadata });
      const document = after ?? before;
      const origin = document && originOf(document.kind, identityOf(document.metadata), resources);
      announcer.announce(before, after, origin);
    },
  });

  let wasServed = false;
  let rejected: ReadonlySet<string> = new Set();
  let gathering: NodeJS.Timeout | undefined;
  const lookAtFleet = () => {
    gathering = undefined;
    const isServed = fleet.readyCount > 0;
    const nowRejected = fleet.rejectedIds();
    if (isServed !== wasServed) keeper.lookAtAll();
    else keeper.lookAtAcknowledgements([...rejected, ...nowRejected]);
    wasServed = isServed;
    rejected = nowRejected;
  };
  const stopListening = fleet.onChange(() => {
    gathering ??= setTimeout(lookAtFleet, gatherMs).unref();
  });
  const clock = setInterval(() => keeper.lookAtClock(), clockMs).unref();
  const unfunded = new Set<string>();
  const usageClock = setInterval(() => keeper.lookAt(book.due(usageWritesPerSecond)), 1_000).unref();
  /** An account that runs dry, or is filled up, changes the condition of all of its keys. */
  const lookAtFunds = (account: AccountResult) => {
    const isDry = isUnfunded(account, book.spentNanosOf(account.id));
    if (isDry === unfunded.has(account.id)) return;
    if (isDry) unfunded.add(account.id);
    else unfunded.delete(account.id);
    book.show(account.id);
    keeper.lookAt([account.id, ...compilation.keysOf(account.namespace, account.name)]);
  };
  let told: ReadonlySet<string> = new Set();

  return {
    take(proxy, report) {
      for (const id of book.take(proxy, report)) {
        keeper.lookAt([id]);
        const account = compilation.results.get(id);
        if (account?.kind === "Account") lookAtFunds(account);
      }
    },
    look(changes) {
      for (const [id, result] of changes.results) {
        if (result === undefined) {
          book.forget(id);
          unfunded.delete(id);
        } else if (result.kind === "ApiKey") book.forgetQuotas(id);
        else if (result.kind === "Account") lookAtFunds(result);
      }
      keeper.look(changes);
      told = tellProblems(log, resources.problems, told);
    },
    prepare: () => sink.findPresent(),
    tidy: () => {
      // Of the compiler's results: the keeper may still be busy with them.
      sink.removeAllBut(({ kind, namespace, name }) => {
        return isOwnKind(kind) && compilation.results.has(resultId(kind, namespace, name));
      });
    },
    async close() {
      stopListening();
      clearInterval(clock);
      clearInterval(usageClock);
      clearTimeout(gathering);
      announcer.flush();
      keeper.close();
      await sink.close();
    },
  };
}

function observeUse(result: ObjectResult, book: UsageBook, compilation: Compilation) {
  const use = book.shownOf(result.id);
  if (result.kind === "Account") return { use, isUnfunded: isUnfunded(result, book.spentNanosOf(result.id)) };
  if (result.kind !== "ApiKey") return {};
  const account =
    result.account === undefined
      ? undefined
      : compilation.results.get(resultId("Account", result.namespace, result.account));
  return {
    use,
    exhaustedQuotas: book.exhaustedOf(result.id),
    isUnfunded: account !== undefined && isUnfunded(account, book.spentNanosOf(account.id)),
  };
}

function isOwnKind(kind: string): kind is OwnKind {
  return kind === "ApiKey" || kind === "Channel" || kind === "ModelRoute" || kind === "Account";
}

function originOf(kind: OwnKind, identity: string, resources: ResourceSet): Origin | undefined {
  switch (kind) {
    case "ApiKey":
      return resources.apiKeys.get(identity)?.origin;
    case "Channel":
      return resources.channels.get(identity)?.origin;
    case "ModelRoute":
      return resources.modelRoutes.get(identity)?.origin;
    case "Account":
      return resources.accounts.get(identity)?.origin;
    default:
      return kind satisfies never;
  }
}

/** @returns what stands now, so that each problem is told once while it lasts. */
function tellProblems(log: OperatorLog, problems: readonly Problem[], told: ReadonlySet<string>): ReadonlySet<string> {
  const lines = new Set(problems.map(describeProblem));
  for (const line of lines) if (!told.has(line)) log.warn(line);
  return lines;
}
