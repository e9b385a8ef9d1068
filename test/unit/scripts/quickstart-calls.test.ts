/**
 * The calls that `npm start` shows can be pasted into a shell. They are run straight against the demo upstream here, which
 * has no model list; against the gateway with its manifests by `test/integration/pages.test.ts`.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { quickstartCalls } from "#scripts/quickstart-calls";
import { readPng } from "#test/support/read-png";
import { type RunningDemoUpstream, startDemoUpstream } from "#test/support/start-demo-upstream";

const run = promisify(execFile);

describe("quickstartCalls()", () => {
  let demo: RunningDemoUpstream;
  let folder = "";

  before(async () => {
    demo = await startDemoUpstream();
    folder = await mkdtemp(join(tmpdir(), "tollgate-calls-"));
  });

  after(async () => {
    demo.close();
    await rm(folder, { recursive: true, force: true });
  });

  for (const [index, { title }] of quickstartCalls("http://a.test", "sk-a").entries()) {
    if (title === "Models") continue;
    it(`${title}: is a command that works`, async () => {
      const command = quickstartCalls(demo.origin, "sk-demo")[index]?.command ?? "";
      const script = command.replace("curl -s", "curl -sS --fail-with-body");
      const { stdout } = await run("bash", ["-euo", "pipefail", "-c", script], { cwd: folder });
      assert.notEqual(stdout.trim(), "");
    });
  }

  it("leave a picture and a sound behind", async () => {
    const { width } = readPng(await readFile(join(folder, "lighthouse.png")));
    assert.equal(width, 1024);
    assert.equal((await readFile(join(folder, "hello.wav"))).toString("latin1", 0, 4), "RIFF");
  });
});
