/**
 * Random commands given to a ledger and to the model alike: what one admits the other admits, what one has counted
 * the other has counted, after every step.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Amounts, CounterReading, Refusal, Reservation, ReserveRequest, SettleOutcome } from "#proxy/admit/ledger";
import type { Limit } from "#proxy/snapshot/types.gen";
import { LedgerModel, pick } from "./ledger-model.ts";

export const ttlMs = 10_000;

/** The parts of a ledger that answers at once. */
export interface CheckedLedger {
  reserve(request: ReserveRequest): Reservation | Refusal;
  settle(id: string, actual: Amounts): SettleOutcome;
  touch(id: string): void;
  read(counter: string): CounterReading | undefined;
}

export interface Step {
  readonly kind: "reserve" | "settle" | "touch" | "wait";
  readonly amounts: Amounts;
  /** Which of the earlier ids, or which claims. */
  readonly pick: number;
  readonly claims: number;
  readonly waitMs: number;
}

const small = fc.integer({ min: 0, max: 8 }).map(BigInt);
const amounts = fc.record({ requests: fc.constant(1n), inputTokens: small, outputTokens: small, costNanos: small });
export const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step["kind"]>("reserve", "reserve", "reserve", "settle", "settle", "touch", "wait"),
    amounts,
    pick: fc.nat(1_000),
    claims: fc.nat(63),
    waitMs: fc.constantFrom(1, 400, 1_000, 9_999, 10_000, 61_000),
  }),
  { maxLength: 40 },
);

const limit = (
  name: string,
  unit: Limit["unit"],
  amount: string,
  period: Limit["period"],
  mode: Limit["mode"] = "Enforce",
): Limit => ({
  name,
  unit,
  limit: amount,
  period,
  algorithm: "FixedWindow",
  mode,
});
const pool = [
  { counter: "key/ns/a/second", limit: limit("second", "Requests", "3", "Second") },
  { counter: "key/ns/a/minute", limit: limit("minute", "Tokens", "60", "Minute") },
  { counter: "account/ns/a/quota", limit: limit("quota", "Cost", "40", "Lifetime") },
  { counter: "route/ns/a/shadow", limit: limit("shadow", "InputTokens", "5", "Minute", "Shadow") },
] as const;
const balance = { counter: "account/ns/a", grantedNanos: 50n };
const concurrency = { counter: "key/ns/a", maxInFlight: 4 };

/** Runs the steps against both and compares after each. @param clock is moved by the steps; the ledger reads it */
export function runSteps(ledger: CheckedLedger, commands: readonly Step[], clock: { nowMs: number }): void {
  const model = new LedgerModel(ttlMs);
  const ids: string[] = [];
  for (const step of commands) {
    const id = ids[step.pick % Math.max(ids.length, 1)] ?? "never-reserved";
    if (step.kind === "wait") clock.nowMs += step.waitMs;
    else if (step.kind === "reserve") {
      const request = requestOf(`id-${ids.length}`, step);
      const before = pool.map(({ counter }) => ledger.read(counter)?.pending ?? 0n);
      const result = ledger.reserve(request);
      assert.equal(result.kind === "reserved", model.reserve(request, clock.nowMs), "admission");
      if (result.kind === "refused") {
        const after = pool.map(({ counter }) => ledger.read(counter)?.pending ?? 0n);
        assert.deepEqual(after, before, "a refusal leaves no part of a reservation");
      }
      ids.push(request.id);
    } else if (step.kind === "settle") {
      model.expire(clock.nowMs);
      ledger.read("expires what is due");
      assert.equal(ledger.settle(id, step.amounts), model.settle(id, step.amounts), "outcome of settling");
    } else {
      model.expire(clock.nowMs);
      ledger.read("expires what is due");
      ledger.touch(id);
      model.touch(id, clock.nowMs);
    }
    compareCounters(ledger, model, clock.nowMs);
  }
  clock.nowMs += ttlMs;
  model.expire(clock.nowMs);
  compareCounters(ledger, model, clock.nowMs);
  for (const { counter } of pool) assert.equal(ledger.read(counter)?.pending ?? 0n, 0n, "nothing stays pending");
}

function requestOf(id: string, step: Step): ReserveRequest {
  return {
    id,
    amounts: step.amounts,
    limits: pool.filter((_, index) => (step.claims & (1 << index)) !== 0),
    balances: (step.claims & 16) === 0 ? [] : [balance],
    concurrency: (step.claims & 32) === 0 ? [] : [concurrency],
  };
}

function compareCounters(ledger: CheckedLedger, model: LedgerModel, nowMs: number): void {
  model.expire(nowMs);
  for (const {
    counter,
    limit: { period, unit },
  } of pool) {
    const length = period === "Second" ? 1_000 : 60_000;
    const startMs = period === "Lifetime" ? 0 : nowMs - (nowMs % length);
    const { posted, pending } = model.sum(counter, startMs, (used) => pick(used, unit));
    const reading = ledger.read(counter);
    assert.deepEqual([reading?.posted ?? 0n, reading?.pending ?? 0n], [posted, pending], counter);
  }
  const { posted, pending } = model.sum(balance.counter, 0, (used) => used.costNanos);
  const reading = ledger.read(balance.counter);
  assert.deepEqual([reading?.posted ?? 0n, reading?.pending ?? 0n], [posted, pending], "balance");
  assert.equal(
    ledger.read(concurrency.counter)?.pending ?? 0n,
    BigInt(model.inFlight(concurrency.counter)),
    "in flight",
  );
}
