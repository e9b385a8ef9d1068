/**
 * Tells the operator, every few seconds, which keys were used, how much of their quotas and of their accounts' credit is
 * gone, and which credentials their providers refuse: `usage`, `lastUsedTime`, `balance`, `QuotaExhausted` and `Healthy`
 * of the status come from here. Reports are bounded and may be lost; nothing is decided by them.
 */
import type { Ledger } from "#proxy/admit/ledger";
import { isRatePeriod, WindowClock } from "#proxy/admit/window";
import type { RotatedCredentials } from "#proxy/route/rotated-credentials";
import type { AccountReport, KeyReport, QuotaReport, Report } from "#proxy/snapshot/push/messages";
import type { Snapshot } from "#proxy/snapshot/snapshot";
import type { Account, Key, Limit } from "#proxy/snapshot/types.gen";
import type { KeyUses } from "./key-uses.ts";

/** With eight limits each they stay far below what the operator reads in one message. */
const keysPerReportMax = 1_000;
const ejectedPerReportMax = 200;

export interface ReportUsageOptions {
  readonly uses: KeyUses;
  readonly credentials: Pick<RotatedCredentials, "ejected">;
  readonly ledger: Pick<Ledger, "read">;
  readonly pin: () => Snapshot;
  readonly now: () => number;
  /** Sends a report up; false when nobody is connected. */
  readonly send: (report: Report) => boolean;
  readonly isConnected: () => boolean;
  /** 5,000 by default. */
  readonly everyMs?: number;
}

/** @returns how to stop; what was gathered last is sent before. */
export function reportUsageRegularly(options: ReportUsageOptions): () => void {
  const clocks = new Map<string, WindowClock>();
  const send = (): void => {
    // What is not sent now is sent when the operator is back.
    if (!options.isConnected()) return;
    const report = usageReport(options, clocks);
    if (report !== undefined) options.send(report);
  };
  const timer = setInterval(send, options.everyMs ?? 5_000);
  timer.unref();
  return () => {
    clearInterval(timer);
    send();
  };
}

/** @returns undefined when no key was used and no credential is refused. */
export function usageReport(
  { uses, credentials, ledger, pin, now }: Pick<ReportUsageOptions, "uses" | "credentials" | "ledger" | "pin" | "now">,
  clocks: Map<string, WindowClock> = new Map(),
): Report | undefined {
  const taken = uses.take(keysPerReportMax);
  const ejected = credentials.ejected(ejectedPerReportMax);
  if (taken.length === 0 && ejected.length === 0) return undefined;
  const snapshot = pin();
  const nowMs = now();
  const accounts = new Map<string, Account>();
  const keys = taken.map(([key, { lastUsedAt, requests }]): KeyReport => {
    const account = key.account === undefined ? undefined : snapshot.account(key.namespace, key.account);
    if (account !== undefined) accounts.set(`${account.namespace}/${account.name}`, account);
    const quotas = limitsOf(key, account).flatMap((limit) => quotaReport(key, limit, ledger, clocks, nowMs) ?? []);
    return { key: `${key.namespace}/${key.name}`, lastUsedAt, requests, quotas };
  });
  const balances = [...accounts.keys()].flatMap((account): AccountReport[] => {
    const reading = ledger.read(`account/${account}`);
    if (reading === undefined) return [];
    return [{ account, consumed: String(reading.posted), reserved: String(reading.pending) }];
  });
  return { type: "report", keys, accounts: balances, ejected };
}

/** The account's template holds for a key that has no limits. */
function limitsOf(key: Key, account: Account | undefined): readonly Limit[] {
  return key.limits !== undefined && key.limits.length > 0 ? key.limits : (account?.defaultKeyLimits ?? []);
}

function quotaReport(
  key: Key,
  limit: Limit,
  ledger: Pick<Ledger, "read">,
  clocks: Map<string, WindowClock>,
  nowMs: number,
): QuotaReport | undefined {
  // A rate says nothing about tomorrow, and would be another number at every look.
  if (isRatePeriod(limit.period)) return undefined;
  const clock = clockOf(limit, clocks);
  clock.follow(nowMs);
  const reading = ledger.read(`key/${key.namespace}/${key.name}/${limit.name}`);
  const isCurrent = reading !== undefined && reading.windowStartMs === clock.startMs;
  return {
    name: limit.name,
    unit: limit.unit,
    isEnforced: limit.mode === "Enforce",
    used: isCurrent ? String(reading.posted) : "0",
    limit: limit.limit,
    ...(Number.isFinite(clock.endMs) && { resetAt: clock.endMs }),
  };
}

function clockOf({ period, timeZone = "UTC" }: Limit, clocks: Map<string, WindowClock>): WindowClock {
  const name = `${period} ${timeZone}`;
  let clock = clocks.get(name);
  if (clock === undefined) clocks.set(name, (clock = new WindowClock(period, timeZone)));
  return clock;
}
