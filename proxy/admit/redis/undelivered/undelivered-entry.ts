/** Writes an entry of `undelivered.ts` as a line of JSON, and reads one back where every part of it is what it should be. */
import { type NarrowAmounts, narrowAmounts } from "#proxy/admit/count/held-reservation";
import type { BalanceClaim, LimitClaim } from "#proxy/admit/ledger";
import type { Claims } from "#proxy/admit/redis/local-counts";
import { isPeriod } from "#proxy/admit/window";
import type { Limit } from "#proxy/snapshot/types.gen";

export interface UndeliveredEntry {
  /** Of the reservation; for what was used without one an id of its own. */
  readonly id: string;
  /** When it was used, by the store's clock as far as it was known; milliseconds since the epoch. */
  readonly atMs: number;
  readonly used: NarrowAmounts;
  /** Present where nothing was reserved in the store. */
  readonly claims: Claims | undefined;
  /** Of a reservation, what it was made against: it counts there where the store has lost the reservation. */
  readonly heldIn?: Claims | undefined;
  /** When the store was told first, by its clock, without an answer. */
  readonly sentAtMs?: number | undefined;
}

export function writeEntry({ id, atMs, used, claims, heldIn, sentAtMs }: UndeliveredEntry): string {
  const written = { id, atMs, used, sentAtMs, ...(claims && writable(claims)), heldIn: heldIn && writable(heldIn) };
  return `${JSON.stringify(written)}\n`;
}

function writable({ limits, balances }: Claims): object {
  const texts = balances.map(({ counter, grantedNanos }) => ({ counter, granted: grantedNanos?.toString() }));
  return { limits, balances: texts };
}

/** @returns undefined for a line that is no whole entry */
export function parseEntry(line: string): UndeliveredEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { id, atMs, used, heldIn, sentAtMs, limits } = value;
  if (typeof id !== "string" || typeof atMs !== "number" || !isRecord(used)) return undefined;
  const entry = {
    id,
    atMs,
    used: narrowAmounts(amountsOf(used)),
    heldIn: claimsOf(heldIn),
    sentAtMs: typeof sentAtMs === "number" ? sentAtMs : undefined,
  };
  const claims = claimsOf(value);
  if (limits !== undefined && claims === undefined) return undefined;
  return { ...entry, claims };
}

/** @returns undefined for what holds no lists of claims */
function claimsOf(value: unknown): Claims | undefined {
  if (!isRecord(value)) return undefined;
  const { limits, balances } = value;
  if (!Array.isArray(limits) || !Array.isArray(balances)) return undefined;
  return { limits: limits.flatMap(limitClaimOf), balances: balances.flatMap(balanceClaimOf) };
}

function amountsOf(
  used: Readonly<Record<string, unknown>>,
): Record<"requests" | "inputTokens" | "outputTokens" | "costNanos", bigint> {
  const whole = (value: unknown): bigint => (Number.isSafeInteger(value) ? BigInt(Number(value)) : 0n);
  return {
    requests: whole(used["requests"]),
    inputTokens: whole(used["inputTokens"]),
    outputTokens: whole(used["outputTokens"]),
    costNanos: whole(used["costNanos"]),
  };
}

const units: readonly Limit["unit"][] = ["Requests", "Tokens", "InputTokens", "OutputTokens", "Cost"];

function limitClaimOf(value: unknown): readonly LimitClaim[] {
  if (!isRecord(value) || typeof value["counter"] !== "string" || !isRecord(value["limit"])) return [];
  const { name, unit: unitText, limit, period, algorithm, mode, timeZone, burst } = value["limit"];
  const unit = units.find((known) => known === unitText);
  if (typeof name !== "string" || unit === undefined || !isAmount(limit)) return [];
  if (typeof period !== "string" || !isPeriod(period)) return [];
  return [
    {
      counter: value["counter"],
      limit: {
        name,
        unit,
        limit,
        period,
        algorithm: algorithm === "TokenBucket" ? "TokenBucket" : "FixedWindow",
        mode: mode === "Shadow" ? "Shadow" : "Enforce",
        ...(typeof timeZone === "string" && { timeZone }),
        ...(isAmount(burst) && { burst }),
      },
    },
  ];
}

function balanceClaimOf(value: unknown): readonly BalanceClaim[] {
  if (!isRecord(value) || typeof value["counter"] !== "string") return [];
  const { counter, granted } = value;
  return [
    { counter, grantedNanos: typeof granted === "string" && /^-?\d+$/.test(granted) ? BigInt(granted) : undefined },
  ];
}

function isAmount(value: unknown): value is string {
  return typeof value === "string" && /^\d+$/.test(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
