/** docs/design/limits-and-money.md 5: what a call reserved is settled or given back, wherever the pipeline fails. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { type Reservation, zeroAmounts } from "#proxy/admit/ledger";
import type { Limit } from "#proxy/snapshot/types.gen";
import { useCapture } from "#test/support/conformance/capture";
import { callFormOf } from "#test/support/conformance/chat-calls";
import { channelManifest, keyManifest, routeManifest } from "#test/support/conformance/manifests";

const largestCap = 2_147_483_647;
/** An hour lets one token flow in: what two calls of the largest cap take is back in 490,000 years. */
const prepaid: Limit = {
  name: "prepaid",
  unit: "Tokens",
  limit: "1",
  period: "Hour",
  algorithm: "TokenBucket",
  burst: "10000000000000",
  mode: "Enforce",
};

describe("reservations of calls that fail", () => {
  const capture = useCapture((origin) => [
    keyManifest("main", { concurrency: { maxInFlight: 1 } }),
    keyManifest("prepaid", { concurrency: { maxInFlight: 1 }, limits: [{ ...prepaid, burst: 10_000_000_000_000 }] }),
    channelManifest("demo", origin),
    routeManifest("demo"),
  ]);

  it("serves a key whose bucket is full again after the last year of the calendar", async () => {
    const { ledger } = capture().gateway;
    ledger.reserve({
      id: "another",
      amounts: { ...zeroAmounts, outputTokens: BigInt(largestCap) },
      limits: [{ counter: "key/default/prepaid/prepaid", limit: prepaid }],
      balances: [],
      concurrency: [],
    });
    const form = callFormOf("anthropic-messages");
    for (const _ of [1, 2]) {
      const { answer } = await capture().send({
        form,
        model: "demo",
        key: "prepaid",
        body: { max_tokens: largestCap },
      });
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.headers["anthropic-ratelimit-tokens-reset"], "+275760-09-13T00:00:00Z");
    }
    ledger.settle("another", zeroAmounts);
    assert.equal(ledger.openCount, 0);
  });

  it("gives back what it reserved when the answer's headers cannot be made", async () => {
    const { gateway } = capture();
    const { ledger } = gateway;
    const reserve = ledger.reserve.bind(ledger);
    ledger.reserve = (request) => {
      const result = reserve(request);
      if (result.kind === "refused") return result;
      const broken: Reservation = {
        kind: "reserved",
        id: result.id,
        get states(): never {
          throw new Error("no states");
        },
      };
      return broken;
    };
    const form = callFormOf("anthropic-messages");
    try {
      for (const _ of [1, 2]) {
        const { answer, received } = await capture().send({ form, model: "demo" });
        assert.equal(answer.status, 500);
        assert.equal(received, undefined);
      }
    } finally {
      ledger.reserve = reserve;
    }
    assert.equal(ledger.openCount, 0);
    assert.equal((await capture().send({ form, model: "demo" })).answer.status, 200);
  });
});
