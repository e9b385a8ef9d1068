import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeWritableFolder } from "#cli/checks/writable-folder";

const program = fileURLToPath(new URL("../../../../cli/main.ts", import.meta.url));
const hasProc = existsSync("/proc/self");
const isRoot = process.getuid?.() === 0;

describe("the data folder", function () {
  this.timeout(30_000);
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-data-"));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** The program as its user starts it; whatever hangs is killed, as it may be deaf to anything less. */
  function run(command: string, ...flags: readonly string[]) {
    const { status, signal, stderr } = spawnSync(process.execPath, [program, command, ...flags], {
      cwd: folder,
      // No setting of this run's is one of the program's.
      env: { PATH: process.env["PATH"] },
      encoding: "utf8",
      timeout: 15_000,
      killSignal: "SIGKILL",
    });
    return { status, signal, stderr };
  }

  for (const row of [
    {
      name: "below /proc",
      data: () => "/proc/tollgate/data",
      want: /cannot hold folders or files; name a folder on a disk/,
      isProcs: true,
    },
    {
      name: "that is /proc",
      data: () => "/proc",
      want: /cannot hold folders or files; name a folder on a disk/,
      isProcs: true,
    },
    {
      name: "in /sys",
      data: () => "/sys/tollgate",
      want: /may not write there; make .* a folder of that user|read-only/,
      isProcs: true,
    },
    { name: "that is a file", data: () => file(folder), want: /a file is in the place of a folder; name a folder/ },
    { name: "below a file", data: () => join(file(folder), "data"), want: /a file is in the place of a folder/ },
    {
      name: "that is read-only",
      data: () => readOnly(folder),
      want: /this user \(uid \d+\) may not write/,
      isUsers: true,
    },
    { name: "in a read-only one", data: () => join(readOnly(folder), "x"), want: /may not write/, isUsers: true },
  ]) {
    it(`${row.name} ends the start with a message that says what to do`, function () {
      if ((row.isUsers && isRoot) || (row.isProcs && !hasProc)) return this.skip();
      const data = row.data();
      const { status, signal, stderr } = run("standalone", `--manifests=${folder}`, `--data=${data}`);
      assert.deepEqual({ status, signal }, { status: 1, signal: null }, stderr);
      assert.ok(stderr.startsWith(`tollgate: --data ${data} cannot be used: `), stderr);
      assert.match(stderr, row.want);
    });
  }

  for (const { command, flags, flag } of [
    { command: "operator", flags: ["--data=/proc/x", "--manifests=."], flag: "--data" },
    { command: "operator", flags: ["--push-socket=/proc/x/push.sock", "--manifests=."], flag: "--push-socket" },
    { command: "proxy", flags: ["--data=/proc/x", "--operator=unix:push.sock"], flag: "--data" },
    { command: "standalone", flags: ["--push-socket=/proc/x/push.sock", "--manifests=."], flag: "--push-socket" },
  ]) {
    it(`is told the same way by \`tollgate ${command}\` where ${flag} is wrong`, function () {
      if (!hasProc) return this.skip();
      const { status, stderr } = run(command, ...flags);
      assert.equal(status, 1, stderr);
      assert.match(stderr, new RegExp(`^tollgate: ${flag} /proc/x cannot be used: `));
    });
  }

  it("is told the same way by an operator in a cluster, which opens its socket there as any", function () {
    if (!hasProc) return this.skip();
    const { status, stderr } = run("operator", "--push-socket=/proc/push.sock", `--data=${join(folder, "data")}`);
    assert.equal(status, 1, stderr);
    assert.match(stderr, /^tollgate: --push-socket \/proc cannot be used: /);
  });

  it("is made with all its parents, for its owner alone, and nothing is left in it", () => {
    const data = join(folder, "a", "b", "c");
    makeWritableFolder(data, "--data");
    makeWritableFolder(data, "--data");
    assert.equal(statSync(data).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(data), []);
  });
});

function file(folder: string): string {
  const path = join(folder, "file");
  writeFileSync(path, "");
  return path;
}

function readOnly(folder: string): string {
  const path = join(folder, "read-only");
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o555);
  return path;
}
