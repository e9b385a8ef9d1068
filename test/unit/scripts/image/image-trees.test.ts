/** What the images hold: enough to run, and nothing that does not belong there. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, describe, it } from "mocha";
import { WebSocket } from "ws";
import { operatorNodeFlags } from "#cli/operator-node-flags";
import { proxyNodeFlags } from "#cli/proxy-node-flags";
import { readImageConfig } from "#scripts/image/image-config";
import { imageTargets } from "#scripts/image/targets";
import { compileSources, writeImageTree } from "#scripts/image/write-tree";

describe("image trees", function () {
  this.timeout(60_000);
  let folder = "";

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-images-"));
    const compiled = join(folder, ".compiled");
    compileSources(compiled);
    for (const [name, target] of Object.entries(imageTargets)) writeImageTree(target, compiled, join(folder, name));
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs an image's program as the image would, but for the place of Node. */
  function run(name: string, ...programArguments: string[]) {
    const { entrypoint } = readImageConfig(name);
    const flags = entrypoint.slice(1).map((part) => part.replace(/^\/app/, join(folder, name)));
    return spawnSync(process.execPath, [...flags, ...programArguments], { encoding: "utf8", timeout: 20_000 });
  }

  for (const name of ["proxy", "operator"])
    it(`the ${name}'s program runs in its tree alone`, () => {
      const { status, stdout, stderr } = run(name, "--help");
      assert.equal(status, 0, stderr);
      assert.match(stdout, new RegExp(`Usage: tollgate ${name} `));
    });

  it("the demo upstream's program runs in its tree alone, with the packages for forms and WebSockets", async () => {
    const { entrypoint } = readImageConfig("demo-upstream");
    const main = join(folder, "demo-upstream", relative("/app", entrypoint[1] ?? ""));
    const child = spawn(process.execPath, [main, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [said] = await once(child.stdout, "data");
      const origin = /http:\S+/.exec(String(said))?.[0] ?? "";
      const form = new FormData();
      form.set("model", "m");
      form.set("file", new Blob(["abc"]), "a.wav");
      const response = await fetch(`${origin}/v1/audio/transcriptions`, {
        method: "POST",
        headers: { authorization: "Bearer demo" },
        body: form,
      });
      assert.match(await response.text(), /3 bytes/);
      const headers = { authorization: "Bearer demo" };
      const socket = new WebSocket(`${origin.replace("http", "ws")}/v1/realtime?model=m`, { headers });
      const [first] = await once(socket, "message");
      assert.match(String(first), /session\.created/);
    } finally {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      assert.deepEqual(await ended, [0, null]);
    }
  });

  it("a command of another image is refused in words", () => {
    const main = join(folder, "proxy", "cli", "main.js");
    const { status, stderr } = spawnSync(process.execPath, [main, "operator", "--manifests", "."], {
      encoding: "utf8",
    });
    assert.equal(status, 1);
    assert.match(stderr, /this image does not hold that command/);
  });

  it("the proxy's image holds nothing of the operator and nothing of Kubernetes", () => {
    assert.equal(existsSync(join(folder, "proxy", "operator")), false);
    assert.equal(existsSync(join(folder, "proxy", "node_modules", "@kubernetes")), false);
  });

  it("the proxy's image holds its threads and what they import", () => {
    for (const thread of [
      "proxy/admit/store/embedded-store-worker.js",
      "proxy/responses-state/store/response-store-worker.js",
      "proxy/settle/estimate-tokens-worker.js",
      "proxy/sqlite/open-database.js",
    ])
      assert.ok(existsSync(join(folder, "proxy", thread)), thread);
  });

  it("the operator's image holds nothing that serves requests", () => {
    for (const path of ["main.js", "server.js", "handle-request.js", "forward", "protocols"])
      assert.equal(existsSync(join(folder, "operator", "proxy", path)), false, path);
  });

  it("no image holds a source, a test or a development package", () => {
    const found = globSync("**/*.{ts,map}", { cwd: folder });
    assert.deepEqual(found, []);
    const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
    const packages = globSync("*/node_modules/**/package.json", { cwd: folder })
      .map((path) => path.replace(/^[^/]+\//, "").replace(/\/package\.json$/, ""))
      .filter((path) => lock.packages[path] !== undefined);
    assert.ok(packages.length > 50);
    assert.deepEqual(
      packages.filter((path) => lock.packages[path].dev === true),
      [],
    );
  });

  it("two runs over the same sources give the same bytes", () => {
    const again = join(folder, "again");
    const target = imageTargets["proxy"];
    assert.ok(target);
    const compiled = join(folder, ".compiled-again");
    compileSources(compiled);
    writeImageTree(target, compiled, again);
    const files = globSync("**/*.{js,mjs,cjs,json}", { cwd: again, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(again, join(entry.parentPath, entry.name)));
    assert.ok(files.length > 300);
    for (const file of files)
      assert.ok(readFileSync(join(again, file)).equals(readFileSync(join(folder, "proxy", file))), file);
  });

  it("the Dockerfile runs both programs with the flags that they were measured with", () => {
    for (const [name, flags] of [
      ["proxy", proxyNodeFlags],
      ["operator", operatorNodeFlags],
    ] as const)
      for (const flag of flags) assert.ok(readImageConfig(name).entrypoint.includes(flag), `${name} ${flag}`);
  });

  it("every image runs as an unprivileged user", () => {
    for (const name of Object.keys(imageTargets)) assert.equal(readImageConfig(name).user, "65532:65532");
  });
});
