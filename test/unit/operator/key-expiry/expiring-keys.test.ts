import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { Registry } from "prom-client";
import { registerKeyExpiry } from "#operator/key-expiry/expiring-keys";
import { Publisher } from "#operator/push/publisher";
import type { Key } from "#proxy/snapshot/types.gen";
import { ManualTimers } from "#test/support/manual-timers";
import { byId } from "#test/support/push-rig";
import { sha256Of, wireKey } from "#test/support/wire-objects";

const nowMs = Date.parse("2026-11-21T12:00:00Z");
const dayMs = 24 * 3_600_000;
const inDays = (days: number): number => nowMs + days * dayMs;
const credential = (name: string, notAfter?: number): Key["credentials"][number] => ({
  name,
  sha256: sha256Of(name),
  ...(notAfter !== undefined && { notAfter }),
});

describe("tollgate_keys_expiring", () => {
  async function count(...keys: Key[]): Promise<number | undefined> {
    const registry = new Registry();
    const publisher = new Publisher({ timers: new ManualTimers() });
    const stop = registerKeyExpiry(registry, publisher, () => nowMs);
    publisher.publish(byId(...keys));
    const { values } = (await registry.getSingleMetric("tollgate_keys_expiring")?.get()) ?? { values: [] };
    stop();
    publisher.close();
    return values[0]?.value;
  }

  for (const row of [
    { name: "a key without an end does not count", key: wireKey("one"), want: 0 },
    { name: "a key that ends in three days counts", key: wireKey("one", { expiresAt: inDays(3) }), want: 1 },
    { name: "one that ends in eight does not yet", key: wireKey("one", { expiresAt: inDays(8) }), want: 0 },
    { name: "one that has ended does not any more", key: wireKey("one", { expiresAt: inDays(-1) }), want: 0 },
    {
      name: "a suspended key serves nobody anyway",
      key: wireKey("one", { state: "Suspended", expiresAt: inDays(3) }),
      want: 0,
    },
    {
      name: "the last of its credentials counts",
      key: wireKey("one", { credentials: [credential("a", inDays(1)), credential("b", inDays(2))] }),
      want: 1,
    },
    {
      name: "a rotation with a credential that lives longer is no end",
      key: wireKey("one", { credentials: [credential("a", inDays(1)), credential("b")] }),
      want: 0,
    },
  ])
    it(row.name, async () => assert.equal(await count(row.key), row.want));

  it("a key that was removed or changed is forgotten", async () => {
    const registry = new Registry();
    const publisher = new Publisher({ timers: new ManualTimers() });
    const stop = registerKeyExpiry(registry, publisher, () => nowMs);
    publisher.publish(byId(wireKey("one", { expiresAt: inDays(1) }), wireKey("two", { expiresAt: inDays(1) })));
    publisher.publish(byId(wireKey("two")));
    const { values } = (await registry.getSingleMetric("tollgate_keys_expiring")?.get()) ?? { values: [] };
    assert.equal(values[0]?.value, 0);
    stop();
    publisher.close();
  });
});
