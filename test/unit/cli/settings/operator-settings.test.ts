/** Where an operator's resources come from, and what it is told about its cluster. */
import assert from "node:assert/strict";
import { toOperatorSettings } from "#cli/settings/operator-settings";
import { readSettings, UsageError } from "#cli/settings/read-settings";
import { watchedResources } from "#operator/source/kubernetes/own-resources";
import { watchesMax } from "#proxy/snapshot/push/messages";

function read(...flags: string[]) {
  const readFile = () => "";
  return toOperatorSettings(readSettings("operator", { flags, variables: {}, readFile }).settings);
}

const watchNamespacesMax = 680;
const namespaces = (count: number) => Array.from({ length: count }, (_, index) => `team-${index}`).join();

describe("operator settings", () => {
  it("name a folder where one is given, and else the cluster", () => {
    assert.equal(read("--manifests", "/somewhere").cluster, undefined);
    const { cluster, manifests } = read("--kubernetes-pod-ip", "10.1.2.3", "--kubernetes-watch-namespaces", "a,b");
    assert.equal(manifests, undefined);
    assert.equal(cluster?.peerAddress, "10.1.2.3:8443");
    assert.deepEqual(cluster?.watchNamespaces, ["a", "b"]);
    assert.equal(cluster?.generatesKeys, false);
  });

  it("take as many namespaces as fit what proxies are told of", () => {
    const { cluster } = read("--kubernetes-watch-namespaces", namespaces(watchNamespacesMax));
    assert.equal(cluster?.watchNamespaces.length, watchNamespacesMax);
    const { Namespace: _once, ...perNamespace } = watchedResources;
    assert.ok(1 + Object.keys(perNamespace).length * watchNamespacesMax <= watchesMax);
  });

  it("write addresses of version 6 in brackets", () => {
    assert.equal(read("--kubernetes-pod-ip", "fd00::3").cluster?.peerAddress, "[fd00::3]:8443");
  });

  it("refuse quotas that every proxy would grant for itself", () => {
    assert.equal(read("--quota-store", "Memory").quotaScope, "PerProxy");
    assert.equal(read("--quota-store", "Embedded").quotaScope, "Exact");
    assert.equal(read("--quota-store", "Redis").quotaScope, "Exact");
  });

  for (const row of [
    { name: "a lease that two could hold", flags: ["--lease-duration", "11s"], want: /--lease-duration/ },
    {
      name: "a retry period as long as the deadline",
      flags: ["--lease-retry-period", "10s", "--lease-duration", "1m"],
      want: /--lease-duration/,
    },
    { name: "a least timeout above the most", flags: ["--watch-timeout-min", "11m"], want: /--watch-timeout-min/ },
    {
      name: "a namespace that can be none",
      flags: ["--kubernetes-watch-namespaces", "Team_A"],
      want: /--kubernetes-watch-namespaces "Team_A" must be at most 63 lower-case letters/,
    },
    {
      name: "more namespaces than a proxy is told of",
      flags: ["--kubernetes-watch-namespaces", namespaces(watchNamespacesMax + 1)],
      want: /--kubernetes-watch-namespaces may have at most 680 items, and has 681/,
    },
  ]) {
    it(`refuse ${row.name}`, () => {
      assert.throws(
        () => read(...row.flags),
        (error: unknown) => error instanceof UsageError && row.want.test(error.message),
      );
    });
  }
});
