/**
 * docs/design/reliability.md K4 with the real programs: a proxy that restarts while no operator runs serves from its
 * last good file.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Program } from "#test/support/resilience/program";
import { waitFor } from "#test/support/wait-for";
import { sha256Of } from "#test/support/wire-objects";

const key = (name: string): string => `apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: ${name}, namespace: a}
spec: {credentials: [{name: current, sha256: "${sha256Of(`sk-${name}`)}"}]}
`;

describe("a proxy with a last good file", function () {
  this.timeout(60_000);
  let folder: string;
  let programs: Program[];
  const path = (...names: string[]): string => join(folder, ...names);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-last-good-"));
    programs = [];
    await mkdir(path("manifests"));
    await writeFile(path("key"), randomBytes(32));
    for (const name of ["kept", "revoked"]) await writeFile(path("manifests", `${name}.yaml`), key(name));
  });
  afterEach(async () => {
    for (const program of programs) await program.close();
    await rm(folder, { recursive: true, force: true });
  });

  function start(...given: string[]): Program {
    const program = new Program([...given, "--data", path("data"), "--logs-format", "json"]);
    programs.push(program);
    return program;
  }
  const startProxy = async (): Promise<Program> => {
    const proxy = start(
      ...["proxy", "--operator", `unix:${path("push.sock")}`, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"],
      ...["--last-good-key-file", path("key"), "--drain-endpoint-lag", "0s"],
    );
    await proxy.waitUntilListening();
    return proxy;
  };
  const status = async (proxy: Program, name: string): Promise<number> => {
    const headers = { authorization: `Bearer sk-${name}` };
    return (await fetch(`http://127.0.0.1:${proxy.port}/v1/models`, { headers })).status;
  };

  it("serves within a second of its restart, and never a key that was revoked", async () => {
    const operator = start(
      "operator",
      "--manifests",
      path("manifests"),
      "--push-socket",
      path("push.sock"),
      "--operator-admin",
      "127.0.0.1:0",
    );
    await waitFor("the operator's socket", () => existsSync(path("push.sock")), { deadlineMs: 15_000 });
    const first = await startProxy();
    await waitFor("the configuration", async () => (await status(first, "revoked")) === 200, { deadlineMs: 10_000 });
    await rm(path("manifests", "revoked.yaml"));
    await waitFor("the revocation", async () => (await status(first, "revoked")) === 401);
    operator.signal("SIGTERM");
    assert.equal(await operator.ended(), 0);
    first.signal("SIGTERM");
    assert.equal(await first.ended(), 0);

    const second = await startProxy();
    const listeningAtMs = performance.now();
    await waitFor("readiness", () => second.isReady(), { deadlineMs: 1_000 });
    assert.ok(performance.now() - listeningAtMs < 1_000);
    assert.deepEqual([await status(second, "kept"), await status(second, "revoked")], [200, 401]);
    assert.equal((await readFile(path("data", "last-good.bin"))).includes(sha256Of("sk-kept")), false);
  });

  it("is not ready, and serves nobody, when the file is damaged and no operator is there", async () => {
    await mkdir(path("data"), { recursive: true });
    await writeFile(path("data", "last-good.bin"), "tollgate-last-good 1\nsomething else");
    const proxy = await startProxy();
    await waitFor("the reason in the log", () => /starting without the last good file/.test(proxy.output));
    assert.equal(await proxy.isReady(), false);
    assert.equal(await status(proxy, "kept"), 503);
  });
});
