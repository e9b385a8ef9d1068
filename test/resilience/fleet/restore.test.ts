/**
 * docs/design/configuration.md 3.12 and docs/design/reliability.md J9 with a real etcd: a backup is restored, versions
 * run backwards or have been raised past all that were ever given, and the fleet follows the world as it is now, under
 * a new epoch; before that nobody goes back in time.
 */
import assert from "node:assert/strict";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { ClusterFleet, ownNamespace } from "#test/support/fleet/cluster-fleet";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll, createKeys, inParallel, objectPath } from "#test/support/kubernetes/objects";
import { apiKey, rawKey } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";

describe("an etcd restored from a backup", function () {
  this.timeout(240_000);
  let plane: ControlPlane;
  let fleet: ClusterFleet;

  beforeEach(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    fleet = await ClusterFleet.start(plane);
    for (const index of [0, 1]) await (await fleet.operator(index)).waitUntilReady(60_000);
    for (const name of ["proxy-0", "proxy-1"]) {
      const { program } = await fleet.proxy(name);
      await waitFor(`${name} to be ready`, () => program.isReady(), { deadlineMs: 30_000 });
    }
  });
  afterEach(async () => {
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
  const stopped = async (action: (data: string, backup: string) => Promise<void>): Promise<void> => {
    await plane.kill("kube-apiserver");
    await plane.kill("etcd");
    await action(join(plane.folder, "etcd"), join(plane.folder, "backup"));
    await Promise.all([plane.start("etcd"), plane.start("kube-apiserver")]);
  };
  const backUp = () => stopped((data, backup) => cp(data, backup, { recursive: true }));
  const restore = async (data: string, backup: string): Promise<void> => {
    await rm(data, { recursive: true });
    await cp(backup, data, { recursive: true });
  };
  /** What a restore undoes. */
  const work = async (): Promise<void> => {
    await createKeys(plane, 30);
    await inParallel(10, (index) => plane.must("DELETE", objectPath("ApiKey", "default", `key-${index}`)));
    await plane.must("DELETE", objectPath("ApiKey", "default", "old"));
  };
  const version = async (): Promise<bigint> => {
    const list = await plane.must("GET", `${objectPath("Account", "default")}?limit=1`);
    return BigInt((list as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
  };
  const filler = (index: number, text: string): object => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `filler-${index}`, namespace: "default" },
    data: { text },
  });
  /** Of a list of models asked for with a key. */
  const statusOf = async (origin: string, key: string): Promise<number> => {
    const headers = { authorization: `Bearer ${rawKey(key)}` };
    return (await fetch(`${origin}/v1/models`, { headers })).status;
  };
  /** As `etcdutl snapshot restore --bump-revision` does, which etcd recommends for Kubernetes. */
  const passVersion = async (last: bigint): Promise<void> => {
    while ((await version()) <= last) {
      await inParallel(50, (index) => applyAll(plane, [filler(index, String(Math.random()))]));
    }
  };
  const epochs = () => Promise.all(fleet.operators.map((operator) => operator.metric("tollgate_push_epoch")));

  it("is followed by every proxy, under a new epoch that outlives the operators", async () => {
    await applyAll(plane, [apiKey("old")]);
    await everywhere("the first key", 1);
    await backUp();
    await work();
    await everywhere("the day's work", 20);
    assert.deepEqual(await epochs(), [1, 1]);

    await stopped(restore);
    await everywhere("the restored world", 1);
    await waitFor("a new epoch of both", async () => (await epochs()).every((epoch) => epoch === 2), {
      deadlineMs: 60_000,
    });
    const map = await plane.must("GET", `/api/v1/namespaces/${ownNamespace}/configmaps/tollgate-push-ca`);
    assert.match(JSON.stringify(map), /"epoch":"2"/);

    await applyAll(plane, [apiKey("after")]);
    await everywhere("a change after it", 2);
    // What had been deleted is one object among others: each edit of it is taken.
    for (const edit of ["one", "two"]) {
      const before = await Promise.all(fleet.operators.map((operator) => operator.fleet()));
      await applyAll(plane, [apiKey("old", { metadata: { edit } })]);
      await waitFor(`edit ${edit} everywhere`, async () => {
        const states = await Promise.all(fleet.operators.map((operator) => operator.fleet()));
        const isTaken = ({ digest, proxies }: (typeof states)[number]) =>
          digest !== before[0]?.digest && proxies.every((proxy) => proxy.digest === digest);
        return states.every(isTaken);
      });
    }
    for (const { program } of fleet.proxies) assert.equal(await statusOf(program.started.data ?? "", "old"), 200);
    for (const { program } of fleet.proxies) assert.equal(await program.isReady(), true);
  });

  it("is followed also where its versions have passed all that the operators saw", async () => {
    await applyAll(plane, [apiKey("old"), apiKey("doubted", { state: "Suspended" })]);
    await everywhere("the first keys", 2);
    await backUp();
    await work();
    await applyAll(plane, [apiKey("doubted")]);
    await everywhere("the day's work", 21);

    const last = await version();
    await stopped(async (data, backup) => {
      for (const operator of fleet.operators) {
        const isAway = async () => (await operator.metric("tollgate_api_server_reachable")) === 0;
        await waitFor(`${operator.name} to notice`, isAway, { deadlineMs: 20_000 });
        operator.signal("SIGSTOP");
      }
      await restore(data, backup);
    });
    await passVersion(last);
    for (const operator of fleet.operators) operator.signal("SIGCONT");
    await everywhere("the restored world", 2);
    await waitFor("the suspension that was lifted since", async () => {
      const statuses = await Promise.all(
        fleet.proxies.map(({ program }) => statusOf(program.started.data ?? "", "doubted")),
      );
      return statuses.every((status) => status === 403 || status === 401);
    });
    assert.deepEqual(
      await Promise.all(fleet.proxies.map(({ program }) => statusOf(program.started.data ?? "", "old"))),
      [200, 200],
    );
    await waitFor("a new epoch of both", async () => (await epochs()).every((epoch) => epoch === 2));
  });

  it("is followed where the operator that is left has seen nothing of what was undone", async () => {
    const [seeing, blind] = fleet.operators;
    assert.ok(seeing !== undefined && blind !== undefined);
    await applyAll(plane, [apiKey("old")]);
    await everywhere("the first key", 1);
    await backUp();
    for (const operator of fleet.operators) await operator.waitUntilReady();
    await everywhere("the same world", 1);
    blind.signal("SIGSTOP");
    await work();
    await everywhere("the day's work", 20);

    const last = await version();
    await stopped(restore);
    await seeing.close();
    await passVersion(last);
    blind.signal("SIGCONT");
    await everywhere("the restored world", 1);
    await waitFor("a new epoch", async () => (await blind.metric("tollgate_push_epoch")) === 2);
  });
});
