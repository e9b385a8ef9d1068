/**
 * `tollgate operator`: compiles the resources of a cluster or a folder and pushes the result to proxies. Wiring only.
 */
import { dirname } from "node:path";
import { checkEndpointKeyFiles } from "#cli/checks/check-key-files";
import { checkPorts, wantedPort } from "#cli/checks/check-ports";
import { makeNamedFolder, makeWritableFolder } from "#cli/checks/writable-folder";
import { openLogger, type ProgramIo } from "#cli/program-io";
import { toOperatorSettings } from "#cli/settings/operator-settings";
import type { Settings } from "#cli/settings/read-settings";
import { runOperator } from "#operator/main";

export async function runOperatorCommand(settings: Settings, io: ProgramIo): Promise<number> {
  const log = openLogger(settings, io);
  const operatorSettings = toOperatorSettings(settings);
  const ports = [wantedPort(settings, "operatorAdmin")];
  if (operatorSettings.cluster !== undefined) {
    if (operatorSettings.cluster.push.tls.mode === "Files") checkEndpointKeyFiles(settings);
    ports.push(wantedPort(settings, "push.listen"));
  }
  await checkPorts(ports);
  // In a cluster all state is in the cluster; the socket is opened there as well.
  const make = operatorSettings.cluster === undefined ? makeWritableFolder : makeNamedFolder;
  make(operatorSettings.dataFolder, "--data");
  makeWritableFolder(dirname(operatorSettings.pushSocket), "--push-socket");
  const operator = await runOperator(operatorSettings, { log });
  log.info("operating", { push: operator.addresses.pushSocket, admin: operator.addresses.admin });
  await aborted(io.stop);
  await operator.close();
  log.info("stopped");
  return 0;
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
