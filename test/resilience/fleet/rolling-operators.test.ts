/**
 * T5 and J1 over TLS: operators end, die and come back one after the other, under a steady load and with changes all the
 * time. No call fails, no change is lost, and no proxy is ever without a newer configuration for long.
 */

import assert from "node:assert/strict";
import { FakeUpstream } from "#test/support/fake-upstream";
import { ClusterFleet } from "#test/support/fleet/cluster-fleet";
import type { ControlPlane } from "#test/support/kube-control-plane";
import type { OperatorUnderTest } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll } from "#test/support/kubernetes/objects";
import { SteadyLoad } from "#test/support/kubernetes/steady-load";
import { formatNamed } from "#test/support/resilience/formats";
import { apiKey, channel, route, secret } from "#test/support/resilience/manifests";
import { showFigure } from "#test/support/shown-figures";
import { waitFor } from "#test/support/wait-for";

const format = formatNamed("ChatCompletions");
const perSecond = 60;

describe("operators that roll under load (T5)", function () {
  this.timeout(240_000);
  let plane: ControlPlane;
  let fleet: ClusterFleet;
  let upstream: FakeUpstream;

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    upstream = await FakeUpstream.start({ body: format.reply() });
    await applyAll(plane, [secret(), channel("up", upstream.port), route("m", ["up"]), apiKey("main")]);
    fleet = await ClusterFleet.start(plane);
    for (const index of [0, 1]) await (await fleet.operator(index)).waitUntilReady(60_000);
    for (const name of ["proxy-0", "proxy-1"]) {
      const { program } = await fleet.proxy(name);
      await waitFor(`${name} to be ready`, () => program.isReady(), { deadlineMs: 30_000 });
    }
  });
  after(async () => {
    await fleet?.close();
    await upstream?.close();
    await plane?.stop();
  });

  it("fails no call and loses no change", async () => {
    const ports = fleet.proxies.map(({ program }) => program.port);
    const load = new SteadyLoad({ ports, format, model: "m", perSecond });
    let changes = 0;
    let isOver = false;
    const changing = (async () => {
      while (!isOver) {
        changes += 1;
        await applyAll(plane, [apiKey("turning", { metadata: { change: `${changes}` } })]);
      }
    })();
    const startAgain = async (index: number): Promise<OperatorUnderTest> => {
      const operator = await fleet.operator(index);
      await operator.waitUntilReady(60_000);
      return operator;
    };
    const served = async (operator: OperatorUnderTest): Promise<void> => {
      await waitFor(
        "both proxies at the operator that is left",
        async () => (await operator.metric("tollgate_push_connections")) === 2,
        { deadlineMs: 30_000 },
      );
    };
    // They start side by side, so either may stand first.
    const [one, two] = fleet.operators.toSorted((left, right) => left.name.localeCompare(right.name));
    assert.ok(one !== undefined && two !== undefined);
    one.signal("SIGTERM");
    assert.equal(await one.ended(30_000), 0);
    await served(two);
    const three = await startAgain(0);
    await two.close();
    await served(three);
    const four = await startAgain(1);
    isOver = true;
    await changing;
    await waitFor(
      "everybody to hold the last change",
      async () => {
        const views = await Promise.all([three.fleet(), four.fleet()]);
        const digests = [
          ...views.map(({ digest }) => digest),
          ...views.flatMap(({ proxies }) => proxies).map((p) => p.digest),
        ];
        return digests.length >= 4 && new Set(digests).size === 1;
      },
      { deadlineMs: 30_000 },
    );
    await load.stop();
    showFigure(`${load.outcomes.length} calls, ${load.failures.length} failed, ${changes} changes`);
    assert.deepEqual(load.failures, []);
    assert.ok(load.outcomes.length > 100);
  });
});
