/**
 * T6: a hundred changes a second for minutes leave no trace but the last state: queues stay short, memory in use stays
 * where it is. Real API server, operator and proxy; `TOLLGATE_CHURN_MS` says how long (ten minutes in the full-length runs).
 */

import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { ClusterRig, readMetric } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { createKeys, objectPath } from "#test/support/kubernetes/objects";
import { memoryFlags } from "#test/support/resilience/program";
import { showFigure } from "#test/support/shown-figures";
import { waitFor } from "#test/support/wait-for";

const keyCount = 500;
const perSecond = 100;
/** What queues, caches of what was written, and compiled code may take more; a leak of 2 KiB a change is above it. */
const growthMax = 4;
const churnMs = Number(process.env["TOLLGATE_CHURN_MS"] ?? 8_000);

describe("churn (T6)", function () {
  this.timeout(120_000 + 2 * churnMs);
  let plane: ControlPlane;
  let rig: ClusterRig;

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    await createKeys(plane, keyCount);
    rig = new ClusterRig(plane);
  });

  after(async () => {
    await rig?.close();
    await plane?.stop();
  });

  it("keeps queues short and memory where it is", async () => {
    const operator = await rig.startOperator("operator", { nodeFlags: memoryFlags });
    await operator.waitUntilReady();
    const proxy = await rig.startProxy("proxy", operator.socket, [], memoryFlags);
    await waitFor("the proxy to be ready", () => proxy.isReady());
    let changes = 0;
    let worstBacklog = 0;
    const change = async (): Promise<void> => {
      const index = changes % keyCount;
      changes += 1;
      const patch = { spec: { metadata: { change: String(changes) } } };
      await plane.must("PATCH", objectPath("ApiKey", "default", `key-${index}`), patch, "application/merge-patch+json");
    };
    const churn = async (durationMs: number): Promise<void> => {
      const beganAt = performance.now();
      const open = new Set<Promise<void>>();
      for (let due = 0; performance.now() - beganAt < durationMs; ) {
        const wanted = Math.floor(((performance.now() - beganAt) * perSecond) / 1_000);
        // A machine too busy for the rate gets what it can take, not an ever longer queue of ours.
        for (; due < wanted && open.size < 32; due += 1) {
          const one: Promise<void> = change().finally(() => open.delete(one));
          open.add(one);
        }
        due = Math.max(due, wanted - 32);
        const { proxies } = await operator.fleet();
        worstBacklog = Math.max(worstBacklog, ...proxies.map(({ backlog }) => backlog));
        await wait(50);
      }
      await Promise.all(open);
    };
    // Every key once and code compiled: what is kept for good is there.
    await churn(churnMs / 2);
    const warm = { operator: await operator.liveBytes(), proxy: await proxy.liveBytes() };
    await churn(churnMs);
    const grown = {
      operator: ((await operator.liveBytes()) - warm.operator) / 2 ** 20,
      proxy: ((await proxy.liveBytes()) - warm.proxy) / 2 ** 20,
    };
    await waitFor("the last state", async () => {
      const { digest, proxies } = await operator.fleet();
      return proxies[0]?.digest === digest && proxies[0]?.backlog === 0;
    });
    const scrape = await (await fetch(`${operator.adminOrigin}/metrics`)).text();
    const relists = readMetric(scrape, "tollgate_watch_relists_total", { resource: "apikeys" });
    showFigure(
      `T6: ${changes} changes in ${(1.5 * churnMs) / 1_000} s, backlog at most ${worstBacklog} (${keyCount}), ` +
        `operator ${grown.operator.toFixed(1)} MiB and proxy ${grown.proxy.toFixed(1)} MiB more in use (${growthMax})`,
    );
    assert.ok(worstBacklog <= keyCount, `${worstBacklog}`);
    assert.ok(grown.operator <= growthMax && grown.proxy <= growthMax);
    assert.equal(relists, 1, "nothing had to be listed again");
  });
});
