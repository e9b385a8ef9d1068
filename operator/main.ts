/**
 * Wires an operator together: source, compile, publisher, push server, status, admin. No logic of its own.
 *
 * Started by the command line, alone or beside a proxy. Proxies keep serving when it closes.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { Registry } from "prom-client";
import { createAdminApp, type SourceProblem } from "./admin.ts";
import { Compilation } from "./compile/compilation.ts";
import { generateSecret } from "./generate-key/generate-secret.ts";
import { keepStatus } from "./keep-status.ts";
import { Pipeline } from "./pipeline.ts";
import { Fleet } from "./push/fleet.ts";
import { listenOnSocket } from "./push/listen-on-socket.ts";
import { Publisher } from "./push/publisher.ts";
import { registerPushMetrics } from "./push/push-metrics.ts";
import { createPushServer } from "./push/push-server.ts";
import type { Problem } from "./resources/resource.ts";
import type { ListenAddress, OperatorIo, OperatorSettings, RunningOperator } from "./settings.ts";
import { FolderSource } from "./source/folder.ts";

/**
 * Reads the manifests once, opens its ports and then follows every change.
 *
 * @returns once proxies can connect and are served.
 * @throws when the folder cannot be read or a port cannot be opened; nothing is left running then.
 */
export async function runOperator(settings: OperatorSettings, { log }: OperatorIo): Promise<RunningOperator> {
  await using started = new AsyncDisposableStack();
  await mkdir(settings.dataFolder, { recursive: true, mode: 0o700 });

  const secretsFolder = join(settings.dataFolder, "secrets");
  const source = new FolderSource({
    folder: settings.manifests,
    secretsFolder,
    secretsFromEnvironment: settings.secretsFromEnvironment ?? [],
  });
  started.defer(() => source.close());
  const compilation = new Compilation(source.current(), settings.fleet, settings.quotaScope);
  const publisher = started.adopt(new Publisher(), (it) => it.close());
  const fleet = started.adopt(new Fleet(publisher), (it) => it.close("the operator stops"));
  const registry = new Registry();
  started.defer(registerPushMetrics(registry, publisher, fleet));

  const folder = join(settings.dataFolder, "status");
  const status = keepStatus({
    compilation,
    fleet,
    resources: source.current(),
    folder,
    log,
    awaited: settings.secretsAwaited,
  });
  started.defer(() => status.close());
  const mintSecrets = async () => {
    const made = await Promise.all(
      compilation.wantedSecrets().map(async (wanted) => {
        const path = await generateSecret(wanted, secretsFolder, randomBytes);
        if (path !== undefined) log.info(`ApiKey ${wanted.namespace}/${wanted.ownerName}: key written to ${path}`);
        return path;
      }),
    );
    // The folder watch would see them too, a moment later.
    if (made.some((path) => path !== undefined)) void source.refresh();
  };
  const pipeline = new Pipeline({
    compilation,
    publisher,
    async onPass(changes) {
      status.look(changes);
      await mintSecrets();
    },
    onFailure: (cause) => log.error("a pass over the configuration failed; the one before stays live", { cause }),
  });
  source.onChange((changes) => void pipeline.look(changes));
  await status.prepare();
  await source.start();
  // Also where the folder is empty: an operator that has read its source says so.
  await pipeline.look([]);
  status.tidy();

  const pushServer = createPushServer({
    publisher,
    fleet,
    operator: randomUUID(),
    ...settings.push,
    // Whoever may open the socket is the owner: its mode is 0600.
    onReport: (proxy, report) => status.take(proxy, report),
    authenticateProxy: async () => ({ name: "owner of the socket" }),
  });
  await listenOnSocket(pushServer, settings.pushSocket);
  started.defer(() => closeServer(pushServer));

  let admin: ListenAddress | undefined;
  if (settings.admin !== undefined) {
    const sourceProblems = () => source.current().problems.map(describe);
    const adminServer = createServer(createAdminApp({ publisher, fleet, registry, sourceProblems }));
    admin = await listen(adminServer, settings.admin);
    started.defer(() => closeServer(adminServer));
  }

  const running = started.move();
  return {
    addresses: { pushSocket: settings.pushSocket, admin },
    close: () => running.disposeAsync(),
  };
}

function describe({ origin, field, message }: Problem): SourceProblem {
  const where = `${origin.file}:${origin.line}`;
  return { where: field === undefined ? where : `${where} ${field}`, message };
}

async function listen(server: Server, address: ListenAddress): Promise<ListenAddress> {
  server.listen(address.port, address.host);
  await once(server, "listening");
  const bound = server.address();
  return { host: address.host, port: typeof bound === "object" && bound !== null ? bound.port : address.port };
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  // Streams that do not end by themselves would keep it open.
  setTimeout(() => server.closeAllConnections(), 200).unref();
  await closed;
}
