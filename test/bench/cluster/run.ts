/**
 * `npm run bench -- cluster`: the targets of the control plane (docs/design/operations.md 5) against a real API server
 * and a real operator process. Proxies are the real push client, fifty in this process, over the operator's socket. The
 * last run's table is kept in `results.md`. Smaller with `BENCH_CLUSTER_KEYS` and `BENCH_CLUSTER_PROXIES`.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeMachine } from "#scripts/machine";
import { startControlPlane } from "#test/support/kube-control-plane";
import { type ClusterUnderTest, closeCluster, openCluster } from "./cluster-under-test.ts";
import {
  type ClusterFigure,
  measureApply,
  measureOutage,
  measureRestart,
  measureRevocation,
  measureStatus,
  measureStatusOfChange,
  measureWire,
} from "./figures.ts";

const keyCount = Number(process.env["BENCH_CLUSTER_KEYS"] ?? 10_000);
const proxyCount = Number(process.env["BENCH_CLUSTER_PROXIES"] ?? 50);
const isWhole = keyCount === 10_000 && proxyCount === 50;

async function main(): Promise<void> {
  const plane = await startControlPlane();
  if (typeof plane === "string") {
    console.error(plane);
    process.exitCode = 1;
    return;
  }
  let cluster: ClusterUnderTest | undefined;
  try {
    progress(`${keyCount} keys, ${keyCount / 10} routes, ${keyCount / 50} channels, ${proxyCount} proxies ...`);
    cluster = await openCluster(plane, { keyCount, proxyCount, progress });
    const figures: ClusterFigure[] = [...cluster.startFigures];
    for (const measure of [
      measureStatus,
      measureApply,
      measureRevocation,
      measureWire,
      measureStatusOfChange,
      measureRestart,
      measureOutage,
    ]) {
      figures.push(...(await measure(cluster)));
      progress(figures.at(-1)?.name ?? "");
    }
    report(figures);
  } finally {
    if (cluster !== undefined) await closeCluster(cluster);
    await plane.stop();
  }
}

function progress(text: string): void {
  console.error(`  ${text}`);
}

function report(figures: readonly ClusterFigure[]): void {
  const rows = figures.map(({ target, name, value, limit, unit, detail }) => {
    const verdict = value <= limit ? "ok" : "MISSED";
    return `| ${target} | ${name} | ${format(value)} ${unit} | <= ${limit} ${unit} | ${verdict} | ${detail} |`;
  });
  const head = ["| Target | Figure | Measured | Limit | Verdict | Detail |", "| --- | --- | --- | --- | --- | --- |"];
  const table = [...head, ...rows].join("\n");
  const machine = describeMachine();
  console.log(`\n${machine}\n\n${table}`);
  if (isWhole) {
    const scope = `${keyCount} keys, ${keyCount / 10} routes, ${keyCount / 50} channels, ${proxyCount} proxies`;
    const text = `# Last run of \`npm run bench -- cluster\`\n\n${machine}; ${scope}.\n\n${table}\n`;
    writeFileSync(join(import.meta.dirname, "results.md"), text);
  }
  if (rows.some((row) => row.includes("MISSED"))) process.exitCode = 1;
}

function format(value: number): string {
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(2);
}

await main();
