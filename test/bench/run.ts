/**
 * `npm run bench`: what everything switched on costs, as ratios to a bare proxy measured in the same run.
 *
 * Bare proxy, gateway and upstream run as processes of their own; the load alternates between bare proxy and gateway
 * in short rounds, so that whatever else the machine does meets both alike. The measure is CPU time of the process and
 * all its threads for each request (or chunk), the figure the median over the rounds. The last run's table is kept in
 * `results.md`. Linux only: CPU time is read from `/proc`. `BENCH_PROXY_FLAGS` gives the gateway's proxy flags of Node,
 * such as `--cpu-prof`, and `BENCH_PROXY_LOG` a file for what it prints. Names, or parts of them, given behind the command
 * run those figures alone.
 */

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { proxyNodeFlags } from "#cli/proxy-node-flags";
import { describeMachine } from "#scripts/machine";
import { PushBench } from "#test/support/push-bench";
import { benchKey, writeBenchFolder } from "./bench-manifests.ts";
import { measureConfiguration } from "./configuration.ts";
import { endpointScenarios } from "./endpoints.ts";
import type { Figure } from "./figure.ts";
import { measureIdleMemory } from "./idle-memory.ts";
import { type BenchProcess, cpuMs, median, startProcess } from "./processes.ts";
import { measurePush } from "./push.ts";
import { measureRealtime } from "./realtime.ts";
import { bytesOf, type Scenario } from "./scenario.ts";
import { measureTranslation } from "./translated.ts";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const keyCount = Number(process.env["BENCH_KEYS"] ?? 100_000);
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 7);
const roundMs = Number(process.env["BENCH_ROUND_MS"] ?? 2_000);
const warmUpMs = 4 * roundMs;
const profileFlags = (process.env["BENCH_PROXY_FLAGS"] ?? "").split(" ").filter((flag) => flag !== "");
const usedKeys = Array.from({ length: 50 }, (_, index) => benchKey(index * Math.floor(keyCount / 50)));

interface LoadCounts {
  readonly succeeded: number;
  readonly failed: number;
  readonly chunks: number;
  readonly firstFailure?: string;
}

function chat(characters: number, stream = false): object {
  const text = "A long conversation has many words in it, and some of them repeat. ".repeat(characters / 67 + 1);
  return {
    model: stream ? "bench-stream" : "bench-reply",
    messages: [
      { role: "system", content: "You are a helpful assistant." },
      { role: "user", content: text.slice(0, characters) },
    ],
    temperature: 0.7,
    max_tokens: 200,
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

const scenarios: readonly Scenario[] = [
  {
    name: "chat 1 KB",
    body: chat(850),
    answer: "reply",
    connections: 16,
    unit: "request",
    measure: "requests per CPU second",
    limit: 0.75,
    kind: "speed",
  },
  {
    // Many applications at once: calls that arrive together share the way of code and data into the caches.
    name: "chat 1 KB on 64 connections",
    body: chat(850),
    answer: "reply",
    connections: 64,
    unit: "request",
    measure: "requests per CPU second",
    limit: 0.75,
    kind: "speed",
  },
  {
    name: "chat 100 KB",
    body: chat(100_000),
    answer: "reply",
    connections: 8,
    unit: "request",
    measure: "requests per CPU second",
    limit: 0.7,
    kind: "speed",
  },
  {
    name: "chat 1 MB",
    body: chat(1_000_000),
    answer: "reply",
    connections: 4,
    unit: "request",
    measure: "CPU per request",
    limit: 1.5,
    kind: "cost",
  },
  {
    name: "streaming",
    body: chat(850, true),
    answer: "stream",
    connections: 32,
    unit: "chunk",
    measure: "CPU per chunk",
    limit: 1.2,
    kind: "cost",
  },
  ...endpointScenarios,
];

async function main(): Promise<void> {
  const names = process.argv.slice(2);
  const wanted = (name: string) => names.length === 0 || names.some((part) => name.includes(part));
  const folder = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
  const started: BenchProcess[] = [];
  try {
    const upstream = await startProcess([join(here, "upstream.mjs")], /^listening (\d+)/);
    started.push(upstream);
    const origin = `http://127.0.0.1:${upstream.found}`;
    const bare = await startProcess([join(here, "bare.mjs"), origin], /^listening (\d+)/);
    started.push(bare);
    progress(`writing ${keyCount} keys`);
    const manifests = join(folder, "manifests");
    mkdirSync(manifests);
    writeBenchFolder(manifests, origin, keyCount);
    const gateway = await startGateway(folder, manifests, started);
    const figures: Figure[] = [];
    for (const scenario of scenarios) {
      if (!wanted(scenario.name)) continue;
      figures.push(await runScenario(scenario, folder, bare, gateway.proxy, gateway.data));
    }
    if (wanted("translated")) {
      const bareOrigin = `http://127.0.0.1:${bare.found}`;
      const processes = { proxyPid: gateway.proxy.pid, barePid: bare.pid };
      const origins = { data: gateway.data, bare: bareOrigin };
      figures.push(
        ...(await measureTranslation({ folder, ...origins, ...processes, rounds, roundMs, load, progress })),
      );
    }
    if (wanted("configuration")) {
      figures.push(...(await measureConfiguration({ manifests, keyCount, gateway, progress })));
      figures.push(...(await withPushBench((bench) => measurePush(bench, keyCount))));
    }
    if (wanted("realtime")) figures.push(...(await measureRealtime(folder)));
    if (wanted("memory")) figures.push(...(await measureIdleMemory(folder)));
    report(figures, names.length === 0);
  } finally {
    for (const process_ of started.reverse()) await process_.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withPushBench<Result>(measurement: (bench: PushBench) => Promise<Result>): Promise<Result> {
  const bench = await PushBench.open();
  try {
    return await measurement(bench);
  } finally {
    await bench.close();
  }
}

export interface BenchGateway {
  readonly operator: BenchProcess;
  readonly proxy: BenchProcess;
  readonly data: string;
  readonly admin: string;
  /** From the start of the proxy's process to its readiness, with the operator running. */
  readonly readyAfterMs: number;
}

async function startGateway(folder: string, manifests: string, started: BenchProcess[]): Promise<BenchGateway> {
  const cli = join(root, "cli", "main.ts");
  const socket = join(folder, "push.sock");
  const operatorStartMs = performance.now();
  const operator = await startProcess(
    [
      cli,
      "operator",
      "--manifests",
      manifests,
      "--data",
      join(folder, "operator"),
      "--push-socket",
      socket,
      "--egress-allow-cidrs",
      "127.0.0.0/8",
      "--operator-admin",
      "127.0.0.1:0",
    ],
    /"message":"(operating)"/,
    { timeoutMs: 120_000 },
  );
  started.push(operator);
  progress(`operator ready after ${Math.round(performance.now() - operatorStartMs)} ms`);
  const startMs = performance.now();
  const proxy = await startProcess(
    [
      ...proxyNodeFlags,
      ...profileFlags,
      cli,
      "proxy",
      "--operator",
      `unix:${socket}`,
      "--data",
      join(folder, "proxy"),
      "--listen",
      "127.0.0.1:0",
      "--admin",
      "127.0.0.1:0",
      "--drain-endpoint-lag",
      "0s",
    ],
    /"data":"(http:[^"]+)","admin":"(?:http:[^"]+)".*"listening"/,
    // The access log goes to a file, as it would under a container runtime.
    { outputFile: process.env["BENCH_PROXY_LOG"] ?? join(folder, "proxy.log") },
  );
  started.push(proxy);
  const admin = proxy.line.replace(/.*"admin":"([^"]+)".*/, "$1");
  while (!(await fetch(`${admin}/readyz`)).ok) {
    if (performance.now() - startMs > 60_000) throw new Error("the proxy was not ready within a minute");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return { operator, proxy, data: proxy.found, admin, readyAfterMs: performance.now() - startMs };
}

async function runScenario(
  scenario: Scenario,
  folder: string,
  bare: BenchProcess,
  proxy: BenchProcess,
  data: string,
): Promise<Figure> {
  const bodyFile = join(folder, "body.json");
  writeFileSync(bodyFile, bytesOf(scenario));
  const { path = "/v1/chat/completions" } = scenario;
  const bareUrl = `http://127.0.0.1:${bare.found}/${scenario.answer}${path}`;
  const gatewayUrl = `${data}${path}`;
  const costs = { bare: [] as number[], gateway: [] as number[] };
  // Just-in-time compilation takes some ten thousand requests.
  for (const url of [bareUrl, gatewayUrl]) await load(url, bodyFile, scenario.connections, warmUpMs);
  for (let round = 1; round <= rounds; round += 1) {
    const bareCost = await measure(bareUrl, bodyFile, scenario, bare.pid);
    const gatewayCost = await measure(gatewayUrl, bodyFile, scenario, proxy.pid);
    costs.bare.push(bareCost);
    costs.gateway.push(gatewayCost);
    progress(
      `${scenario.name} ${round}/${rounds}: bare ${bareCost.toFixed(1)} us, gateway ${gatewayCost.toFixed(1)} us a ${scenario.unit}`,
    );
  }
  const ratios = costs.bare.map((cost, index) => cost / (costs.gateway[index] ?? Number.NaN));
  const speed = median(ratios);
  return {
    name: `${scenario.name}: ${scenario.measure}, to the bare proxy`,
    value: scenario.kind === "speed" ? speed : 1 / speed,
    limit: scenario.limit,
    unit: "x",
    isUpperLimit: scenario.kind === "cost",
    detail: `bare ${median(costs.bare).toFixed(1)} us, gateway ${median(costs.gateway).toFixed(1)} us a ${scenario.unit}`,
  };
}

/** CPU microseconds of a process for each unit of work. */
async function measure(url: string, bodyFile: string, scenario: Scenario, pid: number): Promise<number> {
  const beforeMs = cpuMs(pid);
  const counts = await load(url, bodyFile, scenario.connections, roundMs);
  const usedMs = cpuMs(pid) - beforeMs;
  if (counts.failed > 0) throw new Error(`${counts.failed} requests to ${url} failed: ${counts.firstFailure}`);
  return (usedMs * 1_000) / (scenario.unit === "chunk" ? counts.chunks : counts.succeeded);
}

function load(url: string, bodyFile: string, connections: number, durationMs: number): Promise<LoadCounts> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [join(here, "load.mjs"), url, usedKeys.join(","), bodyFile, String(connections), String(durationMs)],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.on("exit", () => {
      try {
        resolve(JSON.parse(output));
      } catch (cause) {
        reject(new Error(`the load generator printed: ${output}`, { cause }));
      }
    });
  });
}

function progress(text: string): void {
  console.error(`  ${text}`);
}

function report(figures: readonly Figure[], isWhole: boolean): void {
  const machine = describeMachine();
  const rows = figures.map((figure) => {
    const isGood = figure.isUpperLimit ? figure.value <= figure.limit : figure.value >= figure.limit;
    const limit = `${figure.isUpperLimit ? "<=" : ">="} ${figure.limit} ${figure.unit}`;
    return `| ${figure.name} | ${format(figure.value)} ${figure.unit} | ${limit} | ${isGood ? "ok" : "MISSED"} | ${figure.detail} |`;
  });
  const table = ["| Figure | Measured | Limit | Verdict | Detail |", "| --- | --- | --- | --- | --- |", ...rows].join(
    "\n",
  );
  console.log(`\n${machine}\n\n${table}`);
  if (isWhole) {
    const text = `# Last run of \`npm run bench\`\n\n${machine}; ${keyCount} keys, ${rounds} rounds of ${roundMs} ms, medians.\n\n${table}\n`;
    writeFileSync(join(here, "results.md"), text);
  }
  if (rows.some((row) => row.includes("MISSED"))) process.exitCode = 1;
}

function format(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(2);
}

await main();
