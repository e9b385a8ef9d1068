/**
 * docs/design/reliability.md N6: certificates and authorities of the push endpoint change all the time, as do the
 * tokens, and no stream ever breaks; proxies join at any minute. Lives are seconds; the full-length run takes an hour
 * with minutes.
 */

import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { ClusterFleet, type FleetProxy, ownNamespace } from "#test/support/fleet/cluster-fleet";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll, objectPath } from "#test/support/kubernetes/objects";
import { apiKey } from "#test/support/resilience/manifests";
import { showFigure } from "#test/support/shown-figures";
import { waitFor } from "#test/support/wait-for";

const lengthMs = Number(process.env["TOLLGATE_CERTIFICATES_MS"] ?? 30_000);
const leafSeconds = Number(process.env["TOLLGATE_CERTIFICATE_SECONDS"] ?? 6);
const changeEveryMs = 500;

describe("certificates that change all the time (N6)", function () {
  this.timeout(120_000 + lengthMs);
  let plane: ControlPlane;
  let fleet: ClusterFleet;

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    fleet = await ClusterFleet.start(plane, [
      `--push-tls-leaf-life=${leafSeconds}s`,
      `--push-tls-announce=${Math.ceil(leafSeconds / 3)}s`,
      `--push-tls-authority-life=${4 * leafSeconds}s`,
      `--push-tls-check=${Math.round((leafSeconds * 1_000) / 10)}ms`,
    ]);
    fleet.tokenRenewalMs = 5_000;
    for (const index of [0, 1]) await (await fleet.operator(index)).waitUntilReady(60_000);
  });
  after(async () => {
    await fleet?.close();
    await plane?.stop();
  });

  const authority = async () => {
    const secret = await plane.must("GET", `/api/v1/namespaces/${ownNamespace}/secrets/tollgate-push-ca`);
    const text = /"ca\.crt":"([^"]+)"/.exec(JSON.stringify(secret))?.[1] ?? "";
    return new X509Certificate(Buffer.from(text, "base64")).serialNumber;
  };
  const join = async (name: string): Promise<FleetProxy> => {
    const proxy = await fleet.proxy(name);
    await waitFor(`${name} to be ready`, () => proxy.program.isReady(), { deadlineMs: 20_000 });
    return proxy;
  };

  it("breaks no stream, keeps nobody out and loses no change", async () => {
    const proxies = [await join("proxy-0"), await join("proxy-1")];
    const authorities = new Set<string>();
    const leaves = () =>
      fleet.operators.reduce((sum, { output }) => sum + (output.match(/has a new certificate/g)?.length ?? 0), 0);
    const leavesBefore = leaves();
    const untilMs = performance.now() + lengthMs;
    let changes = 0;
    let isJoined = false;
    while (performance.now() < untilMs) {
      authorities.add(await authority());
      await applyAll(plane, [apiKey("turning", { metadata: { change: `${(changes += 1)}` } })]);
      if (!isJoined && performance.now() > untilMs - lengthMs / 3) {
        isJoined = true;
        proxies.push(await join("proxy-late"));
      }
      const nextAt = performance.now() + changeEveryMs;
      await waitFor("the next change", () => performance.now() >= nextAt, { everyMs: 50 });
    }
    const digests = async () => {
      const held = (await Promise.all(fleet.operators.map((operator) => operator.fleet()))).map(({ digest }) => digest);
      const leader = await (await fleet.leader()).fleet();
      return [...held, ...leader.proxies.map(({ digest }) => digest)];
    };
    await waitFor(
      "everybody to hold the same",
      async () => {
        const all = await digests();
        return all.length === fleet.operators.length + proxies.length && new Set(all).size === 1;
      },
      { deadlineMs: 20_000 },
    );
    const disconnections = proxies.flatMap(({ program }) => {
      // Before a proxy is served for the first time it may come too early.
      const served = program.output.slice(program.output.indexOf('"message":"connected"'));
      return served.match(/"message":"disconnected"/g) ?? [];
    });
    showFigure(
      `${leaves() - leavesBefore} certificates of ${authorities.size} authorities, ${changes} changes, ${disconnections.length} streams broken`,
    );
    assert.equal(disconnections.length, 0);
    assert.ok(leaves() - leavesBefore >= (2 * lengthMs) / (leafSeconds * 1_000) - 2);
    assert.ok(authorities.size >= 2, `${authorities.size} authorities`);
    await plane.must("DELETE", objectPath("ApiKey", "default", "turning"));
  });
});
