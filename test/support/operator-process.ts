/**
 * A whole operator in a process of its own, so that a test measures the proxy alone. Arguments: folder of manifests,
 * data folder. Tells its parent when proxies can connect, and its figures again whenever it is sent a message.
 */
import { runOperator } from "#operator/main";
import { folderSettings } from "./folder-settings.ts";

const [manifests = "", dataFolder = ""] = process.argv.slice(2);
const begunAt = performance.now();
/** CPU time of the longest turn: unlike a delay, other programs on the machine do not add to it. */
let longestTurnMicros = 0;
let lastTurn = process.threadCpuUsage();
const turn = setInterval(() => {
  const { user, system } = process.threadCpuUsage(lastTurn);
  longestTurnMicros = Math.max(longestTurnMicros, user + system);
  lastTurn = process.threadCpuUsage();
}, 1);
turn.unref();
const operator = await runOperator(folderSettings(manifests, dataFolder), {
  log: {
    info() {},
    warn: (message) => process.stderr.write(`${message}\n`),
    error: (message) => process.stderr.write(`${message}\n`),
  },
});
const tell = (): void => {
  const longestTurnMs = longestTurnMicros / 1_000;
  const { user, system } = process.cpuUsage();
  globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  process.send?.({
    startedInMs: performance.now() - begunAt,
    cpuMs: (user + system) / 1_000,
    heapBytes: heapUsed,
    longestTurnMs,
  });
  // The collection just forced is no turn of the operator's.
  setTimeout(() => {
    longestTurnMicros = 0;
  }, 20);
};
tell();
process.on("message", tell);
process.on("disconnect", () => void operator.close().then(() => process.exit(0)));
