/**
 * Connects status to its causes: passes of the compiler, acknowledgements of the fleet, and time; hands it to whoever
 * writes it and tells a person at the terminal what an edit did.
 *
 * Acknowledgements come in bursts, one a proxy and transaction: they are looked at together.
 */

import type { Report } from "../proxy/snapshot/push/messages.ts";
import { type Compilation, type CompileChanges, resultId } from "./compile/compilation.ts";
import type { AccountResult, ObjectResult } from "./compile/result.ts";
import { type Leadership, soleOperator } from "./leader/leadership.ts";
import type { Fleet } from "./push/fleet.ts";
import { identityOf, type Origin, type OwnKind, type Problem, type ResourceSet } from "./resources/resource.ts";
import type { OperatorLog } from "./settings.ts";
import { Announcer, type AwaitedSecret } from "./status/announcer.ts";
import { standingUse } from "./status/cluster/standing-use.ts";
import type { Acknowledgement } from "./status/conditions.ts";
import { describeProblem } from "./status/report-changes.ts";
import type { StatusDocument } from "./status/status-document.ts";
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
  /** Who keeps status of several operators; the only one where there is but one. */
  readonly leadership?: Leadership;
  /** Where status outlives the operator: what stands, by `resultId`, of the object that there is now. */
  readonly standing?: (id: string) => StatusDocument | undefined;
  /** Between two usage figures of one object; a minute by default. */
  readonly usageEveryMs?: number | undefined;
}

export interface StatusLoop {
  /** What should stand, by `resultId`; nothing while another operator keeps status. */
  statusOf(id: string): StatusDocument | undefined;
  /** What stands of an object came, perhaps from an operator that led before. */
  see(id: string): void;
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
/** Between two looks whether all proxies have been heard after a start. */
const settlingMs = 250;
/** RESOURCES.md R11. */
const usageWritesPerSecond = 5;

export function keepStatus(options: KeepStatusOptions): StatusLoop {
  const { compilation, fleet, resources, sink, log, leadership = soleOperator, standing } = options;
  const announcer = new Announcer({ log, resources, ...(options.awaited && { awaited: options.awaited }) });
  const useBefore = (id: string) => {
    const document = standing?.(id);
    return document && standingUse(document, resources);
  };
  const book = new UsageBook({
    now: () => Date.now(),
    standing: useBefore,
    ...(options.usageEveryMs && { everyMs: options.usageEveryMs }),
  });
  // Without a cluster there is nobody to be heard from later.
  const isSettled = () => standing === undefined || fleet.isSettled;
  const keeper = new StatusKeeper({
    observe: (result) => observeUse(result, book, compilation),
    compilation,
    ...(standing && { standing }),
    acknowledgementOf: (wireId) => heardSoFar(fleet.acknowledgementOf(wireId), isSettled()),
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

  let isKeeping = leadership.isLeader();
  let wasSettled = false;
  let wasServed = false;
  let rejected: ReadonlySet<string> = new Set();
  let gathering: NodeJS.Timeout | undefined;
  const lookAtFleet = () => {
    gathering = undefined;
    if (!isKeeping) return;
    const isServed = fleet.readyCount > 0;
    const nowRejected = fleet.rejectedIds();
    // Only now is it known what all proxies hold.
    const hasSettled = !wasSettled && isSettled();
    if (isServed !== wasServed || hasSettled) keeper.lookAtAll();
    else keeper.lookAtAcknowledgements([...rejected, ...nowRejected]);
    wasServed = isServed;
    wasSettled ||= hasSettled;
    rejected = nowRejected;
  };
  const stopListening = fleet.onChange(() => {
    gathering ??= setTimeout(lookAtFleet, gatherMs).unref();
  });
  const clock = setInterval(() => keeper.lookAtClock(), clockMs).unref();
  const settling = setInterval(() => {
    if (isKeeping && !wasSettled && isSettled()) lookAtFleet();
  }, settlingMs).unref();
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
  const stopFollowing = leadership.onChange(() => {
    if (isKeeping === leadership.isLeader()) return;
    isKeeping = leadership.isLeader();
    // Begun anew from what stands: what others did meanwhile is not in the books here.
    keeper.reset();
    book.clear();
    unfunded.clear();
    wasServed = false;
    wasSettled = false;
    if (!isKeeping) return;
    fleet.settle();
    for (const result of compilation.results.values()) if (result.kind === "Account") lookAtFunds(result);
    keeper.lookAtAll();
  });

  return {
    statusOf: (id) => (isKeeping ? keeper.statusOf(id) : undefined),
    see(id) {
      if (!isKeeping) return;
      const stands = standing?.(id);
      if (stands !== undefined) keeper.see(id, stands, !isSettled());
    },
    take(proxy, report) {
      if (!isKeeping) return;
      for (const id of book.take(proxy, report)) {
        keeper.lookAt([id]);
        const account = compilation.results.get(id);
        if (account?.kind === "Account") lookAtFunds(account);
      }
    },
    look(changes) {
      told = tellProblems(log, resources.problems, told);
      if (!isKeeping) return;
      for (const [id, result] of changes.results) {
        if (result === undefined) {
          book.forget(id);
          unfunded.delete(id);
        } else if (result.kind === "ApiKey") book.forgetQuotas(id);
        else if (result.kind === "Account") lookAtFunds(result);
      }
      keeper.look(changes);
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
      stopFollowing();
      clearInterval(settling);
      clearInterval(clock);
      clearInterval(usageClock);
      clearTimeout(gathering);
      announcer.flush();
      keeper.close();
      await sink.close();
    },
  };
}

/** Until all proxies have been heard nobody can say that each of them has a version, nor that there are none. */
function heardSoFar(acknowledgement: Acknowledgement, isSettled: boolean): Acknowledgement {
  const { state } = acknowledgement;
  if (isSettled || (state !== "Programmed" && state !== "NoProxies")) return acknowledgement;
  return { ...acknowledgement, state: "Pending" };
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
