/**
 * A cluster whose pods have IPv6 addresses: what the chart writes with `listenHost: "[::]"` is what both programs read as
 * every address, and ports opened so serve both families, each client under the address that rules know it by.
 */
import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { after, before, describe, it } from "mocha";
import { toOperatorSettings } from "#cli/settings/operator-settings";
import { toProxySettings } from "#cli/settings/proxy-settings";
import { readSettings } from "#cli/settings/read-settings";
import { findProgram, skipLoudly } from "#test/support/cluster/programs";
import { type ChartObject, parseObjects, renderChart } from "#test/support/cluster/render-chart";
import { type Gateway, startGateway } from "#test/support/start-gateway";

const clientKeys = {
  four: "sk-canary-four-0123456789abcdefghijklmnopqrstuv",
  six: "sk-canary-six-0123456789abcdefghijklmnopqrstuvw",
  far: "sk-canary-far-0123456789abcdefghijklmnopqrstuvw",
} as const;

type ClientKey = keyof typeof clientKeys;

function keyManifest(name: ClientKey, range: string): string {
  return `apiVersion: v1
kind: Secret
metadata: {name: key-${name}, namespace: default}
stringData: {apiKey: ${clientKeys[name]}}
---
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: ${name}, namespace: default}
spec:
  credentials: [{name: main, secretKeyRef: {name: key-${name}, key: apiKey}}]
  clientCIDRs: {allow: ["${range}"]}
`;
}

describe("the chart with listenHost [::]", function () {
  this.timeout(20_000);
  let objects: readonly ChartObject[] = [];

  before(async function () {
    const helm = findProgram("helm");
    if (helm === undefined)
      return skipLoudly(this, "no helm in PATH, KUBEBUILDER_ASSETS or the cache of the test cluster");
    objects = parseObjects(await renderChart(helm, { listenHost: "[::]" }));
  });

  function settingsFile(name: string): string {
    const found = objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === name);
    const { data } = (found ?? {}) as { data?: Readonly<Record<string, string>> };
    return data?.["settings.yaml"] ?? assert.fail(`${name} holds no settings.yaml`);
  }

  it("has the proxy listen on every address with both ports", () => {
    const readFile = () => settingsFile("tollgate-proxy");
    const { settings } = readSettings("proxy", { flags: ["--config", "settings.yaml"], variables: {}, readFile });
    const { listen, admin } = toProxySettings(settings);
    assert.deepEqual(
      [listen, admin],
      [8080, 9090].map((port) => ({ host: "::", port })),
    );
  });

  it("has the operator listen on every address with both ports, and name itself by its pod's", () => {
    const readFile = () => settingsFile("tollgate-operator");
    // Given to the pod by the chart.
    const variables = { TOLLGATE_KUBERNETES_POD_IP: "fd00::3" };
    const { settings } = readSettings("operator", { flags: ["--config", "settings.yaml"], variables, readFile });
    const { admin, cluster } = toOperatorSettings(settings);
    assert.deepEqual(
      [cluster?.push.listen, admin],
      [8443, 9091].map((port) => ({ host: "::", port })),
    );
    assert.equal(cluster?.peerAddress, "[fd00::3]:8443");
  });
});

describe("ports opened on [::]", function () {
  this.timeout(30_000);
  let gateway: Gateway | undefined;

  before(async function () {
    const isThere = Object.values(networkInterfaces()).some((addresses) =>
      addresses?.some(({ address }) => address === "::1"),
    );
    if (!isThere) return skipLoudly(this, "this machine has no ::1");
    gateway = await startGateway({
      manifests: {
        "four.yaml": keyManifest("four", "127.0.0.0/8"),
        "six.yaml": keyManifest("six", "::1/128"),
        "far.yaml": keyManifest("far", "192.0.2.0/24"),
      },
      flags: ["--listen=[::]:0", "--admin=[::]:0", "--operator-admin=[::]:0", "--trusted-proxies-cidrs=127.0.0.0/8"],
    });
  });

  after(() => gateway?.close());

  const started = (): Gateway => gateway ?? assert.fail("the gateway has not been started");
  const hosts = ["[::1]", "127.0.0.1"] as const;

  for (const host of hosts)
    it(`answer probes and scrapes at ${host}`, async () => {
      for (const origin of [started().adminOrigin, started().operatorOrigin])
        for (const path of ["/healthz", "/readyz", "/metrics"]) {
          const reply = await fetch(`http://${host}:${new URL(origin).port}${path}`);
          assert.equal(reply.status, 200, `${origin}${path}`);
        }
    });

  // The socket calls the IPv4 client ::ffff:127.0.0.1.
  const rows: readonly (readonly [host: (typeof hosts)[number], key: ClientKey, forwarded: string, status: number])[] =
    [
      ["[::1]", "six", "", 200],
      ["[::1]", "four", "", 403],
      ["127.0.0.1", "four", "", 200],
      ["127.0.0.1", "six", "", 403],
      // Only 127.0.0.0/8 is a trusted proxy.
      ["127.0.0.1", "far", "192.0.2.1", 200],
      ["127.0.0.1", "four", "192.0.2.1", 403],
      ["[::1]", "far", "192.0.2.1", 403],
      ["[::1]", "six", "192.0.2.1", 200],
    ];
  for (const [host, key, forwarded, status] of rows)
    it(`answer ${status} at ${host} to the key ${key}${forwarded && ` forwarded for ${forwarded}`}`, async () => {
      const headers = {
        authorization: `Bearer ${clientKeys[key]}`,
        ...(forwarded && { "x-forwarded-for": forwarded }),
      };
      const reply = await fetch(`http://${host}:${started().port}/v1/models`, { headers });
      const text = await reply.text();
      assert.equal(reply.status, status, text);
      if (status === 403) assert.equal(JSON.parse(text).error.code, "ip_not_allowed");
    });
});
