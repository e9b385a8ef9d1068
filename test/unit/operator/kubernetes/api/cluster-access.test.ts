import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { ClusterAccess } from "#operator/kubernetes/api/cluster-access";

describe("cluster access", () => {
  let folder: string;
  const write = async (cluster: object, user: object, namespace?: string): Promise<string> => {
    const path = join(folder, "kubeconfig");
    const text = stringify({
      "current-context": "c",
      clusters: [{ name: "k", cluster }],
      users: [{ name: "u", user }],
      contexts: [{ name: "c", context: { cluster: "k", user: "u", ...(namespace && { namespace }) } }],
    });
    await writeFile(path, text);
    return path;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-access-"));
  });

  afterEach(() => rm(folder, { recursive: true }));

  it("knows server, path and namespace", async () => {
    const kubeconfig = await write({ server: "https://host:6443/k8s/clusters/a" }, { token: "t" }, "gateway");
    const access = await ClusterAccess.load({ kubeconfig });
    assert.equal(access.server.href, "https://host:6443/k8s/clusters/a");
    assert.equal(access.namespace, "gateway");
    assert.deepEqual((await access.credentials()).headers, { authorization: "Bearer t" });
  });

  it("reads credentials again when they are old or were refused, and keeps the last where it cannot", async () => {
    const tokenFile = join(folder, "token");
    await writeFile(tokenFile, "first\n");
    const kubeconfig = await write(
      { server: "https://host:6443" },
      { "auth-provider": { name: "tokenFile", config: { tokenFile } } },
    );
    const access = await ClusterAccess.load({ kubeconfig });
    const token = async () => (await access.credentials()).headers["authorization"];
    await writeFile(tokenFile, "second");
    assert.equal(await token(), "Bearer first");
    access.forget();
    assert.equal(await token(), "Bearer second");
    await rm(tokenFile);
    access.forget();
    assert.equal(await token(), "Bearer second");
    await writeFile(tokenFile, "third");
    const young = await ClusterAccess.load({ kubeconfig, maxAgeMs: 0 });
    await writeFile(tokenFile, "fourth");
    assert.equal((await young.credentials()).headers["authorization"], "Bearer fourth");
  });

  it("keeps connections while only a token changes, and makes new ones for another authority", async () => {
    const ca = join(folder, "ca.crt");
    await writeFile(ca, "one");
    const kubeconfig = await write({ server: "https://host:6443", "certificate-authority": ca }, { token: "t" });
    const access = await ClusterAccess.load({ kubeconfig });
    const { agent } = await access.credentials();
    access.forget();
    assert.equal((await access.credentials()).agent, agent);
    await writeFile(ca, "two");
    access.forget();
    assert.notEqual((await access.credentials()).agent, agent);
  });

  it("goes nowhere else than through the proxy that a kubeconfig names", async () => {
    const kubeconfig = await write(
      { server: "https://host:6443", "proxy-url": "socks5://127.0.0.1:1" },
      { token: "t" },
    );
    await assert.rejects(ClusterAccess.load({ kubeconfig }), /must be an http or https proxy/);
    const good = await write({ server: "https://host:6443", "proxy-url": "http://127.0.0.1:1" }, { token: "t" });
    const { agent } = await (await ClusterAccess.load({ kubeconfig: good })).credentials();
    assert.equal(agent.constructor.name, "HttpsProxyAgent");
  });
});
