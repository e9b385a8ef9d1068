/**
 * Rule 12 of `OPERATIONS.md` section 1 and J9 with a real etcd: a backup is restored, versions run backwards, and the
 * fleet follows the world as it is now, under a new epoch; before that nobody goes back in time.
 */
import assert from "node:assert/strict";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { ClusterFleet, ownNamespace } from "../../support/fleet/cluster-fleet.ts";
import type { ControlPlane } from "../../support/kube-control-plane.ts";
import { controlPlaneOrSkip } from "../../support/kubernetes/control-plane-or-skip.ts";
import { applyAll, createKeys, inParallel, objectPath } from "../../support/kubernetes/objects.ts";
import { apiKey } from "../../support/resilience/manifests.ts";
import { waitFor } from "../../support/wait-for.ts";

describe("an etcd restored from a backup", function () {
  this.timeout(240_000);
  let plane: ControlPlane;
  let fleet: ClusterFleet;

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    fleet = await ClusterFleet.start(plane);
    for (const index of [0, 1]) await (await fleet.operator(index)).waitUntilReady(60_000);
    for (const name of ["proxy-0", "proxy-1"]) {
      const { program } = await fleet.proxy(name);
      await waitFor(`${name} to be ready`, () => program.isReady(), { deadlineMs: 30_000 });
    }
  });
  after(async () => {
    await fleet?.close();
    await plane?.stop();
  });

  const keysOf = async (admin: string): Promise<number> => {
    const scrape = await (await fetch(`${admin}/metrics`)).text();
    return Number(/^tollgate_config_keys ([0-9]+)$/m.exec(scrape)?.[1]);
  };
  const everywhere = async (what: string, keys: number) =>
    waitFor(
      what,
      async () => {
        const counts = await Promise.all(fleet.proxies.map(({ program }) => keysOf(program.started.admin ?? "")));
        return counts.every((count) => count === keys);
      },
      { deadlineMs: 60_000, everyMs: 50 },
    );
  /** Does something while neither etcd nor API server runs. */
  const stopped = async (action: () => Promise<void>): Promise<void> => {
    await plane.kill("kube-apiserver");
    await plane.kill("etcd");
    await action();
    await Promise.all([plane.start("etcd"), plane.start("kube-apiserver")]);
  };
  const epochs = () => Promise.all(fleet.operators.map((operator) => operator.metric("tollgate_push_epoch")));

  it("is followed by every proxy, under a new epoch that outlives the operators", async () => {
    await applyAll(plane, [apiKey("old")]);
    await everywhere("the first key", 1);
    const [data, backup] = [join(plane.folder, "etcd"), join(plane.folder, "backup")];
    await stopped(() => cp(data, backup, { recursive: true }));

    // A day of work that the restore undoes.
    await createKeys(plane, 30);
    await inParallel(10, (index) => plane.must("DELETE", objectPath("ApiKey", "default", `key-${index}`)));
    await plane.must("DELETE", objectPath("ApiKey", "default", "old"));
    await everywhere("the day's work", 20);
    assert.deepEqual(await epochs(), [1, 1]);

    await stopped(async () => {
      await rm(data, { recursive: true });
      await cp(backup, data, { recursive: true });
    });
    await everywhere("the restored world", 1);
    await waitFor("a new epoch of both", async () => (await epochs()).every((epoch) => epoch === 2), {
      deadlineMs: 60_000,
    });
    const map = await plane.must("GET", `/api/v1/namespaces/${ownNamespace}/configmaps/tollgate-push-ca`);
    assert.match(JSON.stringify(map), /"epoch":"2"/);

    await applyAll(plane, [apiKey("after")]);
    await everywhere("a change after it", 2);
    for (const { program } of fleet.proxies) assert.equal(await program.isReady(), true);
  });
});
