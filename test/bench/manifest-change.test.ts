/** From a manifest on disk to the live snapshot of a proxy, with an operator of its own process. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { unixSocketTransport } from "#proxy/sync/socket-transport";
import { PushBench } from "#test/support/push-bench";
import { eventually } from "#test/support/push-rig";
import { sha256Of } from "#test/support/wire-objects";

const fileCount = 30;
const documentsPerFile = 100;

describe("one key changed in a file of 100 documents", function () {
  this.timeout(60_000);
  let bench: PushBench;
  beforeEach(async () => {
    bench = await PushBench.open();
  });
  afterEach(() => bench.close());

  it("is live within 100 ms, as a median", async () => {
    const [manifests, data] = [join(bench.folder, "manifests"), join(bench.folder, "data")];
    await mkdir(manifests);
    for (let file = 0; file < fileCount; file += 1) await writeFile(join(manifests, `${file}.yaml`), textOf(file));
    await once(bench.forkOperator("operator-process.ts", [manifests, data]), "message");
    const store = new SnapshotStore();
    const transport = unixSocketTransport({ socketPath: join(data, "push.sock"), replyTimeoutMs: 30_000 });
    bench.client(transport, store).start();
    await eventually("ready", () => store.pin().keyCount === fileCount * documentsPerFile, 30_000);

    const times: number[] = [];
    for (let round = 0; round < 11; round += 1) {
      const index = 700 + round * 101;
      const file = Math.floor(index / documentsPerFile);
      const path = join(manifests, `${file}.yaml`);
      await writeFile(`${path}.new`, textOf(file, index));
      const begunAt = performance.now();
      await rename(`${path}.new`, path);
      const digest = sha256Of(`sk-key-${index}`);
      await eventually("live", () => store.pin().findKey(digest)?.key.state === "Suspended");
      times.push(performance.now() - begunAt);
    }
    times.sort((one, other) => one - other);
    const median = times[5] ?? Number.NaN;
    process.stdout.write(
      `    file written to live: median ${median.toFixed(1)} ms, worst ${times[10]?.toFixed(1)} ms\n`,
    );
    assert.ok(median <= 100, `median ${median} ms`);
  });
});

function textOf(file: number, suspended = -1): string {
  return Array.from({ length: documentsPerFile }, (_, offset) => {
    const index = file * documentsPerFile + offset;
    return `apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: key-${index}, namespace: team-a, labels: {tier: gold}}
spec:
  state: ${index === suspended ? "Suspended" : "Active"}
  credentials:
  - {name: current, sha256: ${sha256Of(`sk-key-${index}`)}}
  models: {allow: ["claude-*", "gpt-5.4-mini"], deny: ["*-preview"]}
  clientCIDRs: {allow: ["10.0.0.0/8"]}
  limits:
  - {name: quota, unit: Cost, limit: "250", period: Month, timeZone: Europe/Berlin}
  - {name: tokens, unit: Tokens, limit: 200k, period: Minute}
`;
  }).join("---\n");
}
