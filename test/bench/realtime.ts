/**
 * The benchmark's figures of realtime sessions: messages of audio for each second of CPU against `http-proxy`, which pipes
 * bytes and looks into nothing, in alternating rounds of one run; and the memory of sessions that send nothing.
 *
 * Run alone: `node test/bench/realtime.ts`. Linux only: CPU time and memory are read from `/proc`.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { proxyNodeFlags } from "#cli/proxy-node-flags";
import { projectRoot } from "#scripts/run";
import { realtimeChannel, realtimeRoute } from "#test/support/realtime/realtime-rig";
import { apiKey, manifest, rawKey, secret } from "#test/support/resilience/manifests";
import { atMost, type Figure } from "./figure.ts";
import { type BenchProcess, cpuMs, median, startProcess } from "./processes.ts";

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 7);
const roundMs = Number(process.env["BENCH_ROUND_MS"] ?? 2_000);
const connections = 32;
const idleSessions = 1_000;
const profileFlags = (process.env["BENCH_PROXY_FLAGS"] ?? "").split(" ").filter((flag) => flag !== "");
/** 100 ms of 24 kHz and 16 bits in base64. */
const audio = "A".repeat(6_400);
const message = Buffer.from(JSON.stringify({ type: "input_audio_buffer.append", audio }));

export async function measureRealtime(folder: string): Promise<readonly Figure[]> {
  const started: BenchProcess[] = [];
  const start = async (programArguments: readonly string[], pattern: RegExp): Promise<BenchProcess> => {
    const process_ = await startProcess(programArguments, pattern);
    started.push(process_);
    return process_;
  };
  try {
    const upstream = await start([join(projectRoot, "test", "bench", "realtime-upstream.mjs")], /listening (\d+)/);
    const bare = await start(
      [join(projectRoot, "test", "bench", "realtime-bare.mjs"), upstream.found],
      /listening (\d+)/,
    );
    const gateway = await startGateway(folder, Number(upstream.found), start);
    const sides = [
      { pid: bare.pid, sockets: await openAll(Number(bare.found), connections), rates: [] as number[] },
      { pid: gateway.pid, sockets: await openAll(Number(gateway.found), connections), rates: [] as number[] },
    ];
    for (let round = 0; round <= rounds; round += 1) {
      for (const side of sides) {
        const rate = await messagesPerCpuSecond(side.sockets, side.pid);
        // The first one warms up.
        if (round > 0) side.rates.push(rate);
      }
    }
    for (const { sockets } of sides) for (const socket of sockets) socket.terminate();
    const [bareRate = 0, gatewayRate = 0] = sides.map(({ rates }) => median(rates));
    const detail = `${Math.round(gatewayRate)} of ${Math.round(bareRate)} a second of CPU`;
    return [
      {
        name: "realtime: messages of audio, against http-proxy",
        value: gatewayRate / bareRate,
        limit: 0.8,
        unit: "x",
        isUpperLimit: false,
        detail,
      },
      await idleMemory(Number(gateway.found), gateway.pid),
    ];
  } finally {
    for (const process_ of started.reverse()) await process_.stop();
  }
}

async function startGateway(
  folder: string,
  upstreamPort: number,
  start: (programArguments: readonly string[], pattern: RegExp) => Promise<BenchProcess>,
): Promise<BenchProcess> {
  const manifests = join(folder, "realtime-manifests");
  mkdirSync(manifests);
  const objects = [secret(), apiKey("main"), realtimeChannel("c0", upstreamPort), realtimeRoute("talk", ["c0"])];
  writeFileSync(join(manifests, "all.yaml"), manifest(...objects));
  const pushSocket = join(folder, "realtime.sock");
  await start(
    [
      ...[join(projectRoot, "cli", "main.ts"), "operator", "--manifests", manifests],
      ...["--data", join(folder, "realtime-operator"), "--push-socket", pushSocket],
      ...["--egress-allow-cidrs", "127.0.0.0/8", "--operator-admin", "127.0.0.1:0"],
    ],
    /"message":"(operating)"/,
  );
  const proxy = await start(
    [
      ...[
        ...proxyNodeFlags,
        ...profileFlags,
        join(projectRoot, "cli", "main.ts"),
        "proxy",
        "--operator",
        `unix:${pushSocket}`,
      ],
      ...["--data", join(folder, "realtime-proxy"), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"],
      ...["--drain-endpoint-lag", "0s"],
    ],
    /"data":"http:[^"]+:(\d+)".*"listening"/,
  );
  return proxy;
}

/** Opens sessions a few at a time; a proxy that has no configuration yet is asked again. */
async function openAll(port: number, count: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < count) {
    const opening = Array.from({ length: Math.min(50, count - sockets.length) }, () => open(port));
    const opened = (await Promise.all(opening)).filter((socket) => socket !== undefined);
    sockets.push(...opened);
    if (opened.length === 0) await delay(100);
  }
  return sockets;
}

function open(port: number): Promise<WebSocket | undefined> {
  const headers = { authorization: `Bearer ${rawKey("main")}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/realtime?model=talk`, { perMessageDeflate: false, headers });
  return new Promise((resolve) => {
    socket.once("message", () => resolve(socket));
    socket.on("error", () => resolve(undefined));
  });
}

/** Each connection says its next message when it has heard the answer to the one before. */
async function messagesPerCpuSecond(sockets: readonly WebSocket[], pid: number): Promise<number> {
  let count = 0;
  let isOver = false;
  const say = (socket: WebSocket): void => socket.send(message, { binary: false });
  const onMessage = function (this: WebSocket): void {
    count += 2;
    if (!isOver) say(this);
  };
  for (const socket of sockets) socket.on("message", onMessage);
  const beforeMs = cpuMs(pid);
  for (const socket of sockets) say(socket);
  await delay(roundMs);
  isOver = true;
  const usedMs = cpuMs(pid) - beforeMs;
  const rate = count / (usedMs / 1_000);
  // The last answers are on their way.
  await delay(100);
  for (const socket of sockets) socket.off("message", onMessage);
  return rate;
}

async function idleMemory(port: number, pid: number): Promise<Figure> {
  // What the rounds before took is given back first, and what opening itself takes is there.
  for (const socket of await openAll(port, 50)) socket.terminate();
  await delay(3_000);
  const before = residentBytes(pid);
  const sockets = await openAll(port, idleSessions);
  await delay(3_000);
  const each = (residentBytes(pid) - before) / idleSessions / 1_024;
  for (const socket of sockets) socket.terminate();
  return atMost("realtime: memory of an idle session", each, 32, "KiB", `of ${idleSessions}`);
}

function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1_024;
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
  try {
    for (const { name, value, limit, unit, detail } of await measureRealtime(folder)) {
      console.log(`${name}: ${value.toFixed(2)} ${unit}, limit ${limit} (${detail})`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
