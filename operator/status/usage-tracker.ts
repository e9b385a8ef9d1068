/**
 * Sums the proxies' reports of use: quotas and last use of keys, balances of accounts.
 *
 * Reports come every few seconds and figures move all the time, so this decides when a figure may be shown
 * (docs/design/configuration.md 1.4): at once when the meaning changed (a quota or credit used up, or available again);
 * else at most once a minute for an object and a few objects a second, stalest first, and only figures that moved by a
 * hundredth. It is bounded and forgets the least recently reported object first. `usage-observer.ts` feeds and reads
 * it.
 */

import type { ObjectResult } from "#operator/compile/result";
import type { AccountReport, QuotaReport, Report } from "#proxy/snapshot/push/messages";

/** The figures of an object that may be shown. */
export interface ShownUse {
  readonly atMs: number;
  readonly quotas: readonly QuotaReport[];
  /** Rounded to the hour; 0: never. */
  readonly lastUsedMs: number;
  readonly balance?: { readonly consumedNanos: bigint; readonly reservedNanos: bigint };
}

interface Entry {
  readonly quotasByProxy: Map<string, readonly QuotaReport[]>;
  readonly balanceByProxy: Map<string, AccountReport>;
  lastUsedMs: number;
  shown: ShownUse | undefined;
  /** Generation of the spec that the quotas belong to; undefined: not known. */
  generation: number | undefined;
}

export interface UsageTrackerOptions {
  readonly now: () => number;
  /** Between two numbers of one object. */
  readonly everyMs?: number;
  /** The figures in the status of a previous operator, from which the numbers go on. */
  readonly inherited?: (id: string) => ShownUse | undefined;
  /** Generation of the object's spec now, where it is known. */
  readonly generationOf?: (id: string) => number | undefined;
  readonly objectsMax?: number;
}

const hourMs = 3_600_000;

export class UsageTracker {
  readonly #now: () => number;
  readonly #everyMs: number;
  readonly #inherited: (id: string) => ShownUse | undefined;
  readonly #generationOf: (id: string) => number | undefined;
  readonly #objectsMax: number;
  readonly #entries = new Map<string, Entry>();
  /** Objects with numbers not shown yet, those that wait longest first. */
  readonly #waiting = new Set<string>();
  /** Objects whose quotas are used up, and when the first of them begins anew. */
  readonly #exhausted = new Map<string, number>();

  constructor(options: UsageTrackerOptions) {
    const { now, everyMs = 60_000, objectsMax = 20_000 } = options;
    this.#now = now;
    this.#inherited = options.inherited ?? (() => undefined);
    this.#generationOf = options.generationOf ?? (() => undefined);
    this.#everyMs = everyMs;
    this.#objectsMax = objectsMax;
  }

  /** Accepts a proxy's report. @returns the objects, by `resultId`, whose condition may have changed */
  acceptReport(proxy: string, report: Report): string[] {
    const changed: string[] = [];
    for (const { key, lastUsedAt, quotas } of report.keys) {
      const id = `key/${key}`;
      const entry = this.#entryOf(id);
      entry.lastUsedMs = Math.max(entry.lastUsedMs, lastUsedAt - (lastUsedAt % hourMs));
      // Of a shared ledger the latest report is the whole.
      if (report.isShared === true) entry.quotasByProxy.clear();
      entry.quotasByProxy.set(proxy, quotas);
      if (this.#note(id, entry)) changed.push(id);
    }
    for (const account of report.accounts) {
      const id = `account/${account.account}`;
      const entry = this.#entryOf(id);
      if (report.isShared === true) entry.balanceByProxy.clear();
      entry.balanceByProxy.set(proxy, account);
      this.#note(id, entry);
      // Whether it is used up depends on the credit granted, which the caller compares.
      changed.push(id);
    }
    return changed;
  }

  /** Objects whose figures may be shown now, and objects with a new quota period; called a few times a second. */
  due(most: number): string[] {
    const nowMs = this.#now();
    const due: string[] = [];
    for (const [id, untilMs] of this.#exhausted) {
      if (untilMs > nowMs) continue;
      this.#exhausted.delete(id);
      const entry = this.#entries.get(id);
      if (entry) this.#show(id, entry);
      due.push(id);
    }
    for (const id of this.#waiting) {
      if (due.length >= most) break;
      const entry = this.#entries.get(id);
      if (entry?.shown !== undefined && entry.shown.atMs + this.#everyMs > nowMs) continue;
      this.#waiting.delete(id);
      if (entry === undefined || !isWorthShowing(entry.shown, this.#sum(entry))) continue;
      this.#show(id, entry);
      due.push(id);
    }
    return due;
  }

  /** Its condition changed: its numbers may be shown at once. */
  show(id: string): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) this.#show(id, entry);
  }

  /** The figures of an object that may be shown now. */
  shownOf(id: string): ShownUse | undefined {
    const entry = this.#entries.get(id);
    return entry === undefined ? this.#inherited(id) : entry.shown;
  }

  /** The present balance of an account, also where it may not be shown yet. */
  spentNanosOf(account: string): bigint {
    const entry = this.#entries.get(account);
    if (entry === undefined || entry.balanceByProxy.size === 0) {
      const { consumedNanos = 0n, reservedNanos = 0n } = this.shownOf(account)?.balance ?? {};
      return consumedNanos + reservedNanos;
    }
    let spent = 0n;
    for (const { consumed, reserved } of entry.balanceByProxy.values()) {
      spent += BigInt(consumed) + BigInt(reserved);
    }
    return spent;
  }

  /** The quotas of a key that are used up. */
  exhaustedOf(id: string): string[] {
    const shown = this.shownOf(id);
    return shown === undefined ? [] : exhaustedNames(shown.quotas, this.#now());
  }

  /** Those of them whose period never ends. */
  endlessOf(id: string): string[] {
    const endless = this.shownOf(id)?.quotas.filter(({ resetAt }) => resetAt === undefined);
    return exhaustedNames(endless ?? [], this.#now());
  }

  /** Forgets the quotas of a key whose spec may have changed: the reports are about other limits then. */
  forgetQuotas(id: string): void {
    const entry = this.#entries.get(id);
    const generation = this.#generationOf(id);
    // The key was compiled again for another reason, such as a Secret.
    if (entry === undefined || (generation !== undefined && entry.generation === generation)) return;
    entry.generation = generation;
    entry.quotasByProxy.clear();
    this.#show(id, entry);
  }

  forget(id: string): void {
    for (const kept of [this.#entries, this.#waiting, this.#exhausted]) kept.delete(id);
  }

  /** Forgets everything: another operator tracks usage from now on. */
  clear(): void {
    for (const kept of [this.#entries, this.#waiting, this.#exhausted]) kept.clear();
  }

  #entryOf(id: string): Entry {
    let entry = this.#entries.get(id);
    // Reported again, so it is the last to be forgotten.
    if (entry !== undefined) this.#entries.delete(id);
    else {
      const shown = this.#inherited(id);
      entry = {
        quotasByProxy: new Map(),
        balanceByProxy: new Map(),
        lastUsedMs: shown?.lastUsedMs ?? 0,
        shown,
        generation: this.#generationOf(id),
      };
      const [oldest] = this.#entries.keys();
      if (this.#entries.size >= this.#objectsMax && oldest !== undefined) this.forget(oldest);
    }
    this.#entries.set(id, entry);
    return entry;
  }

  /** @returns whether a quota was used up or is there again. */
  #note(id: string, entry: Entry): boolean {
    const nowMs = this.#now();
    const { quotas } = this.#sum(entry);
    const before = exhaustedNames(entry.shown?.quotas ?? [], nowMs).join();
    if (exhaustedNames(quotas, nowMs).join() !== before) {
      this.#show(id, entry);
      return true;
    }
    this.#waiting.add(id);
    return false;
  }

  #show(id: string, entry: Entry): void {
    entry.shown = this.#sum(entry);
    const nowMs = this.#now();
    const ends = entry.shown.quotas
      .filter((quota) => isExhausted(quota, nowMs))
      .flatMap(({ resetAt }) => resetAt ?? []);
    if (ends.length > 0) this.#exhausted.set(id, Math.min(...ends));
    else this.#exhausted.delete(id);
  }

  #sum({ quotasByProxy, balanceByProxy, lastUsedMs }: Entry): ShownUse {
    const quotas = new Map<string, QuotaReport>();
    for (const reported of quotasByProxy.values()) {
      for (const quota of reported) {
        const before = quotas.get(quota.name);
        // A finished window of another proxy is not part of this one.
        const isSameWindow = before !== undefined && before.resetAt === quota.resetAt;
        if (before !== undefined && !isSameWindow && (before.resetAt ?? 0) > (quota.resetAt ?? 0)) continue;
        const used = BigInt(quota.used) + (isSameWindow ? BigInt(before.used) : 0n);
        quotas.set(quota.name, { ...quota, used: String(used) });
      }
    }
    let consumedNanos = 0n;
    let reservedNanos = 0n;
    for (const { consumed, reserved } of balanceByProxy.values()) {
      consumedNanos += BigInt(consumed);
      reservedNanos += BigInt(reserved);
    }
    return {
      atMs: this.#now(),
      quotas: [...quotas.values()],
      lastUsedMs,
      ...(balanceByProxy.size > 0 && { balance: { consumedNanos, reservedNanos } }),
    };
  }
}

/** Whether an account has spent its credit and overdraft. */
export function isUnfunded(account: ObjectResult | undefined, spentNanos: bigint): boolean {
  if (account?.kind !== "Account" || account.creditNanos === undefined) return false;
  return spentNanos >= BigInt(account.creditNanos) + BigInt(account.overdraftNanos ?? "0");
}

function isExhausted({ isEnforced, used, limit, resetAt }: QuotaReport, nowMs: number): boolean {
  return isEnforced && (resetAt === undefined || resetAt > nowMs) && BigInt(used) >= BigInt(limit);
}

function exhaustedNames(quotas: readonly QuotaReport[], nowMs: number): string[] {
  return quotas.filter((quota) => isExhausted(quota, nowMs)).map(({ name }) => name);
}

/** docs/design/configuration.md 1.4: only what moved by a hundredth. */
function isWorthShowing(before: ShownUse | undefined, after: ShownUse): boolean {
  if (before === undefined || before.lastUsedMs !== after.lastUsedMs) return true;
  if (hasMoved(before.balance?.consumedNanos ?? 0n, after.balance?.consumedNanos ?? 0n)) return true;
  return after.quotas.some(({ name, used, limit, resetAt }) => {
    const was = before.quotas.find((quota) => quota.name === name);
    return (
      was === undefined || was.limit !== limit || was.resetAt !== resetAt || hasMoved(BigInt(was.used), BigInt(used))
    );
  });
}

function hasMoved(before: bigint, after: bigint): boolean {
  const moved = after > before ? after - before : before - after;
  return moved > 0n && moved * 100n >= before;
}
