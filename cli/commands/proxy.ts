/** `tollgate proxy`: serves model calls with the configuration that an operator pushes. Wiring only. */

import { checkProxyKeyFiles } from "#cli/checks/check-key-files";
import { checkPorts, wantedPort } from "#cli/checks/check-ports";
import { makeNamedFolder, makeWritableFolder } from "#cli/checks/writable-folder";
import { openAccessLog, openLogger, type ProgramIo } from "#cli/program-io";
import { toProxySettings } from "#cli/settings/proxy-settings";
import type { Settings } from "#cli/settings/read-settings";
import { stores } from "#proxy/admit/stores";
import { runProxy } from "#proxy/main";

/** The message of a proxy to the process that started it, over Node's own channel. */
export interface StartedMessage {
  readonly kind: "started";
  readonly data: string;
  readonly admin: string;
}

/** @param tellParent undefined without a parent that listens */
export async function runProxyCommand(
  settings: Settings,
  io: ProgramIo,
  tellParent: ((message: StartedMessage) => void) | undefined,
): Promise<number> {
  const proxySettings = toProxySettings(settings);
  await checkProxyKeyFiles(settings);
  await checkPorts([
    ...(proxySettings.sharePort ? [] : [wantedPort(settings, "listen")]),
    wantedPort(settings, "admin"),
  ]);
  // Quotas that need not survive have no file, and responses are then kept in memory as well.
  const make = stores[proxySettings.quota.store].isDurable ? makeWritableFolder : makeNamedFolder;
  make(proxySettings.dataFolder, "--data");
  makeWritableFolder(proxySettings.spoolFolder, "--spool");
  const log = openLogger(settings, io).child({ proxy: proxySettings.name });
  await runProxy(proxySettings, {
    log,
    accessLog: openAccessLog(settings, io),
    stop: io.stop,
    started: (addresses) => {
      const scheme = proxySettings.tls === undefined ? "http" : "https";
      const data = `${scheme}://${formatHost(addresses.data.host)}:${addresses.data.port}`;
      const admin = `http://${formatHost(addresses.admin.host)}:${addresses.admin.port}`;
      log.info("listening", { data, admin, process: process.pid });
      tellParent?.({ kind: "started", data, admin });
    },
  });
  log.info("stopped");
  return 0;
}

function formatHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
