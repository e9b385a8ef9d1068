/**
 * The parts of an operator that do not depend on its source: compile, publish, push, status and the admin port.
 *
 * Each part that has a life is handed to the caller's stack, which closes the parts in reverse order. Called by
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

/** The compiler, the publisher and the fleet that it publishes to. */
export interface Core {
  readonly compilation: Compilation;
  readonly publisher: Publisher;
  readonly fleet: Fleet;
  readonly registry: Registry;
}

/** @param fleetSources tell a fleet of several operators of proxies that are not connected to this one */
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
 * Connects each pass of the compiler to status and to the Secrets that `generate` credentials wait for.
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
        `a reconcile pass failed and is tried again in ${retryInSeconds} s; until it succeeds, proxies and status may lack the last changes`,
        { cause },
      );
    },
    onFault: (id, cause) => log.error(`the operator fails on ${id} and refuses it; all other objects go on`, { cause }),
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
    // The socket's mode is 0600, so only its owner can open it.
    onReport: (proxy, report) => status.acceptReport(proxy, report),
    authenticateProxy: async () => ({ name: "owner of the socket" }),
  });
  await listenOnSocket(server, settings.pushSocket);
  started.defer(() => closeServer(server));
}

/** Opens the admin port. @returns its address; undefined when no admin port is configured */
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
