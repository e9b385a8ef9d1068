/**
 * docs/design/reliability.md N1, N2, N4, N5 over a fleet: what is taken away in the cluster is refused by every proxy
 * soon after the API server accepted it, wherever it is connected, and rotations cost no call.
 */

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import type { ChannelStatus, Condition } from "#operator/resources/types.gen";
import { ClusterFleet } from "#test/support/fleet/cluster-fleet";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll, objectPath } from "#test/support/kubernetes/objects";
import { SteadyLoad } from "#test/support/kubernetes/steady-load";
import { RawClient } from "#test/support/raw-client";
import { ByteUpstream, chunk, reply, streamHead } from "#test/support/resilience/byte-upstream";
import { callBytes } from "#test/support/resilience/call-gateway";
import { formatNamed, formatOf } from "#test/support/resilience/formats";
import { apiKey, channel, channelSecret, rawKey, route, secret } from "#test/support/resilience/manifests";
import { showFigure } from "#test/support/shown-figures";
import { waitFor } from "#test/support/wait-for";

const format = formatNamed("ChatCompletions");
/** 200 in the full-length run, over all the ways to take a key away. */
const rounds = Number(process.env["TOLLGATE_REVOCATIONS"] ?? 12);
const perSecond = Number(process.env["TOLLGATE_REVOCATION_RATE"] ?? 60);
const worstMs = 1_000;
/** Calls that a client makes while its keys are rotated: 100,000 in the full-length run. */
const rotationCalls = Number(process.env["TOLLGATE_ROTATION_CALLS"] ?? 2_000);
const rotationRate = 400;

describe("rotation and revocation over a fleet", function () {
  this.timeout(240_000 + rounds * 5_000);
  let plane: ControlPlane;
  let fleet: ClusterFleet;
  let upstream: ByteUpstream;
  let ports: number[];
  const credentialsSeen = new Set<string>();
  /** What the provider answers with 401. */
  let refusedSecret = "";

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    upstream = await ByteUpstream.start();
    upstream.replyWith(({ socket, head, body }) => {
      const shown = /^authorization: Bearer (.*)$/im.exec(head)?.[1]?.trim() ?? "";
      credentialsSeen.add(shown);
      if (shown === refusedSecret) {
        socket.write(reply('{"error":{"message":"no such key","type":"invalid_request_error"}}', "401 Unauthorized"));
        return;
      }
      const spoken = formatOf(head);
      if (!body.includes('"stream":true')) {
        socket.write(reply(spoken.reply()));
        return;
      }
      const [first = "", second = ""] = spoken.events();
      socket.write(Buffer.concat([Buffer.from(streamHead), chunk(first)]));
      const timer = setInterval(() => socket.write(chunk(second)), 20);
      socket.on("close", () => clearInterval(timer)).on("end", () => clearInterval(timer));
    });
    await applyAll(plane, [secret(), channel("up", upstream.port), route("m", ["up"]), apiKey("main")]);
    fleet = await ClusterFleet.start(plane, ["--revocation=Immediate"]);
    for (const index of [0, 1]) await (await fleet.operator(index)).waitUntilReady(60_000);
    // Two proxies at each operator, so that both ways of a revocation are taken.
    for (const [index, name] of ["proxy-0", "proxy-1", "proxy-2", "proxy-3"].entries()) {
      await fleet.show([`127.0.0.${(index % 2) + 1}`]);
      const { program } = await fleet.proxy(name);
      await waitFor(`${name} to be ready`, () => program.isReady(), { deadlineMs: 30_000 });
    }
    ports = fleet.proxies.map(({ program }) => program.port);
  });
  after(async () => {
    await fleet?.close();
    await upstream?.close();
    await plane?.stop();
  });

  const path = (name: string) => objectPath("ApiKey", "default", name);
  const patch = (name: string, spec: object) =>
    plane.must("PATCH", path(name), JSON.stringify({ spec }), "application/merge-patch+json");

  const withFinalizers = (finalizers: readonly string[]) => JSON.stringify({ metadata: { finalizers } });
  const hold = (name: string, finalizers: readonly string[]) =>
    plane.must("PATCH", path(name), withFinalizers(finalizers), "application/merge-patch+json");
  const letGo = (name: string) => plane.call("PATCH", path(name), withFinalizers([]), "application/merge-patch+json");

  async function healthOf(name: string): Promise<Condition> {
    const { status } = (await plane.must("GET", objectPath("Channel", "default", name))) as { status?: ChannelStatus };
    return status?.conditions?.find(({ type }) => type === "Healthy") ?? assert.fail("the condition is always there");
  }

  /** Waits until the last outcomes of every proxy are these. */
  async function everywhere(load: SteadyLoad, wanted: (status: number) => boolean): Promise<void> {
    const from = load.outcomes.length;
    await waitFor(
      "every proxy to agree",
      () => {
        const last = load.outcomes.slice(from).slice(-3 * ports.length);
        return last.length === 3 * ports.length && last.every(({ status }) => wanted(status));
      },
      { deadlineMs: 20_000 },
    );
  }

  it(`refuses a key within a second of the API server's word, ${rounds} times (N1)`, async () => {
    const ways: readonly (readonly [string, (name: string) => Promise<unknown>])[] = [
      ["deleted", (name) => plane.must("DELETE", path(name))],
      [
        "deleted, and kept by another controller's finalizer",
        async (name) => {
          await hold(name, ["example.com/backup"]);
          await plane.must("DELETE", path(name));
        },
      ],
      ["suspended", (name) => patch(name, { state: "Suspended" })],
      ["restricted", (name) => patch(name, { models: { deny: ["m"] } })],
      [
        "expired",
        (name) => patch(name, { expiresAt: new Date(Date.now() - 1_000).toISOString().replace(/\.\d+Z$/, "Z") }),
      ],
    ];
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const [way, take] = ways[round % ways.length] ?? assert.fail("there are ways");
      const name = `victim-${round}`;
      await applyAll(plane, [apiKey(name)]);
      const load = new SteadyLoad({ ports, format, model: "m", key: name, perSecond });
      try {
        await everywhere(load, (status) => status === 200);
        await take(name);
        const acceptedAt = performance.now();
        await everywhere(load, (status) => status === 401 || status === 403);
        const admitted = load.outcomes.filter(({ status }) => status === 200).map(({ sentAtMs }) => sentAtMs);
        times.push(Math.max(0, ...admitted.map((sentAt) => sentAt - acceptedAt)));
        const strange = load.outcomes.filter(({ status }) => ![200, 401, 403].includes(status));
        assert.deepEqual(strange, [], way);
      } finally {
        await load.stop();
        await plane.call("DELETE", path(name));
        await letGo(name);
      }
    }
    times.sort((one, other) => one - other);
    const median = times[Math.floor(times.length / 2)] ?? 0;
    const most = times.at(-1) ?? 0;
    showFigure(`last admission: median ${Math.round(median)} ms, most ${Math.round(most)} ms, limit ${worstMs}`);
    assert.ok(most <= worstMs, `${most} ms`);
  });

  it("cuts the open streams of a suspended key within a second, and nobody else's (N2)", async () => {
    await applyAll(plane, [apiKey("victim")]);
    const open = async (key: string, port: number) => {
      const client = await RawClient.connect({ port });
      client.write(callBytes({ port, format, model: "m", key, stream: true }));
      await client.readUntil("the stream", (received) => received.length > 1_000, 10_000);
      return client;
    };
    await waitFor(
      "the key everywhere",
      async () => {
        for (const port of ports) (await open("victim", port)).close();
        return true;
      },
      { deadlineMs: 20_000 },
    );
    const victims = await Promise.all(ports.map((port) => open("victim", port)));
    const others = await Promise.all(ports.map((port) => open("main", port)));
    await patch("victim", { state: "Suspended" });
    const acceptedAt = performance.now();
    const cut = await Promise.all(victims.map((client) => client.readResponse(5_000)));
    const tookMs = performance.now() - acceptedAt;
    for (const { body } of cut) assert.match(body.toString(), format.errorEvent);
    for (const client of victims) client.close();
    assert.ok(tookMs <= worstMs, `${Math.round(tookMs)} ms`);
    for (const client of others) {
      const { length } = client.received;
      await client.readUntil("more of it", (received) => received.length > length + 500, 5_000);
      assert.equal(client.isEnded, false);
      client.close();
    }
    await plane.must("DELETE", path("victim"));
  });

  it("rotates a client's keys again and again without one refused call (N4)", async () => {
    const credential = (name: string) => ({ name, sha256: hash("sha256", rawKey(name), "hex") });
    const rotated = (...names: string[]) => ({
      apiVersion: "tollgate.dev/v1alpha1",
      kind: "ApiKey",
      metadata: { name: "rotated", namespace: "default" },
      spec: { credentials: names.map(credential) },
    });
    const loadWith = (key: string) => new SteadyLoad({ ports, format, model: "m", key, perSecond: rotationRate });
    await applyAll(plane, [rotated("rotation-0")]);
    const first = loadWith("rotation-0");
    await everywhere(first, (status) => status === 200);
    first.outcomes.length = 0;
    let load = first;
    let calls = 0;
    let rotations = 0;
    while (calls + load.outcomes.length < rotationCalls || rotations === 0) {
      const [old, next] = [`rotation-${rotations}`, `rotation-${rotations + 1}`];
      await applyAll(plane, [rotated(old, next)]);
      const probe = new SteadyLoad({ ports, format, model: "m", key: next, perSecond: 40 });
      await everywhere(probe, (status) => status === 200);
      await probe.stop();
      const former = load;
      load = loadWith(next);
      await former.stop();
      assert.deepEqual(former.failures, []);
      calls += former.outcomes.length;
      await applyAll(plane, [rotated(next)]);
      const gone = new SteadyLoad({ ports, format, model: "m", key: old, perSecond: 40 });
      await everywhere(gone, (status) => status === 401);
      await gone.stop();
      rotations += 1;
      const enough = Math.min(rotationCalls - calls, 5_000);
      await waitFor("the clients' calls", () => load.outcomes.length >= enough, { deadlineMs: 60_000 });
    }
    await load.stop();
    assert.deepEqual(load.failures, []);
    showFigure(`N4: ${calls + load.outcomes.length} calls, 0 refused, ${rotations} rotations`);
    await plane.must("DELETE", path("rotated"));
  });

  it("rotates a channel's secret at load without one failed call, and never shows the old one again (N5)", async () => {
    const load = new SteadyLoad({ ports, format, model: "m", perSecond });
    await everywhere(load, (status) => status === 200);
    assert.deepEqual([...credentialsSeen], [channelSecret]);
    await applyAll(plane, [{ ...secret(), stringData: { apiKey: "upstream-rotated-0123456789" } }]);
    await waitFor("the new secret", () => credentialsSeen.has("upstream-rotated-0123456789"));
    // Every proxy takes it at its own moment, one second at the most; then the old one is seen nowhere.
    const from = performance.now();
    await waitFor("a second", () => performance.now() - from > 1_000);
    credentialsSeen.clear();
    await everywhere(load, (status) => status === 200);
    await load.stop();
    assert.deepEqual([...credentialsSeen], ["upstream-rotated-0123456789"]);
    assert.deepEqual(load.failures, []);
  });

  it("keeps a channel's old secret while the provider refuses the new one, and says so until it is mended (N5)", async () => {
    const [works, wrong, mended] = [
      "upstream-rotated-0123456789",
      "upstream-mistyped-012345678",
      "upstream-mended-0123456789",
    ];
    const rotateTo = (apiKey: string) => applyAll(plane, [{ ...secret(), stringData: { apiKey } }]);
    const load = new SteadyLoad({ ports, format, model: "m", perSecond });
    await everywhere(load, (status) => status === 200);
    refusedSecret = wrong;
    credentialsSeen.clear();
    await rotateTo(wrong);
    const said = await waitFor(
      "the channel's condition",
      async () => {
        const condition = await healthOf("up");
        return condition.status === "False" ? condition : undefined;
      },
      { deadlineMs: 20_000 },
    );
    assert.equal(said.reason, "Degraded");
    assert.match(said.message, /refuses the new secret of main; calls go on with the former one/);
    assert.deepEqual([...credentialsSeen].sort(), [wrong, works]);
    await rotateTo(mended);
    await waitFor("the mended secret", () => credentialsSeen.has(mended));
    const from = performance.now();
    await waitFor("a second", () => performance.now() - from > 1_000);
    credentialsSeen.clear();
    await everywhere(load, (status) => status === 200);
    await load.stop();
    assert.deepEqual([...credentialsSeen], [mended]);
    assert.deepEqual(load.failures, []);
    await waitFor("the condition to be taken back", async () => (await healthOf("up")).status !== "False", {
      deadlineMs: 70_000,
    });
  });
});
