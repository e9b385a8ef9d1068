/**
 * The part of an operator that does not care where its resources come from: compile, publish, push, status, admin.
 *
 * Everything that has a life is handed to the stack of whoever starts it, which ends it in reverse order. Called by
 * `run-from-folder.ts` and `run-in-cluster.ts`.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { Registry } from "prom-client";
import { createAdminApp, type ProblemReport } from "#operator/admin";
import { Compilation } from "#operator/compile/compilation";
import { registerKeyExpiry } from "#operator/key-expiry/expiring-keys";
import { Fleet, type FleetOptions } from "#operator/push/fleet";
import { listenOnSocket } from "#operator/push/listen-on-socket";
import { Publisher } from "#operator/push/publisher";
import { registerPushMetrics } from "#operator/push/push-metrics";
import { createPushServer } from "#operator/push/push-server";
import type { ResourceSet, SourceProblem } from "#operator/resources/resource";
import type { CommonSettings, ListenAddress, OperatorLog, OperatorSettings } from "#operator/settings";
import { ReconcileLoop, type ReconcileLoopOptions } from "./reconcile-loop.ts";
import type { StatusLoop } from "./status-loop.ts";

/** What compiles and publishes, and who it is published to. */
export interface Core {
  readonly compilation: Compilation;
  readonly publisher: Publisher;
  readonly fleet: Fleet;
  readonly registry: Registry;
}

/** @param fleetSources where a fleet of several operators learns of proxies that are not connected to this one */
export function startCore(
  started: AsyncDisposableStack,
  settings: OperatorSettings,
  resources: ResourceSet,
  fleetSources: FleetOptions = {},
): Core {
  const { cluster } = settings;
  const makesKeys = cluster === undefined || cluster.generatesKeys;
  const reach = cluster && { watchNamespaces: cluster.watchNamespaces, readsNamespaces: cluster.watchesNamespaces };
  const compilation = new Compilation(resources, settings.fleet, settings.quotaScope, makesKeys, reach);
  const publisher = started.adopt(new Publisher(), (it) => it.close());
  const fleet = started.adopt(new Fleet(publisher, { graceMs: settings.push.deadMs, ...fleetSources }), (it) =>
    it.close("the operator stops"),
  );
  const registry = new Registry();
  started.defer(registerPushMetrics(registry, publisher, fleet, compilation.refusedIds));
  started.defer(registerKeyExpiry(registry, publisher));
  return { compilation, publisher, fleet, registry };
}

/**
 * Connects passes to what follows each: status, and the Secrets that `generate` credentials wait for.
 *
 * @param makeKeys never fails; called after each pass
 */
export function startReconcileLoop(
  started: AsyncDisposableStack,
  { compilation, publisher }: Core,
  status: StatusLoop,
  makeKeys: () => Promise<void> | void,
  log: OperatorLog,
  versions: Pick<ReconcileLoopOptions, "progress" | "uids"> = {},
): ReconcileLoop {
  const pipeline = new ReconcileLoop({
    ...versions,
    compilation,
    publisher,
    async onPass(changes) {
      status.reconcile(changes);
      await makeKeys();
    },
    onFailure(cause, retryInMs) {
      const retryInSeconds = Math.ceil(retryInMs / 1_000);
      log.error(
        `a pass over the configuration failed and is tried again in ${retryInSeconds} s; until it succeeds proxies and status may lack what changed`,
        { cause },
      );
    },
    onFault: (id, cause) =>
      log.error(`${id} is refused, as the operator itself fails on it; the rest goes on`, { cause }),
  });
  return started.adopt(pipeline, (it) => it.close());
}

/** Opens the Unix socket for proxies of this machine. */
export async function openPushSocket(
  started: AsyncDisposableStack,
  { publisher, fleet }: Core,
  settings: CommonSettings,
  status: StatusLoop,
): Promise<void> {
  const server = createPushServer({
    publisher,
    fleet,
    operator: randomUUID(),
    ...settings.push,
    // Whoever may open the socket is the owner: its mode is 0600.
    onReport: (proxy, report) => status.acceptReport(proxy, report),
    authenticateProxy: async () => ({ name: "owner of the socket" }),
  });
  await listenOnSocket(server, settings.pushSocket);
  started.defer(() => closeServer(server));
}

/** Opens the admin port. @returns where it listens; undefined when none is wanted */
export async function openAdmin(
  started: AsyncDisposableStack,
  { compilation, publisher, fleet, registry }: Core,
  settings: CommonSettings,
  resources: ResourceSet,
): Promise<ListenAddress | undefined> {
  if (settings.admin === undefined) return undefined;
  const sourceProblems = () => resources.problems.map(describe);
  const server = createServer(createAdminApp({ compilation, publisher, fleet, registry, sourceProblems }));
  const address = await listen(server, settings.admin);
  started.defer(() => closeServer(server));
  return address;
}

function describe({ origin, field, message }: SourceProblem): ProblemReport {
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
