/** The chart with every set of values by the rules that Polaris calls dangers: none is broken, none is exempt. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "mocha";
import { parse } from "yaml";
import { projectRoot } from "../../scripts/run.ts";
import { hardeningRules } from "../support/cluster/hardening-rules.ts";
import { findProgram, skipLoudly } from "../support/cluster/programs.ts";
import { type ChartObject, idOf, parseObjects, renderChart } from "../support/cluster/render-chart.ts";

const goldens = join(projectRoot, "test", "golden", "chart");

describe("the chart's hardening", function () {
  this.timeout(60_000);
  const objects: { readonly file: string; readonly object: ChartObject }[] = [];

  before(async function () {
    const helm = findProgram("helm");
    if (helm === undefined) return skipLoudly(this, "no helm");
    for (const file of readdirSync(goldens).filter((name) => name.endsWith(".yaml"))) {
      const { values } = parse(readFileSync(join(goldens, file), "utf8"));
      const text = await renderChart(helm, { ...values, crds: { enabled: false } });
      objects.push(...parseObjects(text).map((object) => ({ file, object })));
    }
    assert.ok(
      objects.some(({ object }) => object.kind === "Pod" && "helm.sh/hook" in (object.metadata.annotations ?? {})),
    );
  });

  for (const { id, isBrokenBy, example } of hardeningRules)
    it(`${id} is broken by nothing`, () => {
      assert.ok(isBrokenBy(example), "the rule finds nothing");
      const broken = objects.filter(({ object }) => isBrokenBy(object));
      assert.deepEqual(
        broken.map(({ file, object }) => `${file}: ${idOf(object)}`),
        [],
      );
    });
});
