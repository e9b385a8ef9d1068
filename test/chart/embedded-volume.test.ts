/** The volume of `quota.store: Embedded` under a running release: charts/tollgate/README.md says how it is changed. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { findProgram, skipLoudly } from "#test/support/cluster/programs";
import { chartFolder } from "#test/support/cluster/render-chart";
import { type ControlPlane, startControlPlane } from "#test/support/kube-control-plane";
import { startGarbageCollector } from "#test/support/kubernetes/garbage-collector";

const run = promisify(execFile);
const statefulSet = "/apis/apps/v1/namespaces/tollgate/statefulsets/tollgate-proxy";
const claim = "/api/v1/namespaces/tollgate/persistentvolumeclaims/data-tollgate-proxy-0";

describe("the volume of the embedded ledger", function () {
  this.timeout(120_000);
  let plane: ControlPlane;
  let endCollector: () => Promise<void> = async () => {};
  const programs = { helm: findProgram("helm"), kubectl: findProgram("kubectl") };

  before(async function () {
    if (programs.helm === undefined || programs.kubectl === undefined) return skipLoudly(this, "no helm or no kubectl");
    const started = await startControlPlane();
    if (typeof started === "string") return skipLoudly(this, started);
    plane = started;
    await plane.must("POST", "/api/v1/namespaces", { metadata: { name: "tollgate" } });
    // Without it nothing is ever left an orphan.
    const end = await startGarbageCollector(plane);
    if (end === undefined) return skipLoudly(this, "no kube-controller-manager");
    endCollector = end;
  });

  after(async () => {
    await endCollector();
    await plane?.stop();
  });

  async function inShell(command: string): Promise<void> {
    const words = command.replaceAll("charts/tollgate", chartFolder).match(/'[^']*'|\S+/g) ?? [];
    const [program = "", ...rest] = words.map((word) => word.replaceAll("'", ""));
    const path = programs[program as keyof typeof programs];
    assert.ok(path !== undefined, command);
    const env = { ...process.env, KUBECONFIG: await plane.kubeconfig(), HOME: plane.folder };
    await run(path, rest, { env });
  }

  it("is made larger as README.md says, and not by an upgrade alone", async () => {
    await inShell("helm install tollgate charts/tollgate --namespace tollgate --set quota.store=Embedded");
    const { spec } = (await plane.must("GET", statefulSet)) as { spec: { volumeClaimTemplates: { spec: object }[] } };
    // What the StatefulSet's controller and the storage class do.
    await plane.must("POST", "/apis/storage.k8s.io/v1/storageclasses", {
      metadata: { name: "standard" },
      provisioner: "example.com/none",
      allowVolumeExpansion: true,
    });
    await plane.must("POST", "/api/v1/namespaces/tollgate/persistentvolumeclaims", {
      metadata: { name: "data-tollgate-proxy-0" },
      spec: { ...spec.volumeClaimTemplates[0]?.spec, storageClassName: "standard", volumeName: "volume" },
    });
    await plane.must("PATCH", `${claim}/status`, { status: { phase: "Bound" } }, "application/merge-patch+json");

    const readme = readFileSync(join(chartFolder, "README.md"), "utf8");
    const commands =
      /An upgrade that changes `quota\.embedded` [^`]*`[\s\S]*?```sh\n([^`]*)```/.exec(readme)?.[1] ?? "";
    const lines = commands.trim().split("\n");
    assert.equal(lines.length, 3);
    await assert.rejects(inShell(lines[2] ?? ""), /updates to statefulset spec .* are forbidden/);
    for (const line of lines) await inShell(line);
    for (const path of [statefulSet, claim])
      assert.match(JSON.stringify(await plane.must("GET", path)), /"requests":{"storage":"16Gi"}/);
  });
});
