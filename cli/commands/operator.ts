/** `tollgate operator`: compiles the resources of a cluster, or of a folder, and pushes the result to proxies. Wiring only. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { runOperator } from "../../operator/main.ts";
import { toOperatorSettings } from "../operator-settings.ts";
import { openLogger, type ProgramIo } from "../program-io.ts";
import type { Settings } from "../read-settings.ts";

export async function runOperatorCommand(settings: Settings, io: ProgramIo): Promise<number> {
  const log = openLogger(settings, io);
  const operatorSettings = toOperatorSettings(settings);
  mkdirSync(operatorSettings.dataFolder, { recursive: true, mode: 0o700 });
  mkdirSync(dirname(operatorSettings.pushSocket), { recursive: true, mode: 0o700 });
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
