import assert from "node:assert/strict";
import { balanceLeft } from "#proxy/admit/balance-left";
import type { CounterReading } from "#proxy/admit/ledger";

const readings: Readonly<Record<string, readonly [posted: bigint, pending: bigint]>> = {
  "account/ns/half": [40n, 10n],
  "account/ns/over": [120n, 0n],
};
const ledger = {
  read(counter: string): CounterReading | undefined {
    const [posted, pending] = readings[counter] ?? [];
    return posted === undefined || pending === undefined ? undefined : { counter, posted, pending, windowStartMs: 0 };
  },
};
const claim = (name: string, grantedNanos: bigint | undefined) => ({ counter: `account/ns/${name}`, grantedNanos });

describe("balanceLeft()", () => {
  for (const row of [
    { name: "is undefined without a balance", balances: [], want: undefined },
    { name: "is undefined for an unlimited account", balances: [claim("half", undefined)], want: undefined },
    { name: "is all that was granted before the first use", balances: [claim("new", 100n)], want: 100n },
    { name: "takes off what is spent and what is held", balances: [claim("half", 100n)], want: 50n },
    { name: "is negative after an overshoot", balances: [claim("over", 100n)], want: -20n },
    { name: "is that of the scarcest balance", balances: [claim("new", 60n), claim("half", 100n)], want: 50n },
  ]) {
    it(row.name, async () => assert.equal(await balanceLeft(row.balances, ledger), row.want));
    it(`${row.name}, where the store replies later`, async () => {
      const later = { read: async (counter: string) => ledger.read(counter) };
      assert.equal(await balanceLeft(row.balances, later), row.want);
    });
  }
});
