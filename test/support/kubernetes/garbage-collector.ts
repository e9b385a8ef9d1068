/**
 * The cluster's garbage collector, which removes what no owner is left of. Nothing else of kube-controller-manager runs.
 */
import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "#test/support/cluster/programs";
import type { ControlPlane } from "#test/support/kube-control-plane";

/** @returns how to end it; undefined where there is no kube-controller-manager */
export async function startGarbageCollector(plane: ControlPlane): Promise<(() => Promise<void>) | undefined> {
  const program = findProgram("kube-controller-manager");
  if (program === undefined) return undefined;
  const log = openSync(join(plane.folder, "kube-controller-manager.log"), "a");
  const flags = [
    `--kubeconfig=${await plane.kubeconfig()}`,
    "--controllers=garbage-collector-controller",
    "--leader-elect=false",
    "--secure-port=0",
  ];
  const child = spawn(program, flags, { stdio: ["ignore", log, log] });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  return async () => {
    process.off("exit", kill);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    if (child.exitCode !== null) return;
    kill();
    await ended;
  };
}
