/** The figures themselves; each leaves the cluster as it found it. */
import { numberedDigest, objectPath } from "#test/support/kubernetes/objects";
import { waitFor } from "#test/support/wait-for";
import { type ClusterUnderTest, startOperator } from "./cluster-under-test.ts";

export interface ClusterFigure {
  /** Id in docs/design/operations.md 5 or in docs/design/reliability.md. */
  readonly target: string;
  readonly name: string;
  readonly value: number;
  /** The most it may be. */
  readonly limit: number;
  readonly unit: string;
  readonly detail: string;
}

const rounds = 100;
/** Changes that come closer together are put together (J5); what is measured here is one change alone. */
const apartMs = 120;

/** T9: status of objects that nobody has written a status of, all at once. */
export async function measureStatus(cluster: ClusterUnderTest): Promise<ClusterFigure[]> {
  const { operator, plane, keyCount } = cluster;
  const beganAt = performance.now();
  const objects = keyCount + keyCount / 10 + keyCount / 50;
  const isWritten = async () => {
    const written = await operator.metric("tollgate_status_writes_total", { result: "written" });
    return written >= objects && (await operator.metric("tollgate_status_queue_depth")) === 0;
  };
  await waitFor("every status to be written", isWritten, { deadlineMs: 600_000, everyMs: 500 });
  const seconds = Math.round((performance.now() - beganAt) / 1_000);
  const detail = `${objects} objects in ${seconds} s; as they came and as they were acknowledged`;
  const value = (await statusWrites(plane)) / objects;
  return [{ target: "T9", name: "first status writes, per object", value, limit: 2, unit: "", detail }];
}

/** T9: one change of one object. */
export async function measureStatusOfChange(cluster: ClusterUnderTest): Promise<ClusterFigure[]> {
  const { operator, plane } = cluster;
  const isQuiet = async () => (await operator.metric("tollgate_status_queue_depth")) === 0;
  await waitFor("status to be quiet", isQuiet, { deadlineMs: 60_000, everyMs: 200 });
  const before = await statusWrites(plane);
  const changes = 20;
  for (let round = 0; round < changes; round += 1) {
    const change = { metadata: { status: String(round) } };
    await timeOf(cluster, round, change, (key) => key.metadata?.["status"] === String(round));
  }
  // Longer than anything is held back.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  await waitFor("status to be quiet", isQuiet, { deadlineMs: 60_000, everyMs: 200 });
  const value = ((await statusWrites(plane)) - before) / changes;
  const detail = `${changes} changes of as many keys`;
  return [{ target: "T9", name: "status writes, per change of one object", value, limit: 1, unit: "", detail }];
}

async function statusWrites({ auditLog }: ClusterUnderTest["plane"]): Promise<number> {
  return (await auditLog()).filter(({ subresource, verb }) => subresource === "status" && verb === "patch").length;
}

/** T1: a change that widens, from the API server's answer to the last proxy that holds it. */
export async function measureApply(cluster: ClusterUnderTest): Promise<ClusterFigure[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, apartMs));
    const change = { metadata: { round: String(round) } };
    times.push(await timeOf(cluster, round, change, (key) => key.metadata?.["round"] === String(round)));
  }
  const detail = `${rounds} changes, slowest ${Math.round(Math.max(...times))} ms`;
  return [
    {
      target: "T1",
      name: "applied to live everywhere, p50",
      value: quantile(times, 0.5),
      limit: 100,
      unit: "ms",
      detail,
    },
    {
      target: "T1",
      name: "applied to live everywhere, p99",
      value: quantile(times, 0.99),
      limit: 500,
      unit: "ms",
      detail,
    },
  ];
}

/** T2: a suspended key, from the API server's answer to the last proxy that refuses it. */
export async function measureRevocation(cluster: ClusterUnderTest): Promise<ClusterFigure[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    times.push(await timeOf(cluster, round, { state: "Suspended" }, (key) => key.state === "Suspended"));
    await timeOf(cluster, round, { state: "Active" }, (key) => key.state === "Active");
  }
  const detail = `${rounds} keys, p50 ${quantile(times, 0.5).toFixed(1)} ms, slowest ${Math.round(Math.max(...times))} ms`;
  return [
    {
      target: "T2",
      name: "suspended to refused everywhere, p99",
      value: quantile(times, 0.99),
      limit: 1_000,
      unit: "ms",
      detail,
    },
  ];
}

/** T7: bytes that one proxy is sent for one changed key. */
export async function measureWire(cluster: ClusterUnderTest): Promise<ClusterFigure[]> {
  const before = cluster.wire.bytesDown;
  const changes = 20;
  for (let round = 0; round < changes; round += 1) {
    const change = { metadata: { wire: String(round) } };
    await timeOf(cluster, round, change, (key) => key.metadata?.["wire"] === String(round));
  }
  const value = (cluster.wire.bytesDown - before) / changes;
  const detail = `${changes} changes, heartbeats included`;
  return [
    { target: "T7", name: "wire cost of one changed key, per proxy", value, limit: 2_048, unit: "bytes", detail },
  ];
}

/** J1, T9: an operator that comes back to an unchanged cluster pushes and writes nothing. */
export async function measureRestart(cluster: ClusterUnderTest): Promise<ClusterFigure[]> {
  const before = cluster.wire.bytesDown;
  const written = await statusWrites(cluster.plane);
  cluster.operator.signal("SIGKILL");
  await cluster.operator.ended();
  cluster.operator = await startOperator(cluster.rig, cluster.kubeconfig);
  const readyAt = performance.now();
  const isBack = async () =>
    (await cluster.operator.fleet()).proxies.filter(({ isReady }) => isReady).length === cluster.proxies.length;
  await waitFor("all proxies to be back", isBack, { deadlineMs: 60_000, everyMs: 50 });
  const inSyncSeconds = (performance.now() - readyAt) / 1_000;
  const sent = cluster.wire.bytesDown - before;
  const leads = async () => (await cluster.operator.metric("tollgate_leader")) === 1;
  await waitFor("the Lease", leads, { deadlineMs: 60_000, everyMs: 100 });
  // Longer than it listens for proxies that it has not heard of.
  await new Promise((resolve) => setTimeout(resolve, 35_000));
  const writes = (await statusWrites(cluster.plane)) - written;
  return [
    {
      target: "J1",
      name: "sent to a proxy by an operator that came back",
      value: sent,
      limit: 2_048,
      unit: "bytes",
      detail: "operator killed, nothing changed",
    },
    {
      target: "J11",
      name: `${cluster.proxies.length} proxies come back at once: all in sync`,
      value: inSyncSeconds,
      limit: 5,
      unit: "s",
      detail: "after the operator that was started again is ready",
    },
    { target: "T9", name: "status writes at a restart", value: writes, limit: 0, unit: "", detail: "nothing changed" },
  ];
}

/** T12: a watch cut while the API server forgets versions; scaled by `TOLLGATE_ABSENCE_MS`. */
export async function measureOutage(cluster: ClusterUnderTest): Promise<ClusterFigure[]> {
  const absenceMs = Number(process.env["TOLLGATE_ABSENCE_MS"] ?? 10_000);
  const { plane, relay, keyCount, proxies } = cluster;
  relay.refuse(true);
  relay.reset();
  const deleted = [1, 2, 3].map((index) => keyCount - index);
  for (const index of deleted) await plane.must("DELETE", objectPath("ApiKey", "default", `key-${index}`));
  // One that was started anew remembers no versions of before: 410 on return. Only the operator's connection is cut, so
  // by then it has served others: it reads a kind from its store when first asked for it.
  await plane.kill("kube-apiserver");
  await plane.start("kube-apiserver");
  for (const kind of ["ApiKey", "Channel", "ModelRoute", "Account", "Secret", "ConfigMap"]) {
    const isServed = () =>
      plane.must("GET", `${objectPath(kind, "default")}?resourceVersion=0&limit=1`).then(Boolean, () => false);
    await waitFor(`${kind} to be served`, isServed, { deadlineMs: 60_000, everyMs: 100 });
  }
  await new Promise((resolve) => setTimeout(resolve, absenceMs));
  relay.refuse(false);
  const backAt = performance.now();
  const isConverged = () => proxies.every(({ store }) => store.pin().keyCount === keyCount - deleted.length);
  await waitFor("the deletions to arrive", isConverged, { deadlineMs: 60_000, everyMs: 2 });
  const value = (performance.now() - backAt) / 1_000;
  const detail = `${absenceMs / 1_000} s away, ${deleted.length} deletions meanwhile, none lost`;
  return [{ target: "T12", name: "watch cut, 410 on return: converged", value, limit: 5, unit: "s", detail }];
}

/** Milliseconds from the API server's answer until every proxy holds the key so. */
async function timeOf(
  { plane, proxies }: ClusterUnderTest,
  index: number,
  spec: object,
  isSo: (key: { readonly state?: string; readonly metadata?: Readonly<Record<string, string>> }) => boolean,
): Promise<number> {
  const digest = numberedDigest(index);
  await plane.must("PATCH", objectPath("ApiKey", "default", `key-${index}`), { spec }, "application/merge-patch+json");
  const appliedAt = performance.now();
  const holds = ({ store }: (typeof proxies)[number]) => {
    const found = store.pin().findKey(digest);
    return found !== undefined && isSo(found.key);
  };
  await waitFor("every proxy", () => proxies.every(holds), { deadlineMs: 30_000, everyMs: 1 });
  return performance.now() - appliedAt;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
