/** The chart by the Helm before: every golden becomes the same objects, and releases live with either Helm. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { parse } from "yaml";
import { projectRoot } from "#scripts/run";
import { findProgram, skipLoudly } from "#test/support/cluster/programs";
import { chartFolder, parseObjects, renderChart } from "#test/support/cluster/render-chart";
import { type ControlPlane, startControlPlane } from "#test/support/kube-control-plane";
import { buildDeadlineMs, findSoakTool } from "#test/support/soak/soak-tool";

const run = promisify(execFile);
const folder = join(projectRoot, "test", "chart", "golden");

/** One that is built without its release's flags takes every cluster for an old one. */
const version = ["--kube-version", "1.31.0"];

describe("Helm 3", function () {
  this.timeout(buildDeadlineMs);
  let helm = "";
  let helm3 = "";

  before(async function () {
    const found = findProgram("helm");
    const built = await findSoakTool("helm-3", "helm.sh/helm/v3/cmd/helm@v3.19.2");
    if (found === undefined || built === undefined) return this.skip();
    [helm, helm3] = [found, built];
  });

  for (const file of readdirSync(folder).filter((name) => name.endsWith(".yaml")))
    it(`makes the same of ${file}`, async () => {
      const { values } = parse(readFileSync(join(folder, file), "utf8"));
      const [former, present] = await Promise.all(
        [helm3, helm].map((program) => renderChart(program, values, version)),
      );
      assert.deepEqual(parseObjects(former ?? ""), parseObjects(present ?? ""));
    });

  it("refuses what does not fit, too", async () => {
    await assert.rejects(renderChart(helm3, { proxy: { replica: 3 } }, version), /replica/);
    const short = { proxy: { terminationGracePeriodSeconds: 605 } };
    await assert.rejects(renderChart(helm3, short, version), /must be more than/);
  });

  describe("a release on a real API server", () => {
    const place = ["--namespace", "gateway"];
    let plane: ControlPlane;
    let environment: NodeJS.ProcessEnv;

    before(async function () {
      const started = await startControlPlane();
      if (typeof started === "string") return skipLoudly(this, started);
      plane = started;
      environment = { ...process.env, KUBECONFIG: await plane.kubeconfig(), HOME: plane.folder };
      await plane.must("POST", "/api/v1/namespaces", { metadata: { name: "gateway" } });
    });
    after(() => plane?.stop());

    const by = async (program: string, ...words: string[]): Promise<string> =>
      (await run(program, words, { env: environment, maxBuffer: 2 ** 26 })).stdout;
    const proxies = async (): Promise<unknown> => {
      const found = await plane.must("GET", "/apis/apps/v1/namespaces/gateway/deployments/tollgate-proxy");
      return (found as { spec: { replicas: number } }).spec.replicas;
    };

    it("is installed, upgraded, rolled back and taken away", async () => {
      const notes = await by(helm3, "install", "tollgate", chartFolder, ...place, "--set", "proxy.replicas=2");
      assert.match(notes, /helm -n gateway test tollgate/);
      await by(helm3, "upgrade", "tollgate", chartFolder, ...place, "--set", "proxy.replicas=3");
      assert.equal(await proxies(), 3);
      await by(helm3, "rollback", "tollgate", "1", ...place);
      assert.equal(await proxies(), 2);
      await by(helm3, "uninstall", "tollgate", ...place);
      await assert.rejects(proxies(), /404|not found/i);
      assert.match(await by(helm3, "list", "--all-namespaces", "--short"), /^\s*$/);
    });

    it("goes over to the Helm of today with its values", async () => {
      await by(helm3, "install", "tollgate", chartFolder, ...place, "--set", "proxy.replicas=3");
      await by(helm, "upgrade", "tollgate", chartFolder, ...place, "--reset-then-reuse-values");
      assert.equal(await proxies(), 3);
      await by(helm, "uninstall", "tollgate", ...place);
    });
  });
});
