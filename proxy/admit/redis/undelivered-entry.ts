/** Writes an entry of `undelivered.ts` as a line of JSON, and reads one back where every part of it is what it should be. */
import { type NarrowAmounts, narrowAmounts } from "#proxy/admit/count/held-reservation";
import type { BalanceClaim, LimitClaim, ReserveRequest } from "#proxy/admit/ledger";
import { isPeriod } from "#proxy/admit/window";
import type { Limit } from "#proxy/snapshot/types.gen";

export interface UndeliveredEntry {
  /** Of the reservation; for what was used without one an id of its own. */
  readonly id: string;
  /** When it was used, by the store's clock as far as it was known; milliseconds since the epoch. */
  readonly atMs: number;
  readonly used: NarrowAmounts;
  /** Present where nothing was reserved in the store. */
  readonly claims: Pick<ReserveRequest, "limits" | "balances"> | undefined;
}

export function writeEntry({ id, atMs, used, claims }: UndeliveredEntry): string {
  const balances = claims?.balances.map(({ counter, grantedNanos }) => ({
    counter,
    granted: grantedNanos?.toString(),
  }));
  const written = { id, atMs, used, ...(claims !== undefined && { limits: claims.limits, balances }) };
  return `${JSON.stringify(written)}\n`;
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
  const { id, atMs, used, limits, balances } = value;
  if (typeof id !== "string" || typeof atMs !== "number" || !isRecord(used)) return undefined;
  const entry = { id, atMs, used: narrowAmounts(amountsOf(used)) };
  if (limits === undefined) return { ...entry, claims: undefined };
  if (!Array.isArray(limits) || !Array.isArray(balances)) return undefined;
  return { ...entry, claims: { limits: limits.flatMap(limitClaimOf), balances: balances.flatMap(balanceClaimOf) } };
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
