/**
 * Random commands given to a ledger and to the model alike: what one admits the other admits, what one has counted
 * the other has counted, after every step.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Amounts, Ledger, LimitClaim, ReserveRequest } from "#proxy/admit/ledger";
import type { Limit } from "#proxy/snapshot/types.gen";
import { LedgerModel } from "./ledger-model.ts";

export const ttlMs = 10_000;
/** Ten seconds before a midnight in Berlin, and ahead of every real clock: a store forgets what is over by its own. */
export const firstMs = Date.UTC(2040, 0, 15, 22, 59, 50);

export type CheckedLedger = Pick<Ledger, "reserve" | "settle" | "touch" | "read">;

export interface Step {
  readonly kind: "reserve" | "again" | "settle" | "touch" | "wait";
  readonly amounts: Amounts;
  /** Which of the earlier ids. */
  readonly pick: number;
  /** Which claims, a bit for each. */
  readonly claims: number;
  /** Which of the amounts that a limit is edited to and fro. */
  readonly edit: number;
  readonly waitMs: number;
}

const small = fc.integer({ min: 0, max: 8 }).map(BigInt);
const amounts = fc.record({ requests: fc.constant(1n), inputTokens: small, outputTokens: small, costNanos: small });
const kinds = ["reserve", "reserve", "reserve", "again", "settle", "settle", "touch", "wait"] as const;
export const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step["kind"]>(...kinds),
    amounts,
    pick: fc.nat(1_000),
    claims: fc.nat(255),
    edit: fc.oneof(fc.constant(0), fc.nat(2)),
    waitMs: fc.constantFrom(1, 7, 400, 1_000, 9_999, 10_000, 61_000),
  }),
  { maxLength: 40 },
);

const limit = (name: string, unit: Limit["unit"], period: Limit["period"], more: Partial<Limit> = {}): Limit => ({
  name,
  unit,
  limit: "0",
  period,
  algorithm: "FixedWindow",
  mode: "Enforce",
  ...more,
});

/** Each limit as it is edited to and fro; the first form is the usual one. */
function forms(counter: string, base: Limit, ...sizes: readonly string[]): readonly LimitClaim[] {
  return sizes.map((size) => ({ counter, limit: { ...base, limit: size } }));
}

const bucket = { algorithm: "TokenBucket", burst: "20" } as const;
const pool: readonly (readonly LimitClaim[])[] = [
  forms("key/ns/a/second", limit("second", "Requests", "Second"), "3", "4", "1"),
  forms("key/ns/a/minute", limit("minute", "Tokens", "Minute"), "60", "20", "90"),
  forms("account/ns/a/quota", limit("quota", "Cost", "Lifetime"), "40", "60", "10"),
  forms("route/ns/a/shadow", limit("shadow", "InputTokens", "Minute", { mode: "Shadow" }), "5"),
  forms("key/ns/a/day", limit("day", "OutputTokens", "Day", { timeZone: "Europe/Berlin" }), "50", "70", "0"),
  forms("key/ns/a/bucket", limit("bucket", "Tokens", "Minute", bucket), "30", "7", "61"),
];
const balance = { counter: "account/ns/a", grantedNanos: 50n };
const concurrency = { counter: "key/ns/a", maxInFlight: 4 };

/** Runs the steps against both and compares after each. @param clock is moved by the steps; the ledger reads it */
export async function runSteps(
  ledger: CheckedLedger,
  commands: readonly Step[],
  clock: { nowMs: number },
): Promise<void> {
  const model = new LedgerModel(ttlMs);
  const requests: ReserveRequest[] = [];
  for (const step of commands) {
    const earlier = requests[step.pick % Math.max(requests.length, 1)];
    const id = earlier?.id ?? "never-reserved";
    if (step.kind === "wait") clock.nowMs += step.waitMs;
    else if (step.kind === "reserve") {
      const request = requestOf(`id-${requests.length}`, step);
      await reserveInBoth(ledger, model, request, clock.nowMs);
      requests.push(request);
    } else if (step.kind === "again") {
      model.expire(clock.nowMs);
      if (earlier !== undefined && model.isOpen(id)) await reserveInBoth(ledger, model, earlier, clock.nowMs);
    } else if (step.kind === "settle") {
      // A ledger may expire what is due only when it is asked for something.
      await ledger.read("expires what is due");
      const expected = model.settle(id, step.amounts, clock.nowMs);
      assert.equal(await ledger.settle(id, step.amounts), expected, "outcome of settling");
    } else {
      await ledger.read("expires what is due");
      ledger.touch(id);
      model.touch(id, clock.nowMs);
    }
    await compareCounters(ledger, model, clock.nowMs);
  }
  clock.nowMs += ttlMs;
  await compareCounters(ledger, model, clock.nowMs);
  for (const [claim] of pool)
    assert.equal((await ledger.read(claim?.counter ?? ""))?.pending ?? 0n, 0n, "nothing stays pending");
}

async function reserveInBoth(
  ledger: CheckedLedger,
  model: LedgerModel,
  request: ReserveRequest,
  nowMs: number,
): Promise<void> {
  const before = await pendings(ledger);
  const result = await ledger.reserve(request);
  assert.equal(result.kind === "reserved", model.reserve(request, nowMs), "admission");
  if (result.kind === "refused")
    assert.deepEqual(await pendings(ledger), before, "a refusal leaves no part of a reservation");
}

function pendings(ledger: CheckedLedger): Promise<readonly bigint[]> {
  return Promise.all(pool.map(async ([claim]) => (await ledger.read(claim?.counter ?? ""))?.pending ?? 0n));
}

function requestOf(id: string, step: Step): ReserveRequest {
  const claimed = pool.filter((_, index) => (step.claims & (1 << index)) !== 0);
  return {
    id,
    amounts: step.amounts,
    limits: claimed.map((all) => all[step.edit % all.length]).filter((claim) => claim !== undefined),
    balances: (step.claims & 64) === 0 ? [] : [balance],
    concurrency: (step.claims & 128) === 0 ? [] : [concurrency],
  };
}

async function compareCounters(ledger: CheckedLedger, model: LedgerModel, nowMs: number): Promise<void> {
  const compare = async (counter: string, { posted, pending }: { posted: bigint; pending: bigint }): Promise<void> => {
    const reading = await ledger.read(counter);
    assert.deepEqual([reading?.posted ?? 0n, reading?.pending ?? 0n], [posted, pending], counter);
  };
  await Promise.all([
    ...pool.map(([claim]) => claim && compare(claim.counter, model.sums(claim.counter, claim.limit, nowMs))),
    compare(balance.counter, model.balance(balance.counter)),
    compare(concurrency.counter, { posted: 0n, pending: BigInt(model.inFlight(concurrency.counter)) }),
  ]);
}
