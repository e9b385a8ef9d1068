import assert from "node:assert/strict";
import fc from "fast-check";
import { affordableOutput, estimateCost, estimateTurn } from "#proxy/admit/estimate-cost";
import { zeroAmounts } from "#proxy/admit/ledger";
import { computeCost } from "#proxy/settle/price";
import { zeroUsage } from "#proxy/settle/usage";
import type { Fleet, Route } from "#proxy/snapshot/types.gen";

const fleet: Fleet = {
  kind: "fleet",
  name: "fleet",
  requireAccount: false,
  unboundedOutput: "Reserve",
  inputEstimate: "Estimate",
  defaultOutputReserve: 4_096,
  revocation: "Finish",
  egressAllowCIDRs: [],
};
const route: Route = {
  kind: "route",
  namespace: "ns",
  name: "r",
  model: "m",
  visibility: "Listed",
  capabilities: ["Chat"],
  targets: [],
  strategy: "Weighted",
  failover: { maxAttempts: 1, on: [], withinFirstMs: 0 },
  keySelector: { namespaces: ["*"] },
  price: { input: "1000000", output: "2000000" },
};
const call = {
  model: "m",
  textBytes: 300,
  attachments: 0,
  outputCap: 100,
  candidates: 1,
  body: { bytes: Buffer.alloc(500) },
};

describe("estimateCost()", () => {
  for (const row of [
    { name: "reserves a third of the text's bytes and the call's cap", call, route, fleet, want: [116n, 100n] },
    {
      name: "reserves attachments apart from text",
      call: { ...call, attachments: 2 },
      route,
      fleet,
      want: [3_316n, 100n],
    },
    { name: "reserves the cap for each candidate", call: { ...call, candidates: 3 }, route, fleet, want: [116n, 300n] },
    {
      name: "reserves the default without a cap",
      call: { ...call, outputCap: undefined },
      route,
      fleet,
      want: [116n, 4_096n],
    },
    {
      name: "reserves no more than the model can produce",
      call: { ...call, outputCap: undefined },
      route: { ...route, info: { maxOutputTokens: 1_000 } },
      fleet,
      want: [116n, 1_000n],
    },
    {
      name: "reserves the default for a cap of 0, which some servers read as none",
      call: { ...call, outputCap: 0 },
      route,
      fleet,
      want: [116n, 4_096n],
    },
    {
      name: "takes every byte for a token with inputEstimate Upper",
      call,
      route,
      fleet: { ...fleet, inputEstimate: "Upper" as const },
      want: [500n, 100n],
    },
  ]) {
    it(row.name, () => {
      const { amounts } = estimateCost(row.call, row.route, row.fleet);
      assert.deepEqual([amounts.inputTokens, amounts.outputTokens], row.want);
      assert.equal(amounts.requests, 1n);
    });
  }

  it("prices what it reserves", () => {
    assert.equal(estimateCost(call, route, fleet).amounts.costNanos, 116_000n + 200_000n);
  });

  it("sends the reserve upstream as a cap only with unboundedOutput Cap and no cap of the client's", () => {
    const cap: Fleet = { ...fleet, unboundedOutput: "Cap" };
    assert.equal(estimateCost(call, route, cap).outputCap, undefined);
    assert.equal(estimateCost({ ...call, outputCap: undefined }, route, cap).outputCap, 4_096);
    assert.equal(estimateCost({ ...call, outputCap: undefined }, route, fleet).outputCap, undefined);
  });

  for (const { name, sent, isCap, want } of [
    {
      name: "the most that a target sends",
      sent: { outputCap: 5_000, isOpen: false },
      isCap: false,
      want: [5_000, undefined],
    },
    {
      name: "less where every target sends less",
      sent: { outputCap: 64, isOpen: false },
      isCap: false,
      want: [64, undefined],
    },
    {
      name: "the default where some target gets no cap",
      sent: { outputCap: 64, isOpen: true },
      isCap: false,
      want: [4_096, undefined],
    },
    {
      name: "more than the default where another target sends more",
      sent: { outputCap: 9_000, isOpen: true },
      isCap: false,
      want: [9_000, undefined],
    },
    {
      name: "a cap for targets that get none of the client's",
      sent: { outputCap: undefined, isOpen: true },
      isCap: true,
      want: [4_096, 4_096],
    },
    {
      name: "no cap over the client's own that all targets get",
      sent: { outputCap: 64, isOpen: false },
      isCap: true,
      want: [64, undefined],
    },
  ] as const) {
    it(`reserves ${name}, for each candidate that is asked for`, () => {
      const given: Fleet = { ...fleet, unboundedOutput: isCap ? "Cap" : "Reserve" };
      const estimate = estimateCost(call, route, given, () => undefined, {
        ...sent,
        candidates: 2,
        addedBytes: 0,
      });
      assert.deepEqual([estimate.outputReserve, estimate.outputCap], want);
      assert.equal(estimate.amounts.outputTokens, BigInt(2 * want[0]));
      assert.equal(estimate.candidates, 2);
    });
  }

  it("reserves for the text that rules add, byte by byte where it is to be exact", () => {
    const sent = { outputCap: 100, isOpen: false, candidates: 1, addedBytes: 3_000 };
    const inputOf = (given: Fleet) => estimateCost(call, route, given, () => undefined, sent).amounts.inputTokens;
    assert.equal(inputOf(fleet), 1_116n);
    assert.equal(inputOf({ ...fleet, inputEstimate: "Upper" }), 3_500n);
  });

  it("is never below what text can cost with inputEstimate Upper, whatever classes its tokens fall into", () => {
    const amount = fc.integer({ min: 0, max: 100_000_000 }).map(String);
    const price = fc.record({
      input: amount,
      output: amount,
      cacheWrite: amount,
      cacheWrite1h: amount,
      cachedInput: amount,
      reasoning: amount,
    });
    const share = fc.array(fc.nat(125), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(
        price,
        share,
        fc.nat(100),
        (rates, [input = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0], reasoning) => {
          const upper: Fleet = { ...fleet, inputEstimate: "Upper" };
          const reserved = estimateCost(call, { ...route, price: rates }, upper).amounts.costNanos;
          const usage = {
            ...zeroUsage,
            input,
            cacheWrite,
            cacheWrite1h,
            reasoning,
            output: 100 - reasoning,
            cacheRead,
          };
          assert.ok(computeCost(usage, rates, { requests: 1 }).costNanos <= reserved);
        },
      ),
    );
  });
});

describe("estimateCost() with unboundedOutput Cap and a balance", () => {
  const cap: Fleet = { ...fleet, unboundedOutput: "Cap" };
  const open = { ...call, outputCap: undefined };
  // 116 input tokens at 1,000 nano-credits, output tokens at 2,000 each.
  const input = 116_000n;

  for (const row of [
    { name: "keeps the reserve where the balance covers it", left: input + 2_000n * 4_096n, want: 4_096 },
    { name: "keeps the reserve without a balance", left: undefined, want: 4_096 },
    { name: "sends what the balance affords", left: input + 2_000n * 100n, want: 100 },
    { name: "rounds down to whole tokens", left: input + 2_000n * 100n + 1_999n, want: 100 },
    { name: "shares the balance among candidates", candidates: 3, left: input + 2_000n * 100n, want: 33 },
    { name: "affords no less than 16 tokens", left: input + 2_000n * 16n, want: 16 },
    { name: "leaves the refusal to the ledger below that", left: input + 2_000n * 15n, want: 4_096 },
    { name: "leaves the refusal to the ledger when the balance is used up", left: -1n, want: 4_096 },
  ]) {
    it(row.name, () => {
      const candidates = row.candidates ?? 1;
      const estimate = estimateCost({ ...open, candidates }, route, cap, () => row.left);
      assert.equal(estimate.outputCap, row.want);
      assert.equal(estimate.outputReserve, row.want);
      assert.equal(estimate.amounts.outputTokens, BigInt(row.want * candidates));
      assert.equal(estimate.amounts.costNanos, input + 2_000n * BigInt(row.want * candidates));
    });
  }

  it("does not read the balance of a call that cannot be shortened", () => {
    const unread = (): never => assert.fail("read");
    assert.equal(estimateCost(call, route, cap, unread).outputReserve, 100);
    assert.equal(estimateCost(open, route, fleet, unread).outputReserve, 4_096);
  });
});

describe("affordableOutput()", () => {
  it("is the greatest number whose cost is covered", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 17, max: 1e9 }),
        fc.nat(1_000),
        fc.nat(100_000),
        fc.nat(),
        (wanted, rate, base, left) => {
          const costOf = (tokens: number): bigint => BigInt(base) + (BigInt(tokens) * BigInt(rate)) / 7n;
          const found = affordableOutput(wanted, costOf, BigInt(left));
          if (costOf(16) > left || costOf(wanted) <= left) assert.equal(found, wanted);
          else assert.ok(costOf(found) <= left && costOf(found + 1) > left && found >= 16 && found < wanted);
        },
      ),
    );
  });
});

describe("estimateTurn()", () => {
  const estimate = { amounts: zeroAmounts, candidates: 1, outputReserve: 500, outputCap: undefined };
  const used = { ...zeroUsage, input: 1_000, output: 80, reasoning: 20 };
  const last = { ...zeroUsage, input: 400, cacheRead: 200, output: 50 };

  for (const row of [
    { name: "reads all that the last request read and said, and produces what is left", outputCap: 300, output: 300n },
    { name: "produces no more than a call is reserved for", outputCap: 9_000, output: 500n },
  ]) {
    it(row.name, () => {
      const need = estimateTurn({ used, last, outputCap: row.outputCap }, estimate, route, fleet);
      assert.equal(need.inputTokens, 1_000n + 650n);
      assert.equal(need.outputTokens, 100n + row.output);
      // 1 and 2 credits a million tokens: 1,000 and 2,000 nano-credits each.
      assert.equal(need.costNanos, (1_000n + 650n) * 1_000n + (100n + row.output) * 2_000n);
      assert.equal(need.requests, 1n);
    });
  }

  it("takes the dearest classes with `Upper`, and one request's price for the whole turn", () => {
    const price = { input: "1000000", output: "2000000", cacheWrite: "3000000", request: "7" };
    const priced = { ...route, price };
    const need = estimateTurn({ used, last, outputCap: 10 }, estimate, priced, { ...fleet, inputEstimate: "Upper" });
    const spent = computeCost(used, price, { requests: 1 }).costNanos;
    assert.equal(need.costNanos, spent + 650n * 3_000n + 10n * 2_000n);
  });
});
