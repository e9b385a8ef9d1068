/** The benchmark's figures of the configuration: readiness, memory, the cost and speed of one change, revocation. */
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { benchKey, keyFilePath, keyManifest, keysPerFile } from "./bench-manifests.ts";
import { atMost, type Figure } from "./figure.ts";
import { median } from "./processes.ts";
import type { BenchGateway } from "./run.ts";

export interface ConfigurationContext {
  readonly manifests: string;
  readonly keyCount: number;
  readonly gateway: BenchGateway;
  readonly progress: (text: string) => void;
}

export async function measureConfiguration(context: ConfigurationContext): Promise<readonly Figure[]> {
  const { gateway, keyCount } = context;
  const changes = await measureChanges(context, 9);
  return [
    atMost(`proxy ready after its start, ${keyCount} keys`, gateway.readyAfterMs / 1_000, 5, "s", "operator running"),
    atMost(
      "one key changed: file written to refused",
      median(changes.map((change) => change.revokedMs)),
      100,
      "ms",
      `slowest ${Math.round(Math.max(...changes.map((change) => change.revokedMs)))} ms of ${changes.length}`,
    ),
    atMost(
      "one key changed: file written to served again",
      median(changes.map((change) => change.restoredMs)),
      100,
      "ms",
      `slowest ${Math.round(Math.max(...changes.map((change) => change.restoredMs)))} ms`,
    ),
    atMost(
      "slowest revocation",
      Math.max(...changes.map((change) => change.revokedMs)) / 1_000,
      1,
      "s",
      `${changes.length} rounds`,
    ),
  ];
}

interface Change {
  readonly revokedMs: number;
  readonly restoredMs: number;
}

/** Suspends one key in its file of 100 and opens it again, as often as asked. */
async function measureChanges(
  { manifests, keyCount, gateway, progress }: ConfigurationContext,
  count: number,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (let round = 0; round < count; round += 1) {
    const index = Math.floor((keyCount / count) * round);
    const file = keyFilePath(manifests, index);
    const original = readFileSync(file, "utf8");
    const suspended = original.replace(keyManifest(index), keyManifest(index, "Suspended"));
    const revokedMs = await timeUntil(file, suspended, gateway, benchKey(index), 401);
    const restoredMs = await timeUntil(file, original, gateway, benchKey(index), 200);
    progress(
      `change of key ${index} (${statSync(file).size} bytes, ${keysPerFile} keys): refused after ${Math.round(revokedMs)} ms, served again after ${Math.round(restoredMs)} ms`,
    );
    changes.push({ revokedMs, restoredMs });
    await delay(300);
  }
  return changes;
}

/** From the end of the write to the first answer with this status. */
async function timeUntil(
  file: string,
  content: string,
  gateway: BenchGateway,
  key: string,
  status: number,
): Promise<number> {
  const descriptor = openSync(file, "w");
  writeSync(descriptor, content);
  fsyncSync(descriptor);
  closeSync(descriptor);
  const startMs = performance.now();
  while (performance.now() - startMs < 10_000) {
    const answer = await fetch(`${gateway.data}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await answer.arrayBuffer();
    if (answer.status === status) return performance.now() - startMs;
  }
  throw new Error(`no ${status} within 10 s of the change`);
}
