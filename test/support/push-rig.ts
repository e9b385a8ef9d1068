/** An operator's push side and proxies' clients over a real Unix socket, for tests. */
import { mkdtemp, rm } from "node:fs/promises";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fleet } from "#operator/push/fleet";
import { listenOnSocket } from "#operator/push/listen-on-socket";
import { Publisher } from "#operator/push/publisher";
import { createPushServer } from "#operator/push/push-server";
import { objectId } from "#proxy/snapshot/object-id";
import type { WireObject } from "#proxy/snapshot/types.gen";
import { PushClient, type PushClientEvent, type PushClientOptions } from "#proxy/sync/push-client";
import type { PushTransport } from "#proxy/sync/push-transport";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { unixSocketTransport } from "#proxy/sync/socket-transport";

export interface RigProxy {
  readonly store: SnapshotStore;
  readonly client: PushClient;
  readonly events: PushClientEvent[];
}

export interface PushRig {
  readonly publisher: Publisher;
  readonly fleet: Fleet;
  readonly socketPath: string;
  proxy(name: string, store?: SnapshotStore): RigProxy;
  /** Ends the operator's side; the proxies stay. */
  stopOperator(): Promise<void>;
  close(): Promise<void>;
}

export interface PushRigOptions {
  readonly publisher?: Publisher;
  readonly operator?: string;
  readonly folder?: string;
}

export async function startPushRig(options: PushRigOptions = {}): Promise<PushRig> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "tollgate-push-")));
  const socketPath = join(folder, "push.sock");
  const publisher = options.publisher ?? new Publisher();
  const fleet = new Fleet(publisher);
  const server = createPushServer({
    publisher,
    fleet,
    operator: options.operator ?? "operator-a",
    heartbeatMs: 10_000,
    deadMs: 30_000,
    authenticateProxy: async () => ({ name: "owner" }),
  });
  await listenOnSocket(server, socketPath);
  const proxies: RigProxy[] = [];
  const stopOperator = async () => {
    fleet.close("the operator stops");
    await closeServer(server);
  };
  return {
    publisher,
    fleet,
    socketPath,
    proxy(name, store = new SnapshotStore()) {
      const events: PushClientEvent[] = [];
      const transport = unixSocketTransport({ socketPath, replyTimeoutMs: 5_000 });
      const client = pushClient(transport, store, { proxy: name, onEvent: (event) => events.push(event) });
      client.start();
      const proxy = { store, client, events };
      proxies.push(proxy);
      return proxy;
    },
    stopOperator,
    async close() {
      for (const { client } of proxies) await client.close();
      publisher.close();
      await stopOperator();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A proxy's client that is not started yet. */
export function pushClient(
  transport: PushTransport,
  store: SnapshotStore,
  options: Partial<PushClientOptions> = {},
): PushClient {
  const usual = { proxy: "proxy-1", build: "test", heartbeatMs: 10_000, deadMs: 30_000 };
  return new PushClient({ ...usual, ...options, transport, store });
}

export function byId(...objects: WireObject[]): Map<string, WireObject> {
  return new Map(objects.map((object) => [objectId(object), object]));
}

/** Polls for a state; fails with what it waited for. */
export async function eventually(what: string, condition: () => boolean, deadlineMs = 5_000): Promise<void> {
  const until = performance.now() + deadlineMs;
  while (!condition()) {
    if (performance.now() > until) throw new Error(`did not happen within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
