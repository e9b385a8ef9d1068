/** An API server full of objects, an operator that reads it, and many proxies: what the figures are measured on. */
import { PushClient } from "#proxy/sync/push-client";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { unixSocketTransport } from "#proxy/sync/socket-transport";
import { FaultRelay } from "#test/support/fault-relay";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { ClusterRig, type OperatorUnderTest } from "#test/support/kubernetes/cluster-rig";
import { createKeys, inParallel, objectPath } from "#test/support/kubernetes/objects";
import { waitFor } from "#test/support/wait-for";
import type { ClusterFigure } from "./figures.ts";

export interface SimulatedProxy {
  readonly client: PushClient;
  readonly store: SnapshotStore;
}

export interface ClusterUnderTest {
  readonly plane: ControlPlane;
  readonly rig: ClusterRig;
  /** The present one: a figure may replace it. */
  operator: OperatorUnderTest;
  readonly proxies: readonly SimulatedProxy[];
  /** Between the operator and the first proxy: counts what that is sent. */
  readonly wire: FaultRelay;
  /** Between the API server and the operator. */
  readonly relay: FaultRelay;
  readonly kubeconfig: string;
  readonly keyCount: number;
  readonly startFigures: readonly ClusterFigure[];
}

export interface ClusterOptions {
  readonly keyCount: number;
  readonly proxyCount: number;
  readonly progress: (text: string) => void;
}

/** Real durations, not the shortened ones of the tests. */
const operatorFlags: readonly string[] = [
  "--watch-silence=25s",
  "--watch-probe-timeout=10s",
  "--watch-backoff-min=500ms",
  "--watch-backoff-max=30s",
  "--lease-duration=15s",
  "--lease-renew-deadline=10s",
  "--lease-retry-period=2s",
  "--push-heartbeat=10s",
  "--push-dead=30s",
];

export async function openCluster(plane: ControlPlane, options: ClusterOptions): Promise<ClusterUnderTest> {
  const { keyCount, proxyCount, progress } = options;
  await plane.installCrds();
  await fill(plane, keyCount);
  const relay = await FaultRelay.start({ port: plane.port });
  const kubeconfig = await plane.kubeconfig({ port: relay.port });
  const rig = new ClusterRig(plane);
  progress("starting the operator");
  const startedAt = performance.now();
  const operator = await startOperator(rig, kubeconfig);
  const readyMs = performance.now() - startedAt;
  const wire = await FaultRelay.start({ path: operator.socket }, `${plane.folder}/wire.sock`);
  progress(`starting ${proxyCount} proxies`);
  const joinedAt = performance.now();
  const proxies = Array.from({ length: proxyCount }, (_, index) =>
    startProxy(index, index === 0 ? `${plane.folder}/wire.sock` : operator.socket),
  );
  const isFull = ({ store }: SimulatedProxy) => store.pin().keyCount === keyCount;
  await waitFor("all proxies to be full", () => proxies.every(isFull), { deadlineMs: 120_000 });
  progress(`all are full after ${Math.round(performance.now() - joinedAt)} ms, all in one process`);
  const detail = `node's start and the client's ${keyCount} objects included`;
  const startFigures: ClusterFigure[] = [
    { target: "T4", name: "operator: start to serving", value: readyMs / 1_000, limit: 3, unit: "s", detail },
  ];
  return { plane, rig, operator, proxies, wire, relay, kubeconfig, keyCount, startFigures };
}

export async function startOperator(rig: ClusterRig, kubeconfig: string): Promise<OperatorUnderTest> {
  const operator = await rig.startOperator("bench", { kubeconfig, flags: operatorFlags });
  await operator.waitUntilReady(60_000);
  return operator;
}

export async function closeCluster(cluster: ClusterUnderTest): Promise<void> {
  await Promise.all(cluster.proxies.map(({ client }) => client.close()));
  await cluster.rig.close();
  await cluster.wire.close();
  await cluster.relay.close();
}

function startProxy(index: number, socketPath: string): SimulatedProxy {
  const store = new SnapshotStore();
  const client = new PushClient({
    transport: unixSocketTransport({ socketPath, replyTimeoutMs: 30_000 }),
    store,
    proxy: `proxy-${index}`,
    build: "bench",
    heartbeatMs: 10_000,
    deadMs: 30_000,
  });
  client.start();
  return { client, store };
}

async function fill(plane: ControlPlane, keyCount: number): Promise<void> {
  const api = { apiVersion: "tollgate.dev/v1alpha1" };
  const create = (object: { kind: string; metadata: { name: string } }) =>
    plane.must("POST", objectPath(object.kind, "default"), object);
  await plane.must("POST", objectPath("Secret", "default"), {
    metadata: { name: "upstream" },
    stringData: { apiKey: "upstream-secret" },
  });
  await inParallel(keyCount / 50, (index) => {
    const credentials = [{ name: "main", secretKeyRef: { name: "upstream", key: "apiKey" } }];
    const spec = { provider: "OpenAI", credentials };
    return create({ ...api, kind: "Channel", metadata: { name: `channel-${index}` }, ...{ spec } });
  });
  await inParallel(keyCount / 10, (index) => {
    const targets = [{ name: "t", channelRef: { name: `channel-${index % (keyCount / 50)}` } }];
    const spec = { model: `model-${index}`, targets };
    return create({ ...api, kind: "ModelRoute", metadata: { name: `route-${index}` }, ...{ spec } });
  });
  await createKeys(plane, keyCount);
}
