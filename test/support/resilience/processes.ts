/** Processes of a running gateway, as the kernel shows them. */
import { readFileSync } from "node:fs";
import type { Gateway } from "#test/support/start-gateway";
import { waitFor } from "#test/support/wait-for";

/** Process ids of the children of a process. */
export function childrenOf(processId: number): number[] {
  const text = readFileSync(`/proc/${processId}/task/${processId}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

/** Process id of the gateway's only proxy. */
export function proxyProcessOf(gateway: Gateway): Promise<number> {
  const { pid } = gateway.process;
  return waitFor("the proxy's process", () => (pid === undefined ? undefined : childrenOf(pid)[0]));
}

export function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    // A process that ended and was not waited for still takes signals.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${processId}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Resident memory in bytes. */
export function residentBytes(processId: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${processId}/status`, "utf8"))?.[1]) * 1024;
}
