/**
 * The benchmark's figures of memory: what a proxy and an operator hold that nobody calls, with the manifests of the
 * quickstart.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { proxyNodeFlags } from "#cli/proxy-node-flags";
import { projectRoot } from "#scripts/run";
import { atMost, type Figure } from "./figure.ts";
import { type BenchProcess, startProcess } from "./processes.ts";

/** Long enough for what the start allocated to be collected. */
const idleMs = 5_000;

export async function measureIdleMemory(folder: string): Promise<readonly Figure[]> {
  // The first start compiles the sources, with a compiler in memory; what it compiled is kept for the next one.
  await measureStart(join(folder, "idle-first"));
  return measureStart(join(folder, "idle"));
}

async function measureStart(home: string): Promise<readonly Figure[]> {
  mkdirSync(home);
  const socket = join(home, "push.sock");
  const started: BenchProcess[] = [];
  try {
    const operator = await startProcess(
      [
        ...[
          join(projectRoot, "cli", "main.ts"),
          "operator",
          "--manifests",
          join(projectRoot, "examples", "quickstart"),
        ],
        ...["--data", join(home, "operator"), "--push-socket", socket, "--egress-allow-cidrs", "127.0.0.0/8"],
        ...["--operator-admin", "127.0.0.1:0"],
      ],
      /"message":"(operating)"/,
    );
    started.push(operator);
    const proxy = await startProcess(
      [
        ...[...proxyNodeFlags, join(projectRoot, "cli", "main.ts"), "proxy", "--operator", `unix:${socket}`],
        ...["--data", join(home, "proxy"), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"],
        ...["--drain-endpoint-lag", "0s"],
      ],
      /"data":"(http:[^"]+)".*"listening"/,
    );
    started.push(proxy);
    await delay(idleMs);
    return [
      atMost("idle proxy, quickstart: resident memory", residentMB(proxy.pid), 165, "MB", "120 would be good"),
      atMost("idle operator, quickstart: resident memory", residentMB(operator.pid), 115, "MB", "90 would be good"),
    ];
  } finally {
    for (const process_ of started.reverse()) await process_.stop();
  }
}

/** Linux only: read from `/proc`. */
function residentMB(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}
