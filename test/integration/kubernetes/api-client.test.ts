/** The API client against a real API server: every kind of call, preconditions, tokens that change, clear errors. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ApiClient, type CallRecord } from "#operator/kubernetes/api/api-client";
import { ApiError, isApiStatus } from "#operator/kubernetes/api/api-error";
import {
  configMapResource,
  isRecord,
  leaseResource,
  secretResource,
  tokenReviewResource,
} from "#operator/kubernetes/api/api-object";
import { ClusterAccess } from "#operator/kubernetes/api/cluster-access";
import { type ControlPlane, freePort } from "#test/support/kube-control-plane";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { waitFor } from "#test/support/wait-for";

describe("api client", function () {
  this.timeout(90_000);
  let plane: ControlPlane;
  let client: ApiClient;
  const calls: CallRecord[] = [];

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    client = new ApiClient(await ClusterAccess.load({ kubeconfig: await plane.kubeconfig() }), {
      timeoutMs: 5_000,
    });
    client.onCall((record) => calls.push(record));
  });

  after(async () => {
    client?.access.close();
    await plane?.stop();
  });

  it("creates, reads, updates with a precondition and lists in pages", async () => {
    const options = { namespace: "default" };
    for (const name of ["a", "b", "c"]) await client.create(configMapResource, { metadata: { name } }, options);
    const read = await client.get(configMapResource, "default", "a");
    const updated = await client.update(configMapResource, { ...read, data: { key: "1" } });
    assert.notEqual(updated.metadata.resourceVersion, read.metadata.resourceVersion);
    await assert.rejects(client.update(configMapResource, { ...read, data: { key: "2" } }), (error: unknown) => {
      return error instanceof ApiError && error.status === 409 && error.reason === "Conflict";
    });
    const names: string[] = [];
    let continueToken: string | undefined;
    do {
      const page = await client.list(configMapResource, { namespace: "default", limit: 2, continueToken });
      names.push(...page.items.map(({ metadata }) => metadata.name));
      continueToken = page.continueToken;
    } while (continueToken !== undefined);
    assert.deepEqual(names.filter((name) => name.length === 1).sort(), ["a", "b", "c"]);
  });

  it("says that a name is taken, and that there is no such object", async () => {
    const again = client.create(configMapResource, { metadata: { name: "a" } }, { namespace: "default" });
    await assert.rejects(again, (error: unknown) => error instanceof ApiError && error.reason === "AlreadyExists");
    await assert.rejects(client.get(secretResource, "default", "none"), (error: unknown) => isApiStatus(error, 404));
  });

  it("applies under its field manager and never to an object that was made anew", async () => {
    const object = { metadata: { name: "lease", namespace: "default" }, spec: { holderIdentity: "x" } };
    const { metadata } = await client.apply(leaseResource, object, { fieldManager: "tollgate" });
    const stranger = { ...object, metadata: { ...object.metadata, uid: "00000000-0000-0000-0000-000000000000" } };
    await assert.rejects(client.apply(leaseResource, stranger, { fieldManager: "tollgate" }), (error: unknown) =>
      isApiStatus(error, 422),
    );
    const gone = { ...stranger, metadata: { ...stranger.metadata, name: "gone" } };
    await assert.rejects(client.apply(leaseResource, gone, { fieldManager: "tollgate" }), (error: unknown) =>
      isApiStatus(error, 409),
    );
    const same = { ...object, metadata: { ...object.metadata, uid: metadata.uid ?? "" } };
    await client.apply(leaseResource, same, { fieldManager: "tollgate" });
  });

  it("watches from a version, with what was created, changed and deleted since", async () => {
    const { resourceVersion } = await client.list(configMapResource, { namespace: "default", limit: 1 });
    await client.create(configMapResource, { metadata: { name: "w" }, data: { a: "1" } }, { namespace: "default" });
    await plane.must("DELETE", "/api/v1/namespaces/default/configmaps/w");
    const seen: string[] = [];
    const options = { namespace: "default", resourceVersion, timeoutSeconds: 20, idleMs: 5_000 };
    for await (const event of client.watch(configMapResource, options)) {
      if (event.type === "BOOKMARK") continue;
      seen.push(`${event.type} ${event.object.metadata.name}`);
      if (event.type === "DELETED") break;
    }
    assert.deepEqual(seen, ["ADDED w", "DELETED w"]);
  });

  it("ends a silent watch, and one whose asker gave up", async () => {
    const { resourceVersion } = await client.list(leaseResource, { namespace: "kube-node-lease", limit: 1 });
    const options = { namespace: "kube-node-lease", resourceVersion, timeoutSeconds: 30 };
    const silent = async (): Promise<void> => {
      for await (const _event of client.watch(leaseResource, { ...options, idleMs: 300 }));
    };
    await assert.rejects(silent(), (error: unknown) => error instanceof ApiError && error.code === "silent");
    const stop = new AbortController();
    const given = async (): Promise<void> => {
      for await (const _event of client.watch(leaseResource, { ...options, idleMs: 9_000, signal: stop.signal }));
    };
    setTimeout(() => stop.abort(), 200);
    await assert.rejects(given(), (error: unknown) => !(error instanceof ApiError));
  });

  it("refuses a version that the API server has forgotten", async () => {
    const { resourceVersion } = await client.list(configMapResource, { namespace: "default", limit: 1 });
    await client.create(configMapResource, { metadata: { name: "later" } }, { namespace: "default" });
    // The API server remembers what happened since it started; what was before that is gone for it.
    await plane.kill("kube-apiserver");
    await plane.start("kube-apiserver");
    const options = { namespace: "default", resourceVersion, timeoutSeconds: 5, idleMs: 5_000 };
    const old = async (): Promise<void> => {
      for await (const _event of client.watch(configMapResource, options));
    };
    await assert.rejects(old(), (error: unknown) => isApiStatus(error, 410));
  });

  it("reviews tokens by audience", async () => {
    await plane.createAccount("default", "proxy", {});
    const token = await plane.tokenOf("default", "proxy", { audience: "tollgate-push" });
    for (const [audience, wanted] of [
      ["tollgate-push", true],
      ["another", false],
    ] as const) {
      const review = await client.create(tokenReviewResource, { spec: { token, audiences: [audience] } });
      const status = review["status"];
      assert.equal(isRecord(status) && status["authenticated"] === true, wanted, audience);
    }
  });

  it("reads its token again when it is refused, and asks once more", async () => {
    await plane.createAccount("default", "reader", {
      namespaced: { default: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }] },
    });
    const tokenFile = join(plane.folder, "token");
    await writeFile(tokenFile, "a token that is wrong");
    const kubeconfig = await plane.kubeconfig({ tokenFile });
    const reader = new ApiClient(await ClusterAccess.load({ kubeconfig }), { timeoutMs: 5_000 });
    await assert.rejects(reader.get(configMapResource, "default", "a"), (error: unknown) => isApiStatus(error, 401));
    await writeFile(tokenFile, `${await plane.tokenOf("default", "reader")}\n`);
    assert.equal((await reader.get(configMapResource, "default", "a")).metadata.name, "a");
    await assert.rejects(
      reader.get(secretResource, "default", "a"),
      (error: unknown) => error instanceof ApiError && error.status === 403 && error.reason === "Forbidden",
    );
    reader.access.close();
  });

  it("tells refused connections from silence, and names the outcome of every call", async () => {
    const kubeconfig = await plane.kubeconfig({ port: await freePort() });
    const lost = new ApiClient(await ClusterAccess.load({ kubeconfig }), { timeoutMs: 500 });
    await assert.rejects(lost.probe(), (error: unknown) => error instanceof ApiError && error.code === "unreachable");
    await client.probe();
    plane.pause("kube-apiserver", true);
    try {
      // A process that is told to stop may answer once more.
      const error = await waitFor("a probe that is not answered", () =>
        client.probe({ timeoutMs: 300 }).then(
          () => undefined,
          (reason: unknown) => reason,
        ),
      );
      assert.ok(error instanceof ApiError && error.code === "timeout", String(error));
    } finally {
      plane.pause("kube-apiserver", false);
    }
    const outcomes = calls.map(({ verb, resource, outcome }) => `${verb} ${resource} ${outcome}`);
    for (const wanted of ["create configmaps 201", "update configmaps 409", "probe readyz timeout", "watch leases 200"])
      assert.ok(outcomes.includes(wanted), wanted);
  });

  it("refuses plain HTTP and a context that is not there", async () => {
    const kubeconfig = await plane.kubeconfig();
    await assert.rejects(ClusterAccess.load({ kubeconfig, context: "none" }), /no cluster for context none/);
    const plain = join(plane.folder, "plain");
    await writeFile(
      plain,
      "clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\ncontexts: [{name: a, context: {cluster: a}}]\ncurrent-context: a\n",
    );
    await assert.rejects(ClusterAccess.load({ kubeconfig: plain }), /must be reached over https/);
  });
});
