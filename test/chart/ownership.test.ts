/**
 * What the operators make for themselves lives as long as the release: it outlives any change of their ServiceAccount and settings,
 * which the cluster's garbage collector sees, and goes when the release is uninstalled.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { findProgram, skipLoudly } from "#test/support/cluster/programs";
import { chartFolder } from "#test/support/cluster/render-chart";
import { type ControlPlane, startControlPlane } from "#test/support/kube-control-plane";
import { startChartOperator } from "#test/support/kubernetes/chart-operator";
import type { OperatorUnderTest } from "#test/support/kubernetes/cluster-rig";
import { startGarbageCollector } from "#test/support/kubernetes/garbage-collector";
import { waitFor } from "#test/support/wait-for";

const run = promisify(execFile);
const core = "/api/v1/namespaces/gateway";
const kept = [
  `${core}/secrets/tollgate-push-ca`,
  `${core}/configmaps/tollgate-push-ca`,
  `${core}/secrets/tollgate-last-good`,
];
const lease = "/apis/coordination.k8s.io/v1/namespaces/gateway/leases/tollgate-operator";

interface Metadata {
  readonly uid: string;
  readonly ownerReferences?: readonly { readonly kind: string; readonly name: string; readonly uid: string }[];
}

/** What earlier versions had own it, and what may be replaced. */
interface OwnerKind {
  readonly kind: string;
  readonly plural: string;
}
const account: OwnerKind = { kind: "ServiceAccount", plural: "serviceaccounts" };
const settings: OwnerKind = { kind: "ConfigMap", plural: "configmaps" };

describe("what the operators make for themselves", function () {
  this.timeout(180_000);
  let plane: ControlPlane;
  let helm = "";
  let endCollector: () => Promise<void> = async () => {};
  let operator: OperatorUnderTest | undefined;

  before(async function () {
    const found = findProgram("helm");
    if (found === undefined) return skipLoudly(this, "no helm");
    helm = found;
    const started = await startControlPlane();
    if (typeof started === "string") return skipLoudly(this, started);
    plane = started;
    await plane.must("POST", "/api/v1/namespaces", { metadata: { name: "gateway" } });
    const end = await startGarbageCollector(plane);
    if (end === undefined) return skipLoudly(this, "no kube-controller-manager");
    endCollector = end;
  });

  after(async () => {
    await operator?.close();
    await endCollector();
    await plane?.stop();
  });

  async function release(...words: string[]): Promise<void> {
    const environment = { ...process.env, KUBECONFIG: await plane.kubeconfig(), HOME: plane.folder };
    await run(helm, [...words, "--namespace", "gateway"], { env: environment });
  }

  /** The one that the release's Deployment would run now. */
  async function restartOperator(name: string, account: string): Promise<void> {
    await operator?.close();
    const { data } = (await plane.must("GET", `${core}/configmaps/tollgate-operator`)) as {
      data: { "settings.yaml": string };
    };
    operator = await startChartOperator({
      plane,
      name,
      namespace: "gateway",
      account,
      settings: data["settings.yaml"],
    });
    await operator.waitUntilReady(30_000);
  }

  async function metadataOf(path: string): Promise<Metadata | undefined> {
    const { status, body } = await plane.call("GET", path);
    return status === 200 ? (body as { metadata: Metadata }).metadata : undefined;
  }

  /** Those of all that are kept; undefined where one is missing. */
  async function uids(): Promise<readonly string[] | undefined> {
    const all = await Promise.all(kept.map(metadataOf));
    return all.every((metadata) => metadata !== undefined) ? all.map(({ uid }) => uid) : undefined;
  }

  async function referenceTo({ kind, plural }: OwnerKind): Promise<object> {
    const { uid } = (await metadataOf(`${core}/${plural}/tollgate-operator`)) as Metadata;
    return { apiVersion: "v1", kind, name: "tollgate-operator", uid };
  }

  /** Resolves when the collector has removed something whose owner, the one named so, is gone. */
  async function collected(owner: OwnerKind): Promise<() => Promise<void>> {
    const path = `${core}/configmaps/of-${owner.plural}`;
    const metadata = { name: `of-${owner.plural}`, ownerReferences: [await referenceTo(owner)] };
    await plane.must("POST", `${core}/configmaps`, { metadata });
    return async () => {
      await waitFor(
        `the collector to have seen that the ${owner.kind} is gone`,
        async () => (await metadataOf(path)) === undefined,
        { deadlineMs: 90_000, everyMs: 200 },
      );
    };
  }

  /** An operator gives all of it the owner again, after it was made by a version that had another own it. */
  async function passOnFrom(owner: OwnerKind): Promise<void> {
    const ownerReferences = [await referenceTo(owner)];
    for (const path of kept)
      await plane.must("PATCH", path, { metadata: { ownerReferences } }, "application/merge-patch+json");
    await restartOperator(`after-${owner.plural}`, "tollgate-operator");
    const isOurs = async (path: string) =>
      (await metadataOf(path))?.ownerReferences?.some(({ name }) => name === "tollgate-owner") === true;
    for (const path of [...kept, lease])
      await waitFor(`the owner of ${path}`, () => isOurs(path), { deadlineMs: 30_000, everyMs: 100 });
  }

  it("outlives settings that are replaced, also what a version made that had these own it", async () => {
    await release("install", "tollgate", chartFolder);
    await restartOperator("first", "tollgate-operator");
    const made = await waitFor("all of it", uids, { deadlineMs: 30_000, everyMs: 100 });
    await passOnFrom(settings);
    const isCollected = await collected(settings);
    // As a tool does that replaces what has changed.
    await plane.must("DELETE", `${core}/configmaps/tollgate-operator`);
    await release("upgrade", "tollgate", chartFolder);
    await isCollected();
    assert.deepEqual(await uids(), made);
  });

  it("outlives a change of their account, also what an earlier version made", async () => {
    const made = await uids();
    assert.ok(made);
    await passOnFrom(account);
    const isCollected = await collected(account);
    await release("upgrade", "tollgate", chartFolder, "--set", "operator.serviceAccount.name=other");
    await isCollected();
    await restartOperator("third", "other");
    assert.deepEqual(await uids(), made);
  });

  it("goes with the release", async () => {
    await release("uninstall", "tollgate");
    await operator?.close();
    for (const path of [...kept, lease])
      await waitFor(`${path} to be gone`, async () => (await metadataOf(path)) === undefined, {
        deadlineMs: 90_000,
        everyMs: 200,
      });
  });
});
