/**
 * One proxy with the embedded ledger on a volume, and a certificate that somebody else made: what was consumed outlives the
 * pod, an upgrade of the chart and the release.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { stringify } from "yaml";
import { runScriptPod } from "#test/support/cluster/in-cluster";
import { ownClusterOrSkip } from "#test/support/cluster/own-cluster-or-skip";
import {
  installRelease,
  proxySelector,
  releaseNamespace,
  releaseValues,
  untilReady,
} from "#test/support/cluster/release";
import type { TestCluster, TestNode } from "#test/support/cluster/test-cluster";
import { demoUpstream, gateway } from "./manifests.ts";

const run = promisify(execFile);

const quotaKey = `
apiVersion: v1
kind: Secret
metadata: {name: quota-key, namespace: team-a}
stringData: {apiKey: "sk-${"q".repeat(40)}"}
---
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: quota, namespace: team-a}
spec:
  credentials:
  - {name: current, secretKeyRef: {name: quota-key, key: apiKey}}
  limits:
  - {name: ceiling, unit: Requests, limit: "3", period: Lifetime}
`;

describe("a release with the embedded ledger", function () {
  this.timeout(300_000);
  let cluster: TestCluster;
  let node: TestNode;

  before(async function () {
    // Volumes of its own making need a node to enter.
    ({ cluster, node } = await ownClusterOrSkip(this));
    for (const namespace of [releaseNamespace, "team-a"]) {
      await cluster.kubectl("create", "namespace", namespace);
      await cluster.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
    }
  });

  after(() => cluster?.stop());

  /** Calls until refused. @returns how many were answered */
  async function callsAdmitted(): Promise<number> {
    const said = await runScriptPod(cluster, {
      name: "quota",
      namespace: "team-a",
      script: "count-admitted.mjs",
      variables: { TARGET: `http://tollgate.${releaseNamespace}.svc` },
      secrets: { KEY: { name: "quota-key", key: "apiKey" } },
    });
    return JSON.parse(said).admitted;
  }

  it("comes up with its volume and the given certificate", async () => {
    const volume = join(cluster.folder, "volume");
    await node.run({}, "install", "-d", "-m", "0777", volume);
    await cluster.kubectlWith(
      stringify({
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name: "ledger" },
        spec: {
          capacity: { storage: "8Gi" },
          accessModes: ["ReadWriteOnce"],
          persistentVolumeReclaimPolicy: "Retain",
          hostPath: { path: volume },
        },
      }),
      "apply",
      "-f",
      "-",
    );
    await makeCertificate(cluster);
    await installRelease(cluster, {
      ...releaseValues(cluster),
      quota: { store: "Embedded", embedded: { storageClassName: "-" } },
      tls: { mode: "ExistingSecret", existingSecret: "push-certificate" },
    });
    assert.deepEqual(await untilReady(cluster, proxySelector, 1), ["tollgate-proxy-0"]);
  });

  it("grants a quota exactly", async () => {
    const image = `${cluster.images.registry}/tollgate-demo-upstream:${cluster.images.tag}`;
    await cluster.kubectlWith(demoUpstream(image, "demo-upstream", 0), "apply", "-f", "-");
    await cluster.kubectlWith(gateway, "apply", "-f", "-");
    await cluster.kubectlWith(quotaKey, "apply", "-f", "-");
    await cluster.kubectl("-n", "team-a", "rollout", "status", "deployment/demo-upstream", "--timeout=60s");
    assert.equal(await callsAdmitted(), 3);
  });

  it("and no more after the pod was replaced", async () => {
    await cluster.kubectl("-n", releaseNamespace, "delete", "pod", "tollgate-proxy-0");
    await untilReady(cluster, proxySelector, 1);
    assert.equal(await callsAdmitted(), 0);
  });

  it("nor after the release was removed and installed again: the claim stays", async () => {
    await cluster.helm("uninstall", "tollgate", "--namespace", releaseNamespace, "--wait");
    assert.match(await cluster.kubectl("-n", releaseNamespace, "get", "pvc", "-o", "name"), /data-tollgate-proxy-0/);
    await installRelease(cluster, {
      ...releaseValues(cluster),
      quota: { store: "Embedded", embedded: { storageClassName: "-" } },
      tls: { mode: "ExistingSecret", existingSecret: "push-certificate" },
    });
    assert.equal(await callsAdmitted(), 0);
  });
});

/** What cert-manager, or a person, would put into the Secret. */
async function makeCertificate(cluster: TestCluster): Promise<void> {
  const folder = join(cluster.folder, "certificate");
  await mkdir(folder);
  const openssl = (...opensslArguments: string[]) => run("openssl", opensslArguments, { cwd: folder });
  const host = `tollgate-push.${releaseNamespace}.svc`;
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await openssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=test-ca", "-days", "2");
  await openssl("req", ...key, "-keyout", "tls.key", "-out", "tls.csr", "-subj", `/CN=${host}`);
  await writeFile(join(folder, "extensions"), `subjectAltName=DNS:${host}\nextendedKeyUsage=serverAuth\n`);
  const signing = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "extensions"];
  await openssl("x509", "-req", "-in", "tls.csr", ...signing, "-out", "tls.crt");
  const read = (name: string) => readFile(join(folder, name), "utf8");
  await cluster.kubectlWith(
    stringify({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "push-certificate", namespace: releaseNamespace },
      stringData: {
        "ca.crt": await read("ca.crt"),
        "tls.crt": await read("tls.crt"),
        "tls.key": await read("tls.key"),
      },
    }),
    "apply",
    "-f",
    "-",
  );
}
