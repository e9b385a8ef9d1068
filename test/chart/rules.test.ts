/** The alerts, by Prometheus' own tool: they load, each fires for its cause and stays quiet without it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { parse, stringify } from "yaml";
import { type AlertCase, alertCases } from "#test/support/cluster/alert-cases";
import { findProgram, skipLoudly } from "#test/support/cluster/programs";
import { parseObjects, renderChart } from "#test/support/cluster/render-chart";

const run = promisify(execFile);

describe("the alerts", function () {
  this.timeout(60_000);
  let promtool = "";
  let folder = "";
  let alerts: readonly string[] = [];

  before(async function () {
    const [foundHelm, foundPromtool] = [findProgram("helm"), findProgram("promtool")];
    if (foundHelm === undefined || foundPromtool === undefined) return skipLoudly(this, "no helm or no promtool");
    promtool = foundPromtool;
    folder = await mkdtemp(join(tmpdir(), "tollgate-rules-"));
    const objects = parseObjects(await renderChart(foundHelm, { monitoring: { prometheusRule: { enabled: true } } }));
    const rule = objects.find(({ kind }) => kind === "PrometheusRule");
    await writeFile(join(folder, "rules.yaml"), stringify(rule?.["spec"]));
    const { groups } = parse(await readFile(join(folder, "rules.yaml"), "utf8"));
    alerts = groups.flatMap(({ rules }: { rules: { alert: string }[] }) => rules.map(({ alert }) => alert));
  });

  after(async () => {
    if (folder !== "") await rm(folder, { recursive: true, force: true });
  });

  it("promtool check rules finds nothing", async () => {
    const { stdout } = await run(promtool, ["check", "rules", "rules.yaml"], { cwd: folder });
    assert.match(stdout, /SUCCESS: 12 rules found/);
  });

  it("each has a case here", () => {
    assert.deepEqual([...new Set(alertCases.map(({ alert }) => alert))].sort(), [...alerts].sort());
  });

  for (const alertCase of alertCases)
    it(`${alertCase.alert}${alertCase.of ? ` of ${alertCase.of}` : ""} fires for its cause, and not without it`, async () => {
      for (const isFiring of [true, false]) {
        const file = `${alertCase.alert}-${isFiring}.yaml`;
        await writeFile(join(folder, file), stringify(toPromtoolTest(alertCase, isFiring)));
        const { stdout, stderr } = await run(promtool, ["test", "rules", file], { cwd: folder }).catch(
          (error: { stdout: string; stderr: string }) => error,
        );
        assert.match(`${stdout}${stderr}`, /SUCCESS/, `${isFiring ? "firing" : "quiet"}: ${stdout}${stderr}`);
      }
    });
});

/** Asks by the series `ALERTS`, so that annotations need not be repeated. */
function toPromtoolTest({ alert, firing, quiet, minutes }: AlertCase, isFiring: boolean): object {
  const series = Object.entries(isFiring ? firing : quiet).map(([name, values]) => ({ series: name, values }));
  return {
    rule_files: ["rules.yaml"],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: series,
        promql_expr_test: [
          {
            expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
            eval_time: `${minutes}m`,
            exp_samples: [{ labels: "{}", value: isFiring ? 1 : 0 }],
          },
        ],
      },
    ],
  };
}
