/** Folders and links that are there and cannot be looked at: nothing may be concluded about what they hold. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { FolderSource } from "#operator/source/folder";
import { scanFolder } from "#operator/source/scan-folder";
import { waitFor } from "#test/support/wait-for";

const account = (name: string) => `apiVersion: tollgate.dev/v1alpha1
kind: Account
metadata: {name: ${name}, namespace: a}
spec: {}
`;
/** Longer than a name may be, so that nobody can say what it leads to, not even to root. */
const nowhereToBeLookedAt = "x".repeat(300);
const nobody = 65_534;

/** Permissions hold for others only. */
async function asNobody<Result>(work: () => Promise<Result>): Promise<Result> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(nobody);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

describe("FolderSource, of what cannot be looked at", () => {
  let folder: string;
  let source: FolderSource;
  const path = (name: string) => join(folder, name);
  const names = () => [...source.current().accounts.keys()].sort();
  const problems = () => source.current().problems.map(({ origin, message }) => `${origin.file}: ${message}`);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-closed-"));
    chmodSync(folder, 0o755);
    mkdirSync(path("below"));
    writeFileSync(path("one.yaml"), account("one"));
    writeFileSync(path("below/two.yaml"), account("two"));
    source = new FolderSource({ folder, compareEveryMs: 3_600_000, settleMs: 1 });
    await source.start();
    assert.deepEqual(names(), ["a/one", "a/two"]);
  });
  afterEach(async () => {
    await source.close();
    chmodSync(folder, 0o755);
    rmSync(folder, { recursive: true });
  });

  for (const closed of ["", "below"]) {
    it(`keeps what a folder held that may be listed and not entered: ${closed || "the whole"}`, async () => {
      chmodSync(path(closed), 0o644);
      await asNobody(async () => {
        // Twice: what is gone is believed gone once it stood still.
        for (let look = 0; look < 3; look += 1) await source.refresh();
      });
      assert.deepEqual(names(), ["a/one", "a/two"]);
      assert.match(problems().join(), /It cannot be read \(EACCES\); its last good content stays in force\./);
      chmodSync(path(closed), 0o755);
      await source.refresh();
      assert.deepEqual(problems(), []);
      assert.deepEqual(names(), ["a/one", "a/two"]);
    });
  }

  it("keeps what a file held in whose place a link leads to where nobody can look", async () => {
    rmSync(path("one.yaml"));
    symlinkSync(nowhereToBeLookedAt, path("one.yaml"));
    for (let look = 0; look < 3; look += 1) await source.refresh();
    assert.deepEqual(names(), ["a/one", "a/two"]);
    rmSync(path("one.yaml"));
    await source.refresh();
    await waitFor("its end", () => !names().includes("a/one"));
  });

  it("reads a file again that could not be read, also where nothing about it changes", async () => {
    chmodSync(path("one.yaml"), 0o600);
    writeFileSync(path("one.yaml"), account("other"));
    await asNobody(async () => {
      await waitFor("the problem", async () => {
        await source.refresh();
        return problems().join().includes("The file cannot be read (EACCES)");
      });
    });
    await source.refresh();
    assert.deepEqual(problems(), []);
    assert.deepEqual(names(), ["a/other", "a/two"]);
  });

  it("denies no key because the process has no room for another open file", async () => {
    const program = fileURLToPath(new URL("../../../support/few-files-child.ts", import.meta.url));
    const { stdout } = await promisify(execFile)("sh", [
      "-c",
      'ulimit -n 64; exec "$0" "$1"',
      process.execPath,
      program,
    ]);
    assert.deepEqual(stdout.trim().split("\n"), ["valid without files", "renamed with files"]);
  });

  it("tells of a folder that is gone as a whole, and keeps what it held", async () => {
    rmSync(folder, { recursive: true });
    for (let look = 0; look < 3; look += 1) await source.refresh();
    assert.deepEqual(names(), ["a/one", "a/two"]);
    assert.match(problems().join(), /\(ENOENT\)/);
    mkdirSync(folder);
  });

  it("does not begin with a folder that may not be entered, as if it were empty", async () => {
    chmodSync(folder, 0o644);
    await asNobody(async () => {
      const late = new FolderSource({ folder });
      await assert.rejects(late.start(), /cannot be read \(EACCES\)/);
      await late.close();
      assert.deepEqual([...(await scanFolder(folder)).unreadable], [[folder, "EACCES"]]);
    });
  });
});
