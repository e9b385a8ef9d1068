/** Figures of OPERATIONS.md section 2 for 100,000 keys, with bounds that a busy machine keeps. */
import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { PushClient } from "../../proxy/sync/push-client.ts";
import { type PushTransport, unixSocketTransport } from "../../proxy/sync/push-transport.ts";
import { SnapshotStore } from "../../proxy/sync/snapshot-store.ts";
import { eventually } from "../support/push-rig.ts";
import { sha256Of } from "../support/wire-objects.ts";

const keyCount = 100_000;

describe("push of 100,000 keys", function () {
  this.timeout(60_000);
  let folder: string;
  let operator: ChildProcess;
  let client: PushClient;
  afterEach(async () => {
    await client.close();
    operator.disconnect();
    await once(operator, "exit");
    await rm(folder, { recursive: true, force: true });
  });

  it("keeps to its bounds of memory, time and bytes", async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-many-"));
    const socketPath = join(folder, "push.sock");
    operator = fork(new URL("../support/push-operator-process.ts", import.meta.url), [socketPath, String(keyCount)]);
    await once(operator, "message");

    const counter = { bytes: 0 };
    const store = new SnapshotStore();
    const applyTimes: number[] = [];
    store.onEvent((event) => event.type === "applied" && applyTimes.push(event.applyMs));
    const heapBefore = collectedHeapBytes();
    const loop = monitorEventLoopDelay({ resolution: 1 });
    loop.enable();
    client = new PushClient({
      transport: counting(unixSocketTransport({ socketPath, answerTimeoutMs: 30_000 }), counter),
      store,
      proxy: "proxy-1",
      build: "test",
      heartbeatMs: 10_000,
      deadMs: 30_000,
    });
    const begunAt = performance.now();
    client.start();
    await eventually("ready with all keys", () => store.isReady, 30_000);
    const readyMs = performance.now() - begunAt;
    const blockedFullMs = loop.max / 1e6;
    const fullBytes = counter.bytes;
    assert.equal(store.pin().keyCount, keyCount);
    const heapPerKey = (collectedHeapBytes() - heapBefore) / keyCount;

    counter.bytes = 0;
    loop.reset();
    const changedAt = performance.now();
    operator.send(4711);
    const digest = sha256Of("sk-key-4711");
    await eventually("the change is live", () => store.pin().findKey(digest)?.key.maxInFlight === 7);
    const changeMs = performance.now() - changedAt;
    const blockedChangeMs = loop.max / 1e6;

    const rows: readonly [name: string, value: number, limit: number][] = [
      ["heap per key, bytes", heapPerKey, 1024],
      ["full snapshot to ready, ms", readyMs, 5_000],
      ["full snapshot, wire MiB", fullBytes / 1024 ** 2, 512],
      ["longest event-loop delay while it applied, ms", blockedFullMs, 50],
      ["one key changed, wire bytes", counter.bytes, 2_048],
      ["one key changed, apply ms", applyTimes.at(-1) ?? Number.NaN, 10],
      ["one key changed to live, ms", changeMs, 100],
      ["longest event-loop delay while it applied, ms", blockedChangeMs, 50],
    ];
    for (const [name, value, limit] of rows) {
      process.stdout.write(`    ${name}: ${value.toFixed(2)} (limit ${limit}) ${value <= limit ? "ok" : "MISSED"}\n`);
    }
    assert.deepEqual(
      rows.filter(([, value, limit]) => !(value <= limit)).map(([name]) => name),
      [],
    );
  });
});

function counting(transport: PushTransport, counter: { bytes: number }): PushTransport {
  return {
    async open(hello) {
      const stream = await transport.open(hello);
      return { lines: countLines(stream.lines, counter), send: stream.send, close: stream.close };
    },
  };
}

async function* countLines(lines: AsyncIterable<string>, counter: { bytes: number }): AsyncGenerator<string> {
  for await (const line of lines) {
    counter.bytes += Buffer.byteLength(line) + 1;
    yield line;
  }
}

function collectedHeapBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") for (let round = 0; round < 3; round += 1) collect();
  return process.memoryUsage().heapUsed;
}
