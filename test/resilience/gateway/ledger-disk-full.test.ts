import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EmbeddedLedger } from "#proxy/admit/embedded-ledger";

const child = fileURLToPath(new URL("../../support/ledger-full-disk-child.ts", import.meta.url));

interface Line {
  readonly state: string;
  readonly posted: string;
  readonly rates: number;
}

function parseLine(text: string): Line {
  const value: unknown = JSON.parse(text);
  assert.ok(typeof value === "object" && value !== null && "state" in value && "posted" in value && "rates" in value);
  return { state: String(value.state), posted: String(value.posted), rates: Number(value.rates) };
}

describe("embedded ledger on a full disk", function () {
  this.timeout(30_000);
  let folder: string;
  let process_: ChildProcess | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-disk-full-"));
  });
  afterEach(() => {
    process_?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  it("refuses what needs a quota while nothing can be written, lets rates pass, and recovers with nothing lost", async function () {
    if (process.platform !== "linux") {
      console.log("      skipped: bounding the files of a running process needs Linux");
      this.skip();
    }
    const started = spawn("sh", ["-c", 'ulimit -S -f 1500; exec "$0" "$1" "$2"', process.execPath, child, folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    process_ = started;
    const lines: Line[] = [];
    let rest = "";
    started.stdout.setEncoding("utf8");
    started.stdout.on("data", (chunk: string) => {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts.map(parseLine));
    });
    const until = async (isTrue: (last: Line) => boolean): Promise<Line> => {
      const deadlineMs = performance.now() + 10_000;
      for (;;) {
        const last = lines.at(-1);
        if (last !== undefined && isTrue(last)) return last;
        assert.ok(performance.now() < deadlineMs, `not in time: ${JSON.stringify(last)}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    await until(({ state }) => state === "writing");
    const failed = await until(({ state }) => state === "failing");
    const later = await until(({ rates }) => rates > failed.rates + 10);
    assert.equal(later.posted, failed.posted, "no quota is spent while nothing can be written");
    execFileSync("prlimit", ["--pid", String(started.pid), "--fsize=unlimited"]);
    await until(({ state }) => state === "writing");
    const after = await until(({ posted }) => BigInt(posted) > BigInt(later.posted) + 1_000n);
    const exited = new Promise((resolve) => started.once("close", resolve));
    started.kill("SIGTERM");
    assert.equal(await exited, 0);
    const ledger = await EmbeddedLedger.open({ now: Date.now, reservationTtlMs: 60_000, folder });
    const kept = ledger.read("account/ns/a")?.posted ?? 0n;
    await ledger.close();
    assert.ok(kept >= BigInt(after.posted), `${kept} kept of ${after.posted}`);
  });

  it("begins on none, and says which disk it is and what to do", async function () {
    const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], { stdio: "ignore" });
    if (status !== 0) {
      console.log("      skipped: a small disk can be made by root on Linux alone");
      this.skip();
    }
    try {
      assert.throws(() => writeFileSync(join(folder, "others"), Buffer.alloc(64 * 1024)), { code: "ENOSPC" });
      const opened = EmbeddedLedger.open({ now: Date.now, reservationTtlMs: 60_000, folder: join(folder, "ledger") });
      await assert.rejects(
        opened,
        /the disk of .*ledger\.sqlite is full: make room there, or name a folder on another/,
      );
    } finally {
      execFileSync("umount", [folder]);
    }
  });
});
