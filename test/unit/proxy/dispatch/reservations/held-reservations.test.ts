import assert from "node:assert/strict";
import type { Claims } from "#proxy/admit/claims";
import { type Amounts, type Ledger, oneRequestAmounts, zeroAmounts } from "#proxy/admit/ledger";
import { MemoryLedger } from "#proxy/admit/memory-ledger";
import { HeldReservations } from "#proxy/dispatch/reservations/held-reservations";
import { ReservationHeartbeat } from "#proxy/dispatch/reservations/reservation-heartbeat";
import type { Limit } from "#proxy/snapshot/types.gen";
import { waitFor } from "#test/support/wait-for";
import { wireChannel, wireRoute } from "#test/support/wire-objects";

const limit: Limit = {
  name: "tokens",
  unit: "Tokens",
  limit: "100",
  period: "Day",
  algorithm: "FixedWindow",
  mode: "Enforce",
};
const tokens = (count: bigint): Amounts => ({ ...zeroAmounts, inputTokens: count });
const claims: Claims = { limits: [{ counter: "key/ns/k/tokens", limit }], balances: [], concurrency: [] };
const channel = wireChannel("c", { namespace: "ns", limits: [limit] });
const route = wireRoute("r", { model: "m" });

/** Replies late, as a shared store does, where asked to. */
function late(ledger: MemoryLedger): Ledger {
  const after = async <Result>(act: () => Result): Promise<Result> => {
    await new Promise((resolve) => setImmediate(resolve));
    return act();
  };
  return {
    reserve: (request) => after(() => ledger.reserve(request)),
    settle: (id, actual) => after(() => ledger.settle(id, actual)),
    touch: (id) => ledger.touch(id),
    read: (counter) => ledger.read(counter),
    close: () => ledger.close(),
  };
}

for (const [manner, of] of [
  ["at once", (ledger: MemoryLedger): Ledger => ledger],
  ["late", late],
] as const) {
  describe(`reservations that are extended, of a ledger that replies ${manner}`, () => {
    let memory: MemoryLedger;
    let reservations: ReservationHeartbeat;
    let held: HeldReservations;
    const reading = (counter: string): unknown => {
      const { posted, pending } = memory.read(counter) ?? {};
      return [posted, pending];
    };
    const ofKey = (): unknown => reading("key/ns/k/tokens");
    const ofChannel = (): unknown => reading("channel/ns/c/tokens");

    beforeEach(async () => {
      memory = new MemoryLedger({ now: () => 1_000_000, reservationTtlMs: 60_000 });
      const ledger = of(memory);
      reservations = new ReservationHeartbeat(ledger, 60_000);
      await ledger.reserve({ id: "req", amounts: tokens(40n), ...claims });
      held = new HeldReservations("req", { ledger, reservations, metrics: { ledgerTook: () => undefined } as never });
      assert.equal(await held.reserveChannel(channel, route, "m", tokens(40n)), "reserved");
    });
    afterEach(() => reservations.close());

    it("hold the sum until it is settled once by what was used", async () => {
      assert.equal(await held.extendCaller(claims, tokens(50n)), true);
      assert.equal(await held.extendChannel(channel, route, "m", tokens(50n)), true);
      assert.deepEqual(
        [ofKey(), ofChannel()],
        [
          [0n, 90n],
          [0n, 90n],
        ],
      );
      await held.settle(tokens(70n));
      assert.deepEqual(
        [ofKey(), ofChannel()],
        [
          [70n, 0n],
          [70n, 0n],
        ],
      );
      assert.deepEqual([memory.openCount, reservations.size], [0, 0]);
    });

    it("do not where there is no room: what was held stays so", async () => {
      assert.equal(await held.extendCaller(claims, tokens(61n)), false);
      assert.equal(await held.extendChannel(channel, route, "m", tokens(61n)), false);
      assert.deepEqual(
        [ofKey(), ofChannel()],
        [
          [0n, 40n],
          [0n, 40n],
        ],
      );
      await held.release(true);
      assert.deepEqual([memory.openCount, reservations.size], [0, 0]);
    });

    it("need nothing for nothing", async () => {
      assert.equal(await held.extendCaller(claims, zeroAmounts), true);
      assert.equal(reservations.size, 2);
      await held.settle(oneRequestAmounts);
    });

    it("give back at once what is reserved after the call was settled", async () => {
      const growing = [held.extendCaller(claims, tokens(10n)), held.extendChannel(channel, route, "m", tokens(10n))];
      await held.settle(tokens(5n));
      await Promise.all(growing);
      await waitFor("all to be given back", () => memory.openCount === 0);
      assert.deepEqual(
        [ofKey(), ofChannel()],
        [
          [5n, 0n],
          [5n, 0n],
        ],
      );
      assert.deepEqual([memory.openCount, reservations.size], [0, 0]);
    });
  });
}
