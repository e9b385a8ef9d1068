/** Figures of a folder of 100,000 keys (docs/design/operations.md T4 and T8), with bounds that a busy machine keeps. */
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { unixSocketTransport } from "#proxy/sync/socket-transport";
import { PushBench } from "#test/support/push-bench";
import { eventually } from "#test/support/push-rig";
import { sha256Of } from "#test/support/wire-objects";
import { benchKey, keyFilePath, keyManifest, writeBenchFolder } from "./bench-manifests.ts";

const keyCount = 100_000;

describe("a folder of 100,000 keys in 1,000 files", function () {
  this.timeout(180_000);
  let bench: PushBench;
  beforeEach(async () => {
    bench = await PushBench.open();
  });
  afterEach(() => bench.close());

  it("is served soon, in bounded memory, and one changed key is live at once", async () => {
    const [manifests, data] = [join(bench.folder, "manifests"), join(bench.folder, "data")];
    writeBenchFolder(manifests, "http://127.0.0.1:9", keyCount);
    const operator = bench.forkOperator("operator-process.ts", [manifests, data], { execArgv: ["--expose-gc"] });
    const started = await report(operator);
    const store = new SnapshotStore();
    const transport = unixSocketTransport({ socketPath: join(data, "push.sock"), replyTimeoutMs: 60_000 });
    const client = bench.client(transport, store, { deadMs: 60_000 });
    const connectedAt = performance.now();
    const cpuBefore = process.cpuUsage();
    client.start();
    await eventually("ready", () => store.pin().keyCount === keyCount, 60_000);
    const readyMs = performance.now() - connectedAt;
    const { user, system } = process.cpuUsage(cpuBefore);
    operator.send("report");
    const serving = await report(operator);

    const times: number[] = [];
    for (let round = 0; round < 11; round += 1) {
      const index = 700 + round * 9_001;
      const path = keyFilePath(manifests, index);
      const text = await readFile(path, "utf8");
      await writeFile(path, text.replace(keyManifest(index), keyManifest(index, "Suspended")));
      const writtenAt = performance.now();
      const digest = sha256Of(benchKey(index));
      await eventually("live", () => store.pin().findKey(digest)?.key.state === "Suspended");
      times.push(performance.now() - writtenAt);
    }
    times.sort((one, other) => one - other);
    operator.send("report");
    const changed = await report(operator);

    const rows: readonly [name: string, value: number, limit: number, isTime: boolean][] = [
      ["operator start, CPU ms", started.cpuMs, 20_000, true],
      ["operator start, ms", started.startedInMs, 20_000, true],
      ["full snapshot to ready, CPU ms of the proxy", (user + system) / 1_000, 4_000, true],
      ["operator heap per key, bytes", serving.heapBytes / keyCount, 4_096 + 400, false],
      ["one key changed, file written to live, median ms", times[5] ?? Number.NaN, 100, true],
      ["longest turn of the operator while keys changed, CPU ms", changed.longestTurnMs, 50, true],
    ];
    process.stdout.write(`    full snapshot to ready, ms on this machine now: ${readyMs.toFixed(0)}\n`);
    for (const [name, value, limit] of rows) {
      process.stdout.write(`    ${name}: ${value.toFixed(1)} (limit ${limit}) ${value <= limit ? "ok" : "MISSED"}\n`);
    }
    // The targets are for a machine of one's own: of times only three times as much is a failure here.
    const isFailure = ([, value, limit, isTime]: (typeof rows)[number]) => !(value <= limit * (isTime ? 3 : 1));
    assert.deepEqual(
      rows.filter(isFailure).map(([name]) => name),
      [],
    );
  });
});

interface Figures {
  readonly startedInMs: number;
  readonly cpuMs: number;
  readonly heapBytes: number;
  readonly longestTurnMs: number;
}

async function report(operator: ChildProcess): Promise<Figures> {
  const [figures] = await once(operator, "message");
  return figures;
}
