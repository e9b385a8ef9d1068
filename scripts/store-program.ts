/** The Redis that suites of the shared ledger run: the Debian package, installed where the machine has none. */
import { spawnSync } from "node:child_process";
import type { Gate } from "./gates.ts";

export const storeProgram: Gate = {
  name: "Redis for tests",
  run: () => {
    if (hasStore()) return true;
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const install = ["install", "-y", "-q", "--no-install-recommends", "redis-server"];
    for (const words of [["update", "-q"], install]) spawnSync("apt-get", words, { stdio: "ignore", env });
    if (hasStore()) return true;
    console.error("Neither redis-server nor valkey-server is installed, and the package sources have none for us.");
    return false;
  },
};

function hasStore(): boolean {
  return ["redis-server", "valkey-server"].some((name) => spawnSync(name, ["--version"]).status === 0);
}
