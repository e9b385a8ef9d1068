/**
 * The chart by other people's rules: kube-score finds nothing critical, and every warning is explained here.
 *
 * Its grades do not change from day to day, and its binary takes minutes to build: a full soak builds it, other runs use
 * one that is there.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { findProgram } from "#test/support/cluster/programs";
import { renderChart } from "#test/support/cluster/render-chart";
import { buildDeadlineMs, findSoakTool } from "#test/support/soak/soak-tool";

const run = promisify(execFile);

/** Rules that this chart breaks on purpose. */
const exemptions = [
  // A limit of CPU throttles an event loop: every stream of the pod stalls for the rest of the period.
  "--ignore-container-cpu-limit",
  // Images are named by version or digest. Fetching one at every start would let an outage of the registry stop a restart.
  "--ignore-test=container-image-pull-policy",
];

/** Warnings that stay, and why. */
const explained = [
  // Topology spread constraints do it, over zones as well.
  /^\[WARNING\] tollgate-(operator|proxy)\/gateway apps\/v1\/Deployment: Deployment does not have a host podAntiAffinity/,
  // The embedded ledger is one proxy: there is no second one to keep away from it, and none that may stay.
  /^\[WARNING\] tollgate-proxy\/gateway apps\/v1\/StatefulSet: StatefulSet does not have a host podAntiAffinity/,
];

describe("kube-score", function () {
  this.timeout(buildDeadlineMs);
  let kubeScore = "";
  let helm = "";
  let folder = "";

  before(async function () {
    const foundHelm = findProgram("helm");
    const found = await findSoakTool("kube-score", "github.com/zegl/kube-score/cmd/kube-score@v1.20.0");
    if (found === undefined || foundHelm === undefined) return this.skip();
    [kubeScore, helm] = [found, foundHelm];
    folder = await mkdtemp(join(tmpdir(), "tollgate-score-"));
  });

  after(async () => {
    if (folder !== "") await rm(folder, { recursive: true, force: true });
  });

  for (const [name, values] of Object.entries({
    "as it is": {},
    "with the embedded ledger": { quota: { store: "Embedded" } },
    "with everything else switched on": {
      operator: { generateKeys: true },
      proxy: { autoscaling: { enabled: true }, ingress: { enabled: true, hosts: [{ host: "ai.example.com" }] } },
    },
  }))
    it(`finds nothing that is not explained in the chart ${name}`, async () => {
      const file = join(folder, "chart.yaml");
      await writeFile(file, await renderChart(helm, { ...values, crds: { enabled: false } }));
      const { stdout } = await run(kubeScore, ["score", "--output-format=ci", ...exemptions, file]).catch(
        (error: { stdout: string }) => error,
      );
      const found = stdout.split("\n").filter((line) => /^\[(CRITICAL|WARNING)\]/.test(line));
      assert.match(stdout, /\[OK\]/);
      assert.deepEqual(
        found.filter((line) => !explained.some((pattern) => pattern.test(line))),
        [],
      );
    });
});
