/**
 * The operator's rights: two operators run with nothing but the chart's roles through all that they do. Nothing is
 * forbidden to them, and the API server's audit log shows every verb that the roles grant.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { after, before, describe, it } from "mocha";
import { parse, stringify } from "yaml";
import { findProgram, skipLoudly } from "#test/support/cluster/programs";
import { type ChartObject, parseObjects, renderChart } from "#test/support/cluster/render-chart";
import { type ControlPlane, startControlPlane } from "#test/support/kube-control-plane";
import { startChartOperator } from "#test/support/kubernetes/chart-operator";
import type { OperatorUnderTest } from "#test/support/kubernetes/cluster-rig";
import { applyAll } from "#test/support/kubernetes/objects";
import { conditionOf } from "#test/support/kubernetes/status-of";
import { waitFor } from "#test/support/wait-for";

const run = promisify(execFile);
const operatorUser = "system:serviceaccount:gateway:tollgate-operator";

/** The least of each kind: all of them get a status, and the channel without its Secret an Event. */
const specs: Readonly<Record<string, object>> = {
  Account: { credit: "1" },
  Channel: {
    provider: "OpenAI",
    credentials: [{ name: "main", secretKeyRef: { name: "missing", key: "apiKey" } }],
  },
  ModelRoute: { model: "first", targets: [{ name: "first", channelRef: { name: "first" } }] },
};

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

describe("the operator's rights", function () {
  this.timeout(120_000);
  let plane: ControlPlane;
  let objects: readonly ChartObject[] = [];
  const operators: OperatorUnderTest[] = [];

  before(async function () {
    const [helm, kubectl] = [findProgram("helm"), findProgram("kubectl")];
    if (helm === undefined || kubectl === undefined) return skipLoudly(this, "no helm or no kubectl");
    const started = await startControlPlane();
    if (typeof started === "string") return skipLoudly(this, started);
    plane = started;
    await plane.installCrds();
    for (const name of ["gateway", "team-a"])
      await plane.must("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    const values = { crds: { enabled: false, aggregateRoles: true }, operator: { generateKeys: true } };
    objects = parseObjects(await renderChart(helm, values));
    // All else they make themselves.
    const applicable = objects.filter(({ kind }) => /Role|ServiceAccount|ConfigMap/.test(kind));
    const applied = run(kubectl, ["apply", "-f", "-"], {
      env: { ...process.env, KUBECONFIG: await plane.kubeconfig(), HOME: plane.folder },
    });
    applied.child.stdin?.end(applicable.map((object) => stringify(object)).join("---\n"));
    await applied;
    for (const name of ["tollgate-operator-0", "tollgate-operator-1"]) operators.push(await startOperator(name));
    for (const operator of operators) await operator.waitUntilReady(30_000);
  });

  after(async () => {
    await Promise.all(operators.map((operator) => operator.close()));
    await plane?.stop();
  });

  async function startOperator(name: string): Promise<OperatorUnderTest> {
    const settings = objects.find(
      ({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "tollgate-operator",
    );
    const { data } = settings as unknown as { data: { "settings.yaml": string } };
    const place = { namespace: "gateway", account: "tollgate-operator" };
    return startChartOperator({ plane, name, ...place, settings: data["settings.yaml"] });
  }

  /** `place resource verb` of everything that the operators asked for, and what they were answered. */
  async function asked(): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
    const answers = new Map<string, Set<number>>();
    for (const { user, resource, subresource, namespace, verb, status } of await plane.auditLog()) {
      if (user !== operatorUser || resource === undefined || status === undefined) continue;
      const place = namespace === "gateway" ? "own" : "watched";
      const name = `${place} ${subresource === undefined ? resource : `${resource}/${subresource}`} ${verb}`;
      answers.set(name, (answers.get(name) ?? new Set()).add(status));
    }
    return answers;
  }

  /** `place resource verb` of everything that the chart grants the operator. */
  function rights(): readonly string[] {
    const bound = objects.flatMap(({ roleRef }) => (roleRef === undefined ? [] : [(roleRef as { name: string }).name]));
    const roles = objects.filter(
      ({ kind, metadata }) => /^(Cluster)?Role$/.test(kind) && bound.includes(metadata.name),
    );
    const granted = roles.flatMap(({ kind, rules }) =>
      (rules as readonly Rule[]).flatMap(({ resources, verbs }) =>
        resources.flatMap((resource) =>
          verbs.map((verb) => `${kind === "Role" ? "own" : "watched"} ${resource} ${verb}`),
        ),
      ),
    );
    return [...new Set(granted)];
  }

  it("are not people's: who may view, edit or administrate a namespace has rights of his own", async () => {
    const verbs = ["get", "create", "delete"];
    const kinds = ["apikeys", "channels", "modelroutes", "accounts", "apikeys/status"];
    for (const [role, writable] of [
      ["view", []],
      ["edit", ["apikeys"]],
      ["admin", kinds.slice(0, 4)],
    ] as const) {
      // The controller that adds them up to the cluster's own role is not here: all that it would add are bound.
      const label = `rbac.authorization.k8s.io/aggregate-to-${role}`;
      const added = objects.filter(({ metadata }) => label in ((metadata as { labels?: object }).labels ?? {}));
      const aggregated = await plane.must("GET", `/apis/rbac.authorization.k8s.io/v1/clusterroles/${role}`);
      assert.match(JSON.stringify(aggregated), new RegExp(`"matchLabels":{"${label}":"true"}`));
      for (const { metadata } of added)
        await plane.must("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/team-a/rolebindings", {
          metadata: { name: `${role}-${metadata.name}` },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: metadata.name },
          subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: role }],
        });
      const allowedNow = async (): Promise<string[]> => {
        const allowed: string[] = [];
        for (const kind of kinds)
          for (const verb of verbs) {
            const [resource, subresource] = kind.split("/");
            const resourceAttributes = { group: "tollgate.dev", resource, subresource, verb, namespace: "team-a" };
            const review = { spec: { user: role, resourceAttributes } };
            const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
            const { status } = (await plane.must("POST", path, review)) as { status: { allowed: boolean } };
            if (status.allowed) allowed.push(`${verb} ${kind}`);
          }
        return allowed.sort();
      };
      const readable = kinds.slice(0, 4).map((kind) => `get ${kind}`);
      const expected = [...readable, ...writable.flatMap((kind) => [`create ${kind}`, `delete ${kind}`])];
      // The API server reads bindings a moment after they were written.
      await waitFor("the bindings to hold", async () => (await allowedNow()).length >= expected.length);
      assert.deepEqual(await allowedNow(), expected.sort(), role);
    }
  });

  it("suffice for all that they do", async () => {
    await applyAll(plane, [
      ...["Account", "Channel", "ModelRoute"].map((kind) => ({
        apiVersion: "tollgate.dev/v1alpha1",
        kind,
        metadata: { name: "first", namespace: "team-a" },
        spec: specs[kind],
      })),
      {
        apiVersion: "tollgate.dev/v1alpha1",
        kind: "ApiKey",
        metadata: { name: "first", namespace: "team-a" },
        spec: { credentials: [{ name: "generated", generate: { secretName: "first-key" } }] },
      },
    ]);
    await waitFor(
      "the key's Secret",
      async () => (await plane.call("GET", "/api/v1/namespaces/team-a/secrets/first-key")).status === 200,
      { deadlineMs: 20_000, everyMs: 100 },
    );
    // The same again: counted in the first Event's series.
    const missing = () => conditionOf(plane, "Channel", "first", "ResolvedRefs", "team-a");
    const metadata = { name: "missing", namespace: "team-a" };
    const key = { apiVersion: "v1", kind: "Secret", metadata, stringData: { apiKey: "sk-upstream" } };
    for (const expected of ["False SecretNotFound", "True Resolved", "False SecretNotFound"]) {
      await waitFor(expected, async () => (await missing()) === expected, { deadlineMs: 20_000, everyMs: 100 });
      if (expected === "False SecretNotFound") await applyAll(plane, [key]);
      else await plane.must("DELETE", "/api/v1/namespaces/team-a/secrets/missing");
    }
    // Reviewed, and refused: it is bound to no pod.
    const token = await plane.tokenOf("gateway", "tollgate-proxy", { audience: "tollgate.gateway" });
    const { push } = parse(await readFile(join(plane.folder, "tollgate-operator-0", "settings.yaml"), "utf8"));
    await run("curl", ["-sk", "-m", "5", "-H", `authorization: Bearer ${token}`, `https://${push.listen}/`]).catch(
      () => undefined,
    );
    // What they keep they mend when it was damaged, and make again when it was taken away.
    const kept = [
      "/api/v1/namespaces/gateway/configmaps/tollgate-push-ca",
      "/api/v1/namespaces/gateway/secrets/tollgate-push-ca",
    ];
    const mended = async (path: string) => JSON.stringify(await plane.must("GET", path)).includes("damaged") === false;
    for (const [path, data] of [
      [kept[0] ?? "", { "ca.crt": "damaged" }],
      [kept[1] ?? "", { "ca.crt": Buffer.from("damaged").toString("base64"), damaged: "" }],
    ] as const) {
      await plane.must("PATCH", path, { data }, "application/merge-patch+json");
      await waitFor(`${path} to be mended`, () => mended(path), { deadlineMs: 30_000, everyMs: 200 });
    }
    for (const path of kept) await plane.must("DELETE", path);
    for (const path of kept)
      await waitFor(`${path} to be back`, async () => (await plane.call("GET", path)).status === 200, {
        deadlineMs: 30_000,
        everyMs: 200,
      });
    const lists = rights().filter((right) => right.endsWith(" list"));
    await waitFor(
      "everything to be listed and compared",
      async () => {
        const used = await asked();
        return lists.every((right) => used.has(right));
      },
      { deadlineMs: 40_000, everyMs: 500 },
    );
    const refused = [...(await asked())].filter(([, statuses]) => statuses.has(403)).map(([name]) => name);
    assert.deepEqual(refused, []);
  });

  it("are no more than that", async () => {
    let unused: readonly string[] = rights();
    // The audit log is written a moment after the answer.
    await waitFor(
      "every right to be used",
      async () => {
        const used = await asked();
        unused = rights().filter((right) => !used.has(right));
        return unused.length === 0;
      },
      { deadlineMs: 10_000, everyMs: 250 },
    ).catch(() => undefined);
    assert.deepEqual(unused, []);
  });
});
