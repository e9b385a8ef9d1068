/**
 * Loaded into the programs of a soak (`--import`): says each time garbage was collected what is left. What a process
 * holds between two collections is a saw of tens of megabytes and many minutes, in which no leak can be seen.
 *
 * Each thread appends a JSON line to `SOAK_MEMORY_FILE` every `SOAK_MEMORY_MS`; needs `--expose-gc`.
 */
import { appendFileSync } from "node:fs";
import { getHeapStatistics } from "node:v8";
import { isMainThread, threadId } from "node:worker_threads";

const file = process.env["SOAK_MEMORY_FILE"];
if (file !== undefined) {
  const measure = () => {
    globalThis.gc();
    const { used_heap_size, external_memory } = getHeapStatistics();
    const line = {
      process: process.pid,
      thread: threadId,
      atSeconds: performance.timeOrigin / 1_000 + performance.now() / 1_000,
      liveBytes: used_heap_size + external_memory,
      ...(isMainThread && { residentBytes: process.memoryUsage.rss() }),
    };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  };
  setInterval(measure, Number(process.env["SOAK_MEMORY_MS"])).unref();
}
