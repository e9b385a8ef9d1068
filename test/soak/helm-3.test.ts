/** The chart by the Helm before: every golden becomes the same objects. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "mocha";
import { parse } from "yaml";
import { projectRoot } from "../../scripts/run.ts";
import { findProgram } from "../support/cluster/programs.ts";
import { parseObjects, renderChart } from "../support/cluster/render-chart.ts";
import { buildDeadlineMs, findSoakTool } from "../support/soak/soak-tool.ts";

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
});
