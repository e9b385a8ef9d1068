/** Wires an operator that reads a watched folder of manifests (standalone mode). */
import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { KeyFiles } from "#operator/generate-key/key-files";
import type { FolderOperatorSettings, OperatorIo, RunningOperator } from "#operator/settings";
import { FolderSource } from "#operator/source/folder";
import { StatusFiles } from "#operator/status/status-files";
import { openAdmin, openPushSocket, startCore, startReconcileLoop } from "./core.ts";
import { lockFolder } from "./folder-lock.ts";
import { startStatusLoop } from "./status-loop.ts";

/**
 * Reads the manifests once, opens its ports and then follows every change.
 *
 * @returns once proxies can connect and are served.
 * @throws when the folder cannot be read or a port cannot be opened; nothing is left running then.
 */
export async function runFromFolder(settings: FolderOperatorSettings, { log }: OperatorIo): Promise<RunningOperator> {
  await using started = new AsyncDisposableStack();
  await mkdir(settings.dataFolder, { recursive: true, mode: 0o700 });
  // Before anything in it is written.
  if (settings.lockSocket !== undefined) await lockFolder(started, settings.lockSocket);
  const secretsFolder = join(settings.dataFolder, "secrets");
  const source = new FolderSource({
    folder: settings.manifests,
    secretsFolder,
    secretsFromEnvironment: settings.secretsFromEnvironment ?? [],
  });
  started.defer(() => source.close());
  const core = startCore(started, settings, source.current());
  const { compilation, fleet } = core;
  const sink = new StatusFiles({
    folder: join(settings.dataFolder, "status"),
    onFailure: (cause) => log.error("the operator cannot write a status file", { cause }),
    countOf: (kind) => compilation.countOf(kind),
  });
  const awaited = settings.secretsAwaited;
  const status = startStatusLoop({ compilation, fleet, resources: source.current(), sink, log, awaited });
  started.defer(() => status.close());

  const keyFiles = new KeyFiles({
    folder: secretsFolder,
    wanted: () => compilation.wantedSecrets(),
    randomBytes,
    log,
    // The folder watch would see them too, a moment later.
    onMade: () => void source.refresh(),
  });
  started.defer(() => keyFiles.close());
  const pipeline = startReconcileLoop(started, core, status, () => keyFiles.reconcile(), log);
  source.onChange((changes) => void pipeline.enqueue(changes));
  await status.prepare();
  await source.start();
  // Also for an empty folder: an operator that has read its source publishes that.
  if (await pipeline.enqueue([])) status.removeStale();

  await openPushSocket(started, core, settings, status);
  const admin = await openAdmin(started, core, settings, source.current());
  const running = started.move();
  return { addresses: { pushSocket: settings.pushSocket, admin }, close: () => running.disposeAsync() };
}
