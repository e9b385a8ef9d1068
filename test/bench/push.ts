/**
 * The benchmark's figures of the push alone (docs/design/operations.md 5): memory, bytes on the wire, turns of the
 * event loop.
 */
import { once } from "node:events";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { PushTransport } from "#proxy/sync/push-transport";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { unixSocketTransport } from "#proxy/sync/socket-transport";
import type { PushBench } from "#test/support/push-bench";
import { eventually } from "#test/support/push-rig";
import { sha256Of } from "#test/support/wire-objects";
import { atMost, type Figure } from "./figure.ts";

/**
 * Fills a proxy's store from an operator in a process of its own, then changes one key. The bench is the caller's to close.
 *
 * @throws Error for keys that are not all there within half a minute
 */
export async function measurePush(bench: PushBench, keyCount: number): Promise<readonly Figure[]> {
  const socketPath = join(bench.folder, "push.sock");
  const operator = bench.forkOperator("push-operator-process.ts", [socketPath, String(keyCount)]);
  await once(operator, "message");

  const counter = { bytes: 0 };
  const store = new SnapshotStore();
  const applyTimes: number[] = [];
  store.onEvent((event) => event.type === "applied" && applyTimes.push(event.applyMs));
  const heapBefore = collectedHeapBytes();
  const turns = watchTurns();
  const client = bench.client(counting(unixSocketTransport({ socketPath, replyTimeoutMs: 30_000 }), counter), store);
  const begunAt = performance.now();
  const cpuBefore = process.cpuUsage();
  client.start();
  await eventually("ready with all keys", () => store.isReady, 30_000);
  const readyMs = performance.now() - begunAt;
  const { user, system } = process.cpuUsage(cpuBefore);
  const blockedFullMs = turns.longestMs();
  const fullBytes = counter.bytes;
  const { keyCount: heldCount } = store.pin();
  if (heldCount !== keyCount) throw new Error(`the proxy holds ${heldCount} of ${keyCount} keys`);
  const heapPerKey = (collectedHeapBytes() - heapBefore) / keyCount;

  // The collection just forced was a long turn of its own: it is not the push's.
  await new Promise((resolve) => setTimeout(resolve, 20));
  turns.longestMs();
  counter.bytes = 0;
  const changedAt = performance.now();
  const changed = Math.floor(keyCount / 2);
  operator.send(changed);
  const digest = sha256Of(`sk-key-${changed}`);
  await eventually("the change is live", () => store.pin().findKey(digest)?.key.maxInFlight === 7);
  const changeMs = performance.now() - changedAt;
  const blockedChangeMs = turns.longestMs();
  turns.stop();

  const ofCpu = "CPU time of the thread";
  return [
    atMost("heap of a proxy for each key", heapPerKey, 1_024, "bytes", `${keyCount} keys`),
    atMost("all keys pushed: start of the connection to ready", readyMs, 5_000, "ms"),
    atMost("all keys pushed: CPU of the proxy", (user + system) / 1_000, 5_000, "ms"),
    atMost("all keys pushed: on the wire", fullBytes / 1_024 ** 2, 512, "MiB"),
    atMost("all keys pushed: longest turn of the event loop", blockedFullMs, 50, "ms", ofCpu),
    atMost("one key changed: on the wire", counter.bytes, 2_048, "bytes"),
    atMost("one key changed: applied", applyTimes.at(-1) ?? Number.NaN, 10, "ms"),
    atMost("one key changed: pushed to live", changeMs, 100, "ms"),
    atMost("one key changed: longest turn of the event loop", blockedChangeMs, 50, "ms", ofCpu),
  ];
}

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

/** CPU time of the longest turn of the event loop: unlike its delay, other programs on the machine do not add to it. */
function watchTurns() {
  let longestMicros = 0;
  let isRunning = true;
  let last = process.threadCpuUsage();
  const turn = () => {
    const { user, system } = process.threadCpuUsage(last);
    longestMicros = Math.max(longestMicros, user + system);
    last = process.threadCpuUsage();
    if (isRunning) setTimeout(turn, 0);
  };
  turn();
  return {
    longestMs() {
      const longest = longestMicros / 1000;
      longestMicros = 0;
      last = process.threadCpuUsage();
      return longest;
    },
    stop() {
      isRunning = false;
    },
  };
}

function collectedHeapBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") for (let round = 0; round < 3; round += 1) collect();
  return process.memoryUsage().heapUsed;
}
