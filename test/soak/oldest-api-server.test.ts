/**
 * The oldest API server that is supported: the suites that need one pass on it as on the newest. It has no streaming
 * lists by default, so that all that is listed is listed in pages.
 */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { projectRoot } from "#scripts/run";
import { findApiServer } from "#test/support/soak/older-api-server";
import { buildDeadlineMs } from "#test/support/soak/soak-tool";

const version = "v1.31.4";
const suites = [
  "test/integration/crds.test.ts",
  "test/integration/kubernetes/**/*.test.ts",
  "test/integration/fleet/**/*.test.ts",
  "test/resilience/kubernetes/watch-faults.test.ts",
  "test/resilience/kubernetes/status.test.ts",
];

describe(`the oldest supported API server, ${version}`, function () {
  this.timeout(buildDeadlineMs);
  let assets = "";
  const folder = mkdtempSync(join(tmpdir(), "tollgate-oldest-"));

  before(async function () {
    const found = await findApiServer(version);
    if (found === undefined) return this.skip();
    assets = found;
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  it("is what it says it is", async () => {
    const { stdout } = await promisify(execFile)(join(assets, "kube-apiserver"), ["--version"]);
    assert.equal(stdout.trim(), `Kubernetes ${version}`);
  });

  it("serves resources, keys, status, leases and fleets as the newest does", async () => {
    const countFile = join(folder, "count.json");
    const reporter = ["--reporter", join(projectRoot, "scripts", "count-reporter.mjs")];
    const child = spawn(
      process.execPath,
      [
        join(projectRoot, "node_modules", "mocha", "bin", "mocha.js"),
        ...reporter,
        "--reporter-option",
        `file=${countFile}`,
        ...suites,
      ],
      {
        cwd: projectRoot,
        stdio: "inherit",
        env: { ...process.env, KUBEBUILDER_ASSETS: assets, TOLLGATE_SKIP: "never" },
      },
    );
    await new Promise((resolve) => child.once("exit", resolve));
    const { passed, failed } = JSON.parse(readFileSync(countFile, "utf8"));
    assert.deepEqual({ failed, hasPassed: passed > 50 }, { failed: 0, hasPassed: true });
  });
});
