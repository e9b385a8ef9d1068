/**
 * The chart with every set of values by the rules that Polaris calls dangers: none is broken, none is exempt. They are
 * those of its `pkg/config/default.yaml` at commit b860eb798b51e4908024259050839956271d5045.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "mocha";
import { parse } from "yaml";
import { projectRoot } from "#scripts/run";
import { hardeningRules, type Rendering } from "#test/support/cluster/hardening-rules";
import { findProgram, skipLoudly } from "#test/support/cluster/programs";
import { type ChartObject, idOf, parseObjects, renderChart } from "#test/support/cluster/render-chart";

const goldens = join(projectRoot, "test", "chart", "golden");

describe("the chart's hardening", function () {
  this.timeout(60_000);
  const renderings: { readonly file: string; readonly objects: readonly ChartObject[] }[] = [];

  /** Of all renderings the objects that something is amiss with. */
  function amiss(isAmiss: (object: ChartObject, all: readonly ChartObject[]) => boolean): readonly string[] {
    return renderings.flatMap(({ file, objects }) =>
      objects.filter((object) => isAmiss(object, objects)).map((object) => `${file}: ${idOf(object)}`),
    );
  }

  before(async function () {
    const helm = findProgram("helm");
    if (helm === undefined) return skipLoudly(this, "no helm");
    for (const file of readdirSync(goldens).filter((name) => name.endsWith(".yaml"))) {
      const { values } = parse(readFileSync(join(goldens, file), "utf8"));
      const text = await renderChart(helm, { ...values, crds: { enabled: false } });
      renderings.push({ file, objects: parseObjects(text) });
    }
    assert.notDeepEqual(
      amiss(({ kind, metadata }) => kind === "Pod" && "helm.sh/hook" in (metadata.annotations ?? {})),
      [],
      "not even the test's pod is rendered",
    );
  });

  for (const { id, isBrokenBy } of hardeningRules)
    it(`${id} is broken by nothing`, () => {
      assert.deepEqual(amiss(isBrokenBy), []);
    });

  it("nothing asks Polaris to look away", () => {
    const asks = ({ metadata }: ChartObject) =>
      Object.keys(metadata.annotations ?? {}).some((name) => name.startsWith("polaris.fairwinds.com/"));
    assert.deepEqual(amiss(asks), []);
  });
});

describe("the rules of hardening", () => {
  for (const { id, isBrokenBy, broken, kept } of hardeningRules)
    it(`${id} tells what breaks it from what comes close`, () => {
      const breaks = ([object, ...others]: Rendering) => isBrokenBy(object, [object, ...others]);
      assert.deepEqual(
        broken.filter((rendering) => !breaks(rendering)),
        [],
        "not found",
      );
      assert.deepEqual(kept.filter(breaks), [], "found without need");
    });
});
