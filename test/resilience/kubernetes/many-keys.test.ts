/**
 * J4, J5 and T4, T8: ten thousand keys are read in pages, one of them deleted meanwhile; a flood of changes is pushed in
 * few, bounded steps. Real API server, real operator and proxy processes.
 */

import assert from "node:assert/strict";
import { ApiFaultProxy } from "#test/support/api-fault-proxy";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { ClusterRig, readMetric } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll, createKeys, inParallel, numberedKey, objectPath } from "#test/support/kubernetes/objects";
import { channel } from "#test/support/resilience/manifests";
import { residentBytes } from "#test/support/resilience/processes";
import { showFigure } from "#test/support/shown-figures";
import { waitFor } from "#test/support/wait-for";

const keyCount = 10_000;
/** Changes of the flood: half of them to one object, the others to those of as many channels. */
const changes = 2_000;
const channelCount = 20;

describe("many keys in a cluster (J4, J5)", function () {
  this.timeout(240_000);
  let plane: ControlPlane;
  let rig: ClusterRig;
  let proxy: ApiFaultProxy;

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    proxy = await ApiFaultProxy.start(plane);
    rig = new ClusterRig(plane);
    await createKeys(plane, keyCount);
  });

  after(async () => {
    await rig?.close();
    await proxy?.close();
    await plane?.stop();
  });

  for (const row of [
    { name: "as a stream", isStreaming: true },
    { name: "in pages", isStreaming: false },
  ]) {
    it(`reads ten thousand keys ${row.name}, with one deleted meanwhile`, async () => {
      let isDeleted = false;
      let askedAt = 0;
      proxy.fault = ({ resource, query }) => {
        if (resource === "apikeys") askedAt ||= performance.now();
        if (!row.isStreaming && query.has("sendInitialEvents")) return { status: 422 };
        if (resource === "apikeys" && (row.isStreaming || query.has("continue")) && !isDeleted) {
          isDeleted = true;
          void plane.must("DELETE", objectPath("ApiKey", "default", "key-7"));
        }
        return undefined;
      };
      const kubeconfig = await plane.kubeconfig({ port: proxy.port });
      const operator = await rig.startOperator(`operator-${row.isStreaming}`, { kubeconfig });
      await operator.waitUntilReady(30_000);
      const tookMs = performance.now() - askedAt;
      await waitFor("the deleted one to be gone", async () => (await operator.fleet()).keys === keyCount - 1);
      const rss = residentBytes(operator.processId);
      showFigure(
        `J4 ${row.name}: ready ${Math.round(tookMs)} ms after it asked for the keys (5000), RSS ${Math.round(rss / 2 ** 20)} MiB (256)`,
      );
      assert.ok(tookMs <= 5_000, `${Math.round(tookMs)} ms`);
      assert.ok(rss <= 256 * 2 ** 20, `${Math.round(rss / 2 ** 20)} MiB`);
      await operator.close();
      proxy.heal();
      await plane.must("POST", objectPath("ApiKey", "default"), numberedKey(7));
    });
  }

  it("pushes a flood of changes in few steps, and the last state soon after the last change (J5)", async () => {
    proxy.heal();
    const secrets = Array.from({ length: channelCount }, (_, index) => {
      const metadata = { name: `flood-${index}`, namespace: "default" };
      return { apiVersion: "v1", kind: "Secret", metadata, stringData: { apiKey: "upstream-secret-0123456789" } };
    });
    const channels = secrets.map(({ metadata: { name } }) =>
      channel(name, 9, { credentials: [{ name: "main", secretKeyRef: { name, key: "apiKey" } }] }),
    );
    await applyAll(plane, [...secrets, ...channels]);
    const operator = await rig.startOperator("operator-flood");
    await operator.waitUntilReady(30_000);
    const reader = await rig.startProxy("proxy-flood", operator.socket);
    await waitFor("the proxy to be ready", () => reader.isReady(), { deadlineMs: 10_000 });
    const before = await operator.metric("tollgate_config_publications_total");
    const beganAt = performance.now();
    // Secrets, because the API server takes twice as many changes a second of them as of objects with rules of CEL.
    const rotate = (name: string, index: number) => {
      const patch = { stringData: { apiKey: `upstream-secret-${index}-0123456789` } };
      return plane.must("PATCH", objectPath("Secret", "default", name), patch, "application/merge-patch+json");
    };
    const sequence = async () => {
      for (let index = 0; index < changes / 2; index += 1) await rotate("flood-0", index);
    };
    const spread = inParallel(changes / 2, (index) => rotate(`flood-${1 + (index % (channelCount - 1))}`, index), 8);
    await Promise.all([sequence(), spread]);
    const last = { spec: { state: "Suspended" } };
    await plane.must("PATCH", objectPath("ApiKey", "default", "key-0"), last, "application/merge-patch+json");
    const changedAt = performance.now();
    const isLive = async () => {
      const { revision, proxies } = await operator.fleet();
      const held = await operator.metric("tollgate_config_least_revision");
      return proxies.length === 1 && revision === held && proxies[0]?.digest === (await operator.fleet()).digest;
    };
    await waitFor("the last state to be live", isLive, { deadlineMs: 1_000 });
    const pushes = (await operator.metric("tollgate_config_publications_total")) - before;
    const seconds = (changedAt - beganAt) / 1_000;
    const scrape = await (await fetch(`${reader.started.admin}/metrics`)).text();
    showFigure(`J5: ${changes} changes in ${seconds.toFixed(1)} s, ${pushes} pushes`);
    // A machine too busy for a flood brings changes further apart than what is put together.
    const pushesMax = changes / seconds >= 100 ? seconds * 10 : changes / 2;
    assert.ok(pushes <= pushesMax + 2, `${pushes} pushes in ${seconds.toFixed(1)} s: more than one per 100 ms`);
    assert.equal(readMetric(scrape, "tollgate_config_rejects_total"), 0);
  });
});
