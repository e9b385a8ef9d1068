/** The Kubernetes source against a real API server: what it keeps, what it tells, and that nothing makes it forget. */
import assert from "node:assert/strict";
import { ApiClient } from "#operator/kubernetes/api/api-client";
import { ClusterAccess } from "#operator/kubernetes/api/cluster-access";
import type { ResourceChange } from "#operator/resources/resource";
import { KubernetesSource, type KubernetesSourceOptions } from "#operator/source/kubernetes/kubernetes-source";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { numberedKey } from "#test/support/kubernetes/objects";
import { waitFor } from "#test/support/wait-for";

const api = "/apis/tollgate.dev/v1alpha1";
const sha256 = (digit: string) => digit.repeat(64);

describe("kubernetes source", function () {
  this.timeout(120_000);
  let plane: ControlPlane;
  let source: KubernetesSource | undefined;
  let told: ResourceChange[] = [];
  const lines: string[] = [];

  const open = async (options: Partial<KubernetesSourceOptions> = {}): Promise<KubernetesSource> => {
    const client = new ApiClient(await ClusterAccess.load({ kubeconfig: await plane.kubeconfig() }));
    const opened = new KubernetesSource({
      client,
      log: { info: (message) => lines.push(message), warn: (message) => lines.push(message) },
      ...options,
    });
    told = [];
    opened.onChange((changes) => told.push(...changes));
    await opened.start();
    source = opened;
    return opened;
  };
  const key = (name: string, credential: object, namespace = "team-a") => ({
    apiVersion: "tollgate.dev/v1alpha1",
    kind: "ApiKey",
    metadata: { name, namespace },
    spec: { credentials: [{ name: "current", ...credential }] },
  });
  const secret = (name: string, data: Record<string, string>) => ({ metadata: { name }, stringData: data });

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    for (const name of ["team-a", "team-b"]) await plane.must("POST", "/api/v1/namespaces", { metadata: { name } });
  });

  afterEach(async () => {
    await source?.close();
    source = undefined;
  });

  after(async () => plane?.stop());

  it("reads what is there, tells it once, and then each change as it comes", async () => {
    await plane.must("POST", `${api}/namespaces/team-a/apikeys`, key("first", { sha256: sha256("a") }));
    const opened = await open();
    assert.deepEqual([...opened.current().apiKeys.keys()], ["team-a/first"]);
    const held = opened.current().apiKeys.get("team-a/first");
    assert.equal(held?.metadata.generation, 1);
    assert.ok(held?.metadata.uid && held.metadata.resourceVersion && (held.metadata.createdAtMs ?? 0) > 0);
    assert.ok(told.some(({ kind, name }) => kind === "ApiKey" && name === "first"));
    told = [];
    await plane.must("POST", `${api}/namespaces/team-b/apikeys`, key("second", { sha256: sha256("b") }, "team-b"));
    await waitFor("the second key", () => opened.current().apiKeys.has("team-b/second"));
    await plane.must("DELETE", `${api}/namespaces/team-a/apikeys/first`);
    await waitFor("the first to go", () => !opened.current().apiKeys.has("team-a/first"));
    assert.deepEqual(
      told.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`),
      ["ApiKey team-b/second", "ApiKey team-a/first"],
    );
    await plane.must("DELETE", `${api}/namespaces/team-b/apikeys/second`);
  });

  it("takes a status for no change, and keeps the version it has", async () => {
    await plane.must("POST", `${api}/namespaces/team-a/apikeys`, key("quiet", { sha256: sha256("c") }));
    const seen: unknown[] = [];
    const opened = await open({ onObserved: (_kind, object) => seen.push(object["status"]) });
    const before = opened.current().apiKeys.get("team-a/quiet");
    told = [];
    const status = { observedGeneration: 1, lastUsedTime: "2026-01-01T00:00:00Z" };
    const patch = { apiVersion: "tollgate.dev/v1alpha1", kind: "ApiKey", metadata: { name: "quiet" }, status };
    await plane.must(
      "PATCH",
      `${api}/namespaces/team-a/apikeys/quiet/status?fieldManager=t`,
      patch,
      "application/apply-patch+yaml",
    );
    const after = await waitFor("the new version", () => {
      const held = opened.current().apiKeys.get("team-a/quiet");
      return held?.metadata.resourceVersion !== before?.metadata.resourceVersion && held;
    });
    assert.equal(after.spec, before?.spec, "the spec is the same object: the compiler goes by that");
    assert.deepEqual(told, []);
    assert.ok(seen.some((value) => JSON.stringify(value)?.includes("2026-01-01")));
    await plane.must("DELETE", `${api}/namespaces/team-a/apikeys/quiet`);
  });

  it("keeps of Secrets only what somebody refers to, and asks for what it passed over", async () => {
    const secrets = "/api/v1/namespaces/team-a/secrets";
    await plane.must("POST", secrets, secret("named", { apiKey: "sk-named", other: "canary" }));
    await plane.must("POST", secrets, secret("unnamed", { apiKey: "sk-unnamed" }));
    await plane.must("POST", `${api}/namespaces/team-a/apikeys`, key("k", { secretKeyRef: { name: "named" } }));
    const opened = await open();
    const { secrets: held } = opened.current();
    assert.deepEqual([...held.keys()], ["team-a/named"]);
    assert.deepEqual(held.get("team-a/named")?.data.keys(), ["apiKey"]);
    told = [];
    // The Secret stands there already and no event will tell of it.
    await plane.must("POST", `${api}/namespaces/team-a/apikeys`, key("l", { secretKeyRef: { name: "unnamed" } }));
    await waitFor("the key", () => opened.current().apiKeys.has("team-a/l"));
    assert.equal(held.get("team-a/unnamed")?.data.get("apiKey"), "sk-unnamed", "the key waited for its Secret");
    await plane.must("POST", `${api}/namespaces/team-a/apikeys`, key("m", { secretKeyRef: { name: "later" } }));
    await waitFor("the key without its Secret", () => opened.current().apiKeys.has("team-a/m"));
    await plane.must("POST", secrets, secret("later", { apiKey: "sk-later" }));
    await waitFor("the Secret", () => held.get("team-a/later")?.data.get("apiKey") === "sk-later");
    for (const name of ["k", "l", "m"]) await plane.must("DELETE", `${api}/namespaces/team-a/apikeys/${name}`);
    await waitFor("the Secrets to be let go", () => held.size === 0);
    for (const name of ["named", "unnamed", "later"]) await plane.must("DELETE", `${secrets}/${name}`);
  });

  it("finds no Secret by its name that its watch leaves out: nobody would tell of its end", async () => {
    const secrets = "/api/v1/namespaces/team-a/secrets";
    await plane.must("POST", secrets, { ...secret("release", { apiKey: "sk-release" }), type: "helm.sh/release.v1" });
    await plane.must("POST", secrets, secret("remade", { apiKey: "sk-before" }));
    const opened = await open();
    const { secrets: held } = opened.current();
    for (const name of ["release", "remade"])
      await plane.must("POST", `${api}/namespaces/team-a/apikeys`, key(name, { secretKeyRef: { name } }));
    await waitFor("the keys", () => opened.current().apiKeys.size === 2);
    assert.deepEqual([...held.keys()], ["team-a/remade"]);
    await plane.must("DELETE", `${secrets}/remade`);
    await plane.must("POST", secrets, { ...secret("remade", { apiKey: "sk-after" }), type: "helm.sh/release.v1" });
    await waitFor("its end", () => held.size === 0);
    const patch = { metadata: { labels: { asked: "again" } } };
    await plane.must("PATCH", `${api}/namespaces/team-a/apikeys/remade`, patch, "application/merge-patch+json");
    await waitFor("the label", () => opened.current().apiKeys.get("team-a/remade")?.metadata.labels["asked"]);
    assert.equal(held.size, 0);
    for (const name of ["release", "remade"]) {
      await plane.must("DELETE", `${api}/namespaces/team-a/apikeys/${name}`);
      await plane.must("DELETE", `${secrets}/${name}`);
    }
  });

  it("exchanges a Secret without a moment in which the key has none", async () => {
    const secrets = "/api/v1/namespaces/team-a/secrets";
    await plane.must("POST", secrets, secret("old", { apiKey: "sk-old" }));
    await plane.must("POST", secrets, secret("new", { apiKey: "sk-new" }));
    await plane.must("POST", `${api}/namespaces/team-a/apikeys`, key("swap", { secretKeyRef: { name: "old" } }));
    const opened = await open();
    const gaps: string[] = [];
    opened.onChange(() => {
      const credential = opened.current().apiKeys.get("team-a/swap")?.spec?.credentials[0];
      const name = credential?.secretKeyRef?.name ?? "none";
      if (opened.current().secrets.get(`team-a/${name}`) === undefined) gaps.push(name);
    });
    const patch = { spec: { credentials: [{ name: "current", secretKeyRef: { name: "new" } }] } };
    await plane.must("PATCH", `${api}/namespaces/team-a/apikeys/swap`, patch, "application/merge-patch+json");
    await waitFor("the new Secret", () => opened.current().secrets.has("team-a/new"));
    assert.deepEqual(gaps, []);
    assert.ok(!opened.current().secrets.has("team-a/old"));
    await plane.must("DELETE", `${api}/namespaces/team-a/apikeys/swap`);
  });

  it("watches the namespaces it is told to, and no others", async () => {
    for (const namespace of ["team-a", "team-b"])
      await plane.must("POST", `${api}/namespaces/${namespace}/apikeys`, key("n", { sha256: sha256("d") }, namespace));
    const opened = await open({ namespaces: ["team-b"], watchesNamespaces: true });
    assert.deepEqual([...opened.current().apiKeys.keys()], ["team-b/n"]);
    assert.ok(opened.current().namespaces.has("team-a"));
    const { seen, complete } = opened.versions();
    assert.ok(seen["ApiKey/team-b"] && complete["ApiKey/team-b"] && complete["Namespace"]);
    assert.equal(await opened.hasGoneBack(seen), false);
    assert.equal(await opened.hasGoneBack({ "Channel/team-b": `${complete["Namespace"]}0` }), true);
    for (const namespace of ["team-a", "team-b"])
      await plane.must("DELETE", `${api}/namespaces/${namespace}/apikeys/n`);
    await waitFor("the key to go", () => opened.current().apiKeys.size === 0);
  });
});

describe("kubernetes source on a server without streaming lists, as the oldest supported ones", function () {
  this.timeout(90_000);
  let plane: ControlPlane;

  before(async function () {
    plane = await controlPlaneOrSkip(this, { apiServerFlags: ["--feature-gates=WatchList=false"] });
    await plane.installCrds();
  });

  after(async () => plane?.stop());

  it("reads lists in pages and follows from there", async () => {
    const path = `${api}/namespaces/default/apikeys`;
    for (let index = 0; index < 7; index += 1) await plane.must("POST", path, numberedKey(index));
    const client = new ApiClient(await ClusterAccess.load({ kubeconfig: await plane.kubeconfig() }));
    const log = { info: () => undefined, warn: (message: string) => assert.fail(message) };
    const source = new KubernetesSource({ client, log, timings: { pageSize: 3 } });
    await source.start();
    assert.equal(source.current().apiKeys.size, 7);
    await plane.must("DELETE", `${path}/key-0`);
    await waitFor("it to go", () => source.current().apiKeys.size === 6);
    await source.close();
    client.access.close();
    const lists = (await plane.auditLog()).filter(({ uri, verb, userAgent }) => {
      return verb === "list" && userAgent === "tollgate-operator" && uri.includes("/apikeys?");
    });
    assert.equal(lists.length, 3, "three pages of at most three");
  });
});
