/**
 * A whole operator in a process of its own, so that a test measures the proxy alone. Arguments: folder of manifests,
 * data folder. Tells its parent when proxies can connect.
 */
import { join } from "node:path";
import { runOperator } from "../../operator/main.ts";

const [manifests = "", dataFolder = ""] = process.argv.slice(2);
const begunAt = performance.now();
const operator = await runOperator(
  {
    manifests,
    dataFolder,
    pushSocket: join(dataFolder, "push.sock"),
    admin: undefined,
    fleet: {
      requireAccount: false,
      unboundedOutput: "Reserve",
      inputEstimate: "Estimate",
      defaultOutputReserve: 4096,
      revocation: "Finish",
      egressAllowCIDRs: [],
    },
    push: { heartbeatMs: 10_000, deadMs: 30_000 },
  },
  {
    log: {
      info() {},
      warn: (message) => process.stderr.write(`${message}\n`),
      error: (message) => process.stderr.write(`${message}\n`),
    },
  },
);
process.send?.({ startedInMs: performance.now() - begunAt });
process.on("disconnect", () => void operator.close().then(() => process.exit(0)));
