/**
 * Reports to the operator, every few seconds, which keys were used, how much of their quotas and of their accounts'
 * credit is gone, and which credentials their providers refuse: `usage`, `lastUsedTime`, `balance`, `QuotaExhausted`
 * and `Healthy` of the status come from here. Reports are bounded and may be lost; nothing is decided by them. A key
 * whose figures the ledger's store cannot tell now is told of in a later report.
 */
import type { Ledger } from "#proxy/admit/ledger";
import { isRatePeriod, WindowClock } from "#proxy/admit/window";
import type { RotatedCredentials } from "#proxy/route/rotated-credentials";
import type { AccountReport, KeyReport, QuotaReport, Report } from "#proxy/snapshot/push/messages";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { Account, Key, Limit } from "#proxy/snapshot/types.gen";
import type { KeyUse, KeyUses } from "./key-uses.ts";

/** With eight limits each they stay far below what the operator reads in one message. */
const keysPerReportMax = 1_000;
const ejectedPerReportMax = 200;
/** Keys whose counters are read together: a report must not hold up calls that ask the same store. */
const keysPerReadMax = 16;

export interface ReportUsageOptions {
  readonly uses: KeyUses;
  readonly credentials: Pick<RotatedCredentials, "ejected">;
  readonly ledger: Pick<Ledger, "read">;
  /** Other proxies count in the same ledger. */
  readonly isShared?: boolean;
  readonly pin: () => Snapshot;
  readonly now: () => number;
  /** Sends a report up; false when nobody is connected. */
  readonly send: (report: Report) => boolean;
  readonly isConnected: () => boolean;
  /** 5,000 by default. */
  readonly everyMs?: number;
}

/** @returns how to stop; what was gathered last is sent before. */
export function reportUsageRegularly(options: ReportUsageOptions): () => Promise<void> {
  const clocks = new Map<string, WindowClock>();
  const send = async (): Promise<void> => {
    // What is not sent now is sent when the operator is back.
    if (!options.isConnected()) return;
    const report = await usageReport(options, clocks);
    if (report !== undefined) options.send(report);
  };
  const sendOrLose = (): Promise<void> => send().catch(() => undefined);
  const timer = setInterval(sendOrLose, options.everyMs ?? 5_000);
  timer.unref();
  return () => {
    clearInterval(timer);
    return sendOrLose();
  };
}

/** @returns undefined when no key was used and no credential is refused. */
export async function usageReport(
  {
    uses,
    credentials,
    ledger,
    isShared,
    pin,
    now,
  }: Pick<ReportUsageOptions, "uses" | "credentials" | "ledger" | "isShared" | "pin" | "now">,
  clocks: Map<string, WindowClock> = new Map(),
): Promise<Report | undefined> {
  const taken = uses.drain(keysPerReportMax);
  const ejected = credentials.ejected(ejectedPerReportMax);
  if (taken.length === 0 && ejected.length === 0) return undefined;
  const snapshot = pin();
  const nowMs = now();
  const keys: KeyReport[] = [];
  const accounts: AccountReport[] = [];
  const toldAccounts = new Set<string>();
  const reportOf = async ([key, { lastUsedAt, requests }]: [Key, KeyUse]): Promise<void> => {
    const account = key.account === undefined ? undefined : snapshot.account(key.namespace, key.account);
    const limits = limitsOf(key, account);
    const found = await Promise.all(limits.map((limit) => quotaReport(key, limit, ledger, clocks, nowMs)));
    const quotas = found.filter((quota) => quota !== undefined);
    const balance = account === undefined ? [] : await balanceReport(account, ledger, toldAccounts);
    keys.push({ key: `${key.namespace}/${key.name}`, lastUsedAt, requests, quotas });
    accounts.push(...balance);
  };
  for (let at = 0; at < taken.length; at += keysPerReadMax) {
    const slice = taken.slice(at, at + keysPerReadMax);
    const results = await Promise.allSettled(slice.map(reportOf));
    const unread = slice.filter((_, index) => results[index]?.status === "rejected");
    for (const [key, use] of unread) uses.putBack(key, use);
    if (unread.length < slice.length) continue;
    // The store tells nothing now: asking for all the others would take as long for each slice.
    for (const [key, use] of taken.slice(at + keysPerReadMax)) uses.putBack(key, use);
    break;
  }
  if (keys.length === 0 && ejected.length === 0) return undefined;
  return { type: "report", ...(isShared === true && { isShared }), keys, accounts, ejected };
}

/** @param told accounts that this report tells of already. Rejects where the store cannot tell */
async function balanceReport(
  { namespace, name }: Account,
  ledger: Pick<Ledger, "read">,
  told: Set<string>,
): Promise<AccountReport[]> {
  const account = `${namespace}/${name}`;
  if (told.has(account)) return [];
  told.add(account);
  try {
    const reading = await ledger.read(`account/${account}`);
    return reading === undefined
      ? []
      : [{ account, consumed: String(reading.posted), reserved: String(reading.pending) }];
  } catch (error) {
    told.delete(account);
    throw error;
  }
}

/** The account's template holds for a key that has no limits. */
function limitsOf(key: Key, account: Account | undefined): readonly Limit[] {
  return key.limits !== undefined && key.limits.length > 0 ? key.limits : (account?.defaultKeyLimits ?? []);
}

async function quotaReport(
  key: Key,
  limit: Limit,
  ledger: Pick<Ledger, "read">,
  clocks: Map<string, WindowClock>,
  nowMs: number,
): Promise<QuotaReport | undefined> {
  // A rate says nothing about tomorrow, and would be another number at every look.
  if (isRatePeriod(limit.period)) return undefined;
  const clock = clockOf(limit, clocks);
  clock.follow(nowMs);
  // Before the wait: reports of other limits share the clock.
  const { startMs, endMs } = clock;
  const reading = await ledger.read(`key/${key.namespace}/${key.name}/${limit.name}`);
  const isCurrent = reading !== undefined && reading.windowStartMs === startMs;
  return {
    name: limit.name,
    unit: limit.unit,
    isEnforced: limit.mode === "Enforce",
    used: isCurrent ? String(reading.posted) : "0",
    limit: limit.limit,
    ...(Number.isFinite(endMs) && { resetAt: endMs }),
  };
}

function clockOf({ period, timeZone = "UTC" }: Limit, clocks: Map<string, WindowClock>): WindowClock {
  const name = `${period} ${timeZone}`;
  let clock = clocks.get(name);
  if (clock === undefined) clocks.set(name, (clock = new WindowClock(period, timeZone)));
  return clock;
}
