/**
 * `tollgate standalone`: runs operator and proxies on one machine, from a watched folder of manifests.
 *
 * The operator runs in this process and the proxies in child processes of the same program, over the same push protocol
 * as in a cluster. With more than one proxy and no shared store each proxy counts for itself, so rates hold for each
 * proxy and objects with hard quotas are refused (`NeedsSharedStore`); with `--quota-store Redis` all hold over all of
 * them. It ends with its proxies, and its exit status tells whether all of them ended cleanly.
 */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { checkProxyKeyFiles } from "#cli/checks/check-key-files";
import { checkPorts, type WantedPort, wantedPort } from "#cli/checks/check-ports";
import { makeWritableFolder } from "#cli/checks/writable-folder";
import { openLogger, type ProgramIo } from "#cli/program-io";
import { ProxyProcesses } from "#cli/proxy-processes";
import { readEnvironmentSecrets, toFolderOperatorSettings } from "#cli/settings/operator-settings";
import { parseAddress } from "#cli/settings/parse-value";
import { refuseInconsistentSettings, toProxyFlags, toQuotaStore } from "#cli/settings/proxy-settings";
import { type Settings, UsageError } from "#cli/settings/read-settings";
import { runOperator } from "#operator/main";
import type { RunningOperator } from "#operator/settings";
import { sharedEpochPath } from "#proxy/admit/open-ledger";
import { stores } from "#proxy/admit/stores";
import type { Logger } from "#proxy/observe/logger";

/** The message of a standalone gateway to the process that started it, for each proxy that has opened its ports. */
export interface StandaloneMessage {
  readonly kind: "started";
  /** Number of the proxy, from 0. */
  readonly index: number;
  readonly data: string;
  readonly admin: string;
  readonly operatorAdmin: string | undefined;
}

/**
 * @param program `cli/main.ts`, started again for each proxy
 * @param tellParent undefined without a parent that listens
 */
export async function runStandalone(
  settings: Settings,
  io: ProgramIo,
  program: string,
  tellParent: ((message: StandaloneMessage) => void) | undefined,
): Promise<number> {
  const count = settings.number("processes");
  checkProcesses(settings, count);
  refuseInconsistentSettings(settings);
  await checkProxyKeyFiles(settings);
  await checkPorts(portsOf(settings, count));
  const log = openLogger(settings, io);
  const operatorSettings = toFolderOperatorSettings(settings);
  makeWritableFolder(operatorSettings.dataFolder, "--data");
  makeWritableFolder(dirname(operatorSettings.pushSocket), "--push-socket");
  const { secrets, awaited, variables } = readEnvironmentSecrets(settings, io.environment);
  const quotaScope = count > 1 && !stores[toQuotaStore(settings)].isShared ? "PerProxy" : "Exact";
  const operator = await runOperator(
    { ...operatorSettings, quotaScope, secretsFromEnvironment: secrets, secretsAwaited: awaited },
    { log },
  );
  log.info("operating", { admin: operator.addresses.admin, manifests: operatorSettings.manifests });

  const mayBegin = !existsSync(sharedEpochPath(resolve(settings.text("data"))));
  // Only the operator needs the values of upstream credentials.
  const hidden = new Set(variables);
  const environment = Object.fromEntries(
    Object.entries(io.environment).filter(([name]) => !hidden.has(name) && !name.startsWith("TOLLGATE_")),
  );
  const proxies = new ProxyProcesses({
    program,
    count,
    environment,
    log,
    flags: (index) => proxyFlags(settings, operator.addresses.pushSocket, index, count, mayBegin),
    onStarted: (addresses, index) =>
      tellParent?.({ kind: "started", index, ...addresses, operatorAdmin: describeAdmin(operator) }),
  });
  io.stop.addEventListener("abort", () => proxies.stop(), { once: true });
  io.cut.addEventListener("abort", () => proxies.kill(), { once: true });
  if (io.stop.aborted) proxies.stop();
  const status = await proxies.run();
  await operator.close();
  logEnd(log, status);
  return status;
}

function describeAdmin(operator: RunningOperator): string | undefined {
  const { admin } = operator.addresses;
  return admin === undefined
    ? undefined
    : `http://${admin.host.includes(":") ? `[${admin.host}]` : admin.host}:${admin.port}`;
}

function logEnd(log: Logger, status: number): void {
  if (status === 0) log.info("stopped");
  else log.error("stopped after a failure");
}

/** The ports that the operator and each proxy open alone. */
function portsOf(settings: Settings, count: number): WantedPort[] {
  const admin = wantedPort(settings, "admin");
  return [
    ...(count > 1 ? [] : [wantedPort(settings, "listen")]),
    ...Array.from({ length: count }, (_, index) => ({ ...admin, port: admin.port === 0 ? 0 : admin.port + index })),
    wantedPort(settings, "operatorAdmin"),
  ];
}

function checkProcesses(settings: Settings, count: number): void {
  if (count === 1) return;
  const problems: string[] = [];
  const { isDurable, isShared } = stores[toQuotaStore(settings)];
  if (isDurable && !isShared) {
    problems.push(
      "--processes above 1 needs a shared store for hard quotas, and the embedded one serves a single proxy: use --quota-store Redis with a Redis or Valkey that all of them reach, or --quota-store Memory, with which each proxy counts for itself and forgets its counts when it ends",
    );
  }
  if (parseAddress(settings.text("listen")).port === 0)
    problems.push("--processes above 1 needs a fixed port in --listen");
  if (problems.length > 0) throw new UsageError(problems);
}

/** @param mayBegin with a data folder that is new these proxies are the first in a shared store that is empty */
function proxyFlags(settings: Settings, pushSocket: string, index: number, count: number, mayBegin: boolean): string[] {
  const admin = parseAddress(settings.text("admin"));
  const host = admin.host.includes(":") ? `[${admin.host}]` : admin.host;
  return toProxyFlags(settings, {
    operator: `unix:${pushSocket}`,
    proxyName: `proxy-${index}`,
    sharePort: String(count > 1),
    ...(mayBegin && stores[toQuotaStore(settings)].isShared && { "quota.acceptEmpty": "true" }),
    admin: `${host}:${admin.port === 0 ? 0 : admin.port + index}`,
  });
}
