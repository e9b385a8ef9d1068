/**
 * Goldens of the chart: each file holds values, and what they change in what is installed.
 *
 * `default.yaml` holds everything that the chart makes without values (but for the CRDs, which are compared with their
 * source); the others only the objects that differ from it. `npm run golden -- --update` writes `expected` anew.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { before, describe, it } from "mocha";
import { parse, stringify } from "yaml";
import { findProgram, skipLoudly } from "#test/support/cluster/programs";
import { type ChartObject, idOf, parseObjects, renderChart } from "#test/support/cluster/render-chart";

interface Golden {
  readonly why: string;
  readonly values: object;
  readonly expected?: Expected;
}

interface Expected {
  /** Objects that the default has and these values take away. */
  readonly removed: readonly string[];
  /** Objects that the default has not, or has otherwise. */
  readonly objects: readonly ChartObject[];
}

const folder = import.meta.dirname;
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
const isUpdate = process.env["UPDATE_GOLDENS"] === "1";

describe("chart goldens", function () {
  this.timeout(20_000);
  let helm = "";
  let standard: readonly ChartObject[] = [];

  before(async function () {
    const found = findProgram("helm");
    if (found === undefined) skipLoudly(this, "no helm in PATH, KUBEBUILDER_ASSETS or the cache of the test cluster");
    else {
      helm = found;
      standard = parseObjects(await renderChart(helm, withoutCrds({})));
    }
  });

  it("there are at least twenty sets of values", () => assert.ok(files.length >= 20, `${files.length}`));

  for (const file of files)
    it(`${file}: ${readGolden(file).why}`, async () => {
      const { why, values, expected } = readGolden(file);
      const objects = parseObjects(await renderChart(helm, withoutCrds(values)));
      const found = file === "default.yaml" ? { removed: [], objects } : difference(standard, objects);
      if (isUpdate) {
        writeFileSync(join(folder, file), stringify({ why, values, expected: found }, { lineWidth: 120 }));
        return;
      }
      assert.deepEqual(found, expected);
      if (file !== "default.yaml") assert.ok(found.removed.length + found.objects.length > 0, "it changes nothing");
    });
});

function readGolden(file: string): Golden {
  return parse(readFileSync(join(folder, file), "utf8"));
}

function withoutCrds(values: object): object {
  const { crds = {} } = values as { crds?: object };
  return { ...values, crds: { ...crds, enabled: false } };
}

function difference(standard: readonly ChartObject[], objects: readonly ChartObject[]): Expected {
  const ids = new Set(objects.map(idOf));
  return {
    removed: standard.map(idOf).filter((id) => !ids.has(id)),
    objects: objects.filter((object) => !standard.some((other) => isDeepStrictEqual(other, object))),
  };
}
