/**
 * docs/design/reliability.md K4 as in a cluster: a proxy that knows its operator by TLS and a token restarts while none
 * runs. With its last good file it serves at once and says that it is stale; whatever else it finds in that place, it
 * waits, closed and alive; and either follows the operator when there is one again.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ClusterFleet, type FleetProxy } from "#test/support/fleet/cluster-fleet";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { readMetric } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll } from "#test/support/kubernetes/objects";
import { apiKey, rawKey } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";

const readyWithinMs = 1_000;

describe("a proxy of a fleet that restarts while no operator runs", function () {
  this.timeout(240_000);
  let plane: ControlPlane;
  let fleet: ClusterFleet;
  let file: string;
  /** Starts the proxy's program in the same pod: its token, its trust and its folder are those from before. */
  let startProxy: () => Promise<FleetProxy>;
  let proxy: FleetProxy;

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    await applyAll(plane, [apiKey("kept"), apiKey("revoked"), apiKey("removed-meanwhile")]);
    fleet = await ClusterFleet.start(plane);
    const keyFile = join(plane.folder, "last-good.key");
    await writeFile(keyFile, randomBytes(32));
    const operator = await fleet.operator(0);
    startProxy = await fleet.mountProxy("proxy-0", { flags: [`--last-good-key-file=${keyFile}`] });
    file = join(plane.folder, "proxy-0", "last-good.bin");
    proxy = await startProxy();
    await waitFor("the configuration", async () => (await statusOf("revoked")) === 200, { deadlineMs: 60_000 });
    await deleteKey("revoked");
    await waitFor("the revocation", async () => (await statusOf("revoked")) === 401);
    await operator.close();
    await stop();
  });
  after(async () => {
    await fleet?.close();
    await plane?.stop();
  });

  const deleteKey = (name: string) =>
    plane.must("DELETE", `/apis/tollgate.dev/v1alpha1/namespaces/default/apikeys/${name}`);
  async function statusOf(name: string): Promise<number> {
    const headers = { authorization: `Bearer ${rawKey(name)}` };
    return (await fetch(`http://127.0.0.1:${proxy.program.port}/v1/models`, { headers })).status;
  }
  async function metric(name: string): Promise<number> {
    return readMetric(await (await fetch(`${proxy.program.started.admin}/metrics`)).text(), name);
  }
  /** As a kubelet does before it starts the container anew; what is in flight to the file is written. */
  async function stop(): Promise<void> {
    proxy.program.signal("SIGTERM");
    assert.equal(await proxy.program.ended(), 0);
  }

  it("is ready within a second with its file, says that it is stale, and lets no revoked key in", async () => {
    proxy = await startProxy();
    const openAtMs = performance.now();
    await waitFor("readiness", () => proxy.program.isReady(), { deadlineMs: readyWithinMs });
    assert.ok(performance.now() - openAtMs < readyWithinMs);
    assert.deepEqual([await statusOf("kept"), await statusOf("revoked")], [200, 401]);
    assert.equal(await metric("tollgate_config_stale"), 1);
    assert.equal(await metric("tollgate_config_connected"), 0);
    await stop();
  });

  const said = /starting without the last good file/;
  for (const row of [
    { name: "absent", damage: undefined, said: /there is no last good file/ },
    { name: "empty", damage: () => Buffer.alloc(0), said },
    { name: "torn", damage: (good: Buffer) => good.subarray(0, good.length >> 1), said },
    { name: "flipped in one bit", damage: (good: Buffer) => flipped(good, good.length >> 1), said },
    {
      name: "from a newer version",
      damage: (good: Buffer) =>
        Buffer.from(good.toString("latin1").replace("tollgate-last-good 1", "tollgate-last-good 2"), "latin1"),
      said,
    },
    // A folder in its place cannot be read by anybody, not even by root.
    { name: "unreadable", damage: "folder" as const, said },
  ]) {
    it(`is not ready, serves nobody and stays alive where the file is ${row.name}`, async () => {
      const good = await readFile(file);
      await rm(file);
      if (row.damage === "folder") await mkdir(file);
      else if (row.damage !== undefined) await writeFile(file, row.damage(good));
      try {
        proxy = await startProxy();
        const { program } = proxy;
        await waitFor("the reason in the log", () => row.said.test(program.output));
        await waitFor("a second attempt to connect", () => count(program.output, '"disconnected"') >= 2);
        assert.equal(await program.isReady(), false);
        assert.equal(await statusOf("kept"), 503);
        assert.equal(await metric("tollgate_config_stale"), 0);
        assert.equal(program.process.exitCode, null);
        await stop();
      } finally {
        await rm(file, { recursive: true, force: true });
        await writeFile(file, good, { mode: 0o600 });
      }
    });
  }

  it("follows the operator when it is back, from its file as without it, and keeps what it hears", async () => {
    await deleteKey("removed-meanwhile");
    await applyAll(plane, [apiKey("added-meanwhile")]);
    const good = await readFile(file);
    for (const isKept of [true, false]) {
      if (!isKept) await rm(file);
      proxy = await startProxy();
      await waitFor("its file to be looked at", () => /last good file/.test(proxy.program.output));
      assert.equal(await proxy.program.isReady(), isKept);
      if (isKept) assert.equal(await statusOf("removed-meanwhile"), 200, "nobody has told it yet");
      const operator = await fleet.operator(0);
      await waitFor("the operator's word", async () => (await statusOf("added-meanwhile")) === 200, {
        deadlineMs: 60_000,
      });
      assert.equal(await statusOf("removed-meanwhile"), 401);
      assert.equal(await metric("tollgate_config_stale"), 0);
      assert.equal(await metric("tollgate_config_connected"), 1);
      await operator.close();
      await stop();
    }
    assert.equal(good.equals(await readFile(file)), false);
    proxy = await startProxy();
    await waitFor("readiness", () => proxy.program.isReady(), { deadlineMs: readyWithinMs });
    assert.deepEqual([await statusOf("added-meanwhile"), await statusOf("removed-meanwhile")], [200, 401]);
    await stop();
  });

  it("serves on where its disk is full, and starts again with the file from before", async function () {
    if (process.platform !== "linux") return this.skip();
    const before = await readFile(file);
    proxy = await startProxy();
    const operator = await fleet.operator(0);
    await waitFor("the operator's word", async () => (await metric("tollgate_config_stale")) === 0, {
      deadlineMs: 60_000,
    });
    // Every write seals it anew.
    const good = await waitFor("the file to be written", async () => {
      const bytes = await readFile(file);
      return bytes.equals(before) ? undefined : bytes;
    });
    execFileSync("prlimit", [`--pid=${proxy.program.processId}`, "--fsize=16"]);
    await applyAll(plane, [apiKey("too-late")]);
    await waitFor("the failed write in the log", () => /cannot be written/.test(proxy.program.output), {
      deadlineMs: 20_000,
    });
    assert.equal(await statusOf("too-late"), 200);
    assert.equal(await proxy.program.isReady(), true);
    await operator.close();
    await proxy.program.close();
    assert.ok(good.equals(await readFile(file)), "old or new, never torn");
    proxy = await startProxy();
    await waitFor("readiness", () => proxy.program.isReady(), { deadlineMs: readyWithinMs });
    assert.deepEqual([await statusOf("kept"), await statusOf("too-late")], [200, 401]);
  });
});

function flipped(bytes: Buffer, at: number): Buffer {
  const damaged = Buffer.from(bytes);
  damaged[at] = (damaged[at] ?? 0) ^ 1;
  return damaged;
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}
