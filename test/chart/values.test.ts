/** The chart's values: every one documented and typed, what does not fit refused with words that help. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "mocha";
import { parseAllDocuments } from "yaml";
import { readChartValues } from "#scripts/generators/chart/value-comments";
import { projectRoot } from "#scripts/run";
import { findProgram, skipLoudly } from "#test/support/cluster/programs";
import { type ChartObject, chartFolder, idOf, parseObjects, renderChart } from "#test/support/cluster/render-chart";

interface SchemaNode {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: unknown;
  readonly items?: { readonly enum?: readonly string[] };
  readonly definitions?: Readonly<Record<string, SchemaNode>>;
}

const schema: SchemaNode = JSON.parse(readFileSync(join(chartFolder, "values.schema.json"), "utf8"));
const values = readChartValues(readFileSync(join(chartFolder, "values.yaml"), "utf8"));

function typeOf(path: readonly string[]): SchemaNode | undefined {
  return path.reduce<SchemaNode | undefined>((node, member) => follow(node)?.properties?.[member], schema);
}

function follow(node: SchemaNode | undefined): SchemaNode | undefined {
  const name = node?.$ref?.replace("#/definitions/", "");
  return name === undefined ? node : schema.definitions?.[name];
}

type Labels = Readonly<Record<string, string>>;

/** Of an object, and of the pods that it makes. */
function labelsOf({ metadata, spec }: ChartObject): readonly Labels[] {
  const { template } = (spec ?? {}) as { template?: { metadata: { labels: Labels } } };
  const { labels = {} } = metadata as { labels?: Labels };
  return template === undefined ? [labels] : [labels, template.metadata.labels];
}

describe("the chart's values", () => {
  it("takes the address of a shared store only where it takes that store", () => {
    const stores = (typeOf(["quota", "store"]) as { enum?: readonly string[] } | undefined)?.enum ?? [];
    const hasAddress = typeOf(["proxy", "settings", "quota", "redis"]) !== undefined;
    assert.ok(stores.includes("Memory"));
    assert.equal(hasAddress, stores.includes("Redis"));
  });

  it("every value has a type, and every type a value", () => {
    for (const { path } of values) assert.ok(typeOf(path), `${path.join(".")} is not in values.schema.json`);
    const groups = [[], ...values.filter(({ isGroup }) => isGroup).map(({ path }) => path)];
    for (const group of groups) {
      const known = values.filter(({ path }) => path.slice(0, -1).join(".") === group.join("."));
      assert.deepEqual(
        Object.keys(follow(typeOf(group))?.properties ?? {}).sort(),
        known.map(({ path }) => path.at(-1)).sort(),
        group.join("."),
      );
    }
  });

  it("every group of values takes nothing unknown", () => {
    // `global` belongs to the charts around this one, too.
    for (const { path, isGroup } of values)
      if (isGroup && path[0] !== "global")
        assert.equal(follow(typeOf(path))?.additionalProperties, false, path.join("."));
  });

  it("every value is documented", () => {
    const silent = values.filter(({ isGroup, description }) => !isGroup && description === "");
    assert.deepEqual(
      silent.map(({ path }) => path.join(".")),
      [],
    );
  });

  it("every alert has its runbook, and no runbook is without an alert", () => {
    const rules = readFileSync(join(chartFolder, "files", "rules", "tollgate.yaml"), "utf8");
    const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map((match) => match[1]);
    const runbooks = readdirSync(join(projectRoot, "docs", "runbooks")).map((name) => name.replace(/\.md$/, ""));
    assert.deepEqual(alerts.sort(), runbooks.sort());
    const disabled = typeOf(["monitoring", "prometheusRule", "disabledAlerts"]);
    assert.deepEqual(disabled?.items?.enum, alerts, "values.schema.json, disabledAlerts");
  });
});

describe("the runbooks", () => {
  it("name objects by the full name that the chart gives them, which is not always the release's", () => {
    const templates = readdirSync(join(chartFolder, "templates"), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(tpl|yaml)$/.test(name))
      .map((name) => readFileSync(join(chartFolder, "templates", name), "utf8"))
      .join("\n");
    const folder = join(projectRoot, "docs", "runbooks");
    const text = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    const names = text.join("\n").match(/(RELEASE|FULLNAME)-[a-z-]+/g) ?? [];
    assert.ok(names.length > 0);
    for (const name of names) assert.ok(templates.includes(`"${name.replace("FULLNAME", "%s")}"`), name);
  });
});

describe("the chart rendered", function () {
  this.timeout(20_000);
  let helm = "";

  before(function () {
    const found = findProgram("helm");
    if (found === undefined) skipLoudly(this, "no helm in PATH, KUBEBUILDER_ASSETS or the cache of the test cluster");
    else helm = found;
  });

  it("twice gives the same bytes", async () => {
    assert.equal(await renderChart(helm, {}), await renderChart(helm, {}));
  });

  it("holds the CRDs as they are in crds/, with the annotation that keeps them", async () => {
    const text = await renderChart(helm, {});
    for (const file of readdirSync(join(projectRoot, "crds")).filter((name) => name.endsWith(".yaml"))) {
      const source = readFileSync(join(projectRoot, "crds", file), "utf8");
      assert.ok(text.includes(source.trimEnd()), file);
      assert.match(source, /helm\.sh\/resource-policy: keep/);
    }
    const kinds = parseObjects(text).filter(({ kind }) => kind === "CustomResourceDefinition");
    assert.equal(kinds.length, 4);
    const without = parseObjects(await renderChart(helm, { crds: { enabled: false } }));
    assert.equal(without.filter(({ kind }) => kind === "CustomResourceDefinition").length, 0);
  });

  it("grants no right by `*`, none to the proxy, and writes no Secret", async () => {
    const objects = parseObjects(await renderChart(helm, { operator: { generateKeys: true } }));
    for (const { kind, rules, subjects, metadata } of objects) {
      assert.doesNotMatch(JSON.stringify(rules ?? []), /"\*"/, metadata.name);
      assert.doesNotMatch(JSON.stringify(subjects ?? []), /proxy/);
      assert.notEqual(kind, "Secret");
    }
  });

  it("every object carries the common labels", async () => {
    const objects = parseObjects(await renderChart(helm, { commonLabels: { team: "platform" } }));
    for (const object of objects.filter(({ kind }) => kind !== "CustomResourceDefinition"))
      assert.match(JSON.stringify(object.metadata), /"team":"platform"/, idOf(object));
  });

  it("writes each label once: those that select pods stay, of the others the user's stands", async () => {
    const given = {
      "app.kubernetes.io/part-of": "platform",
      "app.kubernetes.io/version": "7",
      "app.kubernetes.io/component": "mine",
      "helm.sh/chart": "umbrella",
    };
    const values = {
      commonLabels: { ...given, team: "one" },
      operator: { podLabels: given, podAnnotations: { "tollgate.dev/settings": "mine" } },
      proxy: { podLabels: { team: "two", "app.kubernetes.io/name": "mine" } },
      monitoring: { dashboards: { enabled: true, labels: { team: "three", grafana_dashboard: "1" } } },
    };
    const text = await renderChart(helm, values);
    assert.deepEqual(
      parseAllDocuments(text).flatMap(({ errors }) => errors.map(({ message }) => message)),
      [],
    );
    const teams = new Set<string>();
    for (const object of parseObjects(text).filter(({ kind }) => kind !== "CustomResourceDefinition"))
      for (const labels of labelsOf(object)) {
        assert.equal(labels["app.kubernetes.io/part-of"], "platform", idOf(object));
        assert.notEqual(labels["app.kubernetes.io/component"], "mine", idOf(object));
        assert.equal(labels["app.kubernetes.io/name"], "tollgate", idOf(object));
        teams.add(labels["team"] ?? "none");
      }
    assert.deepEqual([...teams].sort(), ["one", "three", "two"]);
  });

  it("lets the cluster's own roles see all kinds, edit keys and administrate all", async () => {
    const rolesOf = (text: string) =>
      parseObjects(text).flatMap((object) => {
        const labels = labelsOf(object)[0] ?? {};
        const roles = Object.keys(labels).filter((label) =>
          label.startsWith("rbac.authorization.k8s.io/aggregate-to-"),
        );
        return roles.length === 0 ? [] : [{ object, to: roles.map((label) => label.split("-to-")[1]) }];
      });
    const roles = rolesOf(await renderChart(helm, { crds: { aggregateRoles: true } }));
    const resourcesFor = (role: string, verb: string) =>
      roles
        .filter(({ to }) => to.includes(role))
        .flatMap(({ object }) => object["rules"] as { apiGroups: string[]; resources: string[]; verbs: string[] }[])
        .filter(({ apiGroups, verbs }) => apiGroups.join() === "tollgate.dev" && verbs.includes(verb))
        .flatMap(({ resources }) => resources)
        .sort();
    const all = ["accounts", "apikeys", "channels", "modelroutes"];
    for (const verb of ["get", "list", "watch"])
      for (const role of ["view", "edit", "admin"]) assert.deepEqual([...new Set(resourcesFor(role, verb))], all, role);
    for (const verb of ["create", "update", "patch", "delete", "deletecollection"]) {
      assert.deepEqual(resourcesFor("view", verb), []);
      assert.deepEqual(resourcesFor("edit", verb), ["apikeys"]);
      assert.deepEqual([...new Set(resourcesFor("admin", verb))], all);
    }
    assert.deepEqual(rolesOf(await renderChart(helm, {})), []);
  });

  it("does without resources, and reads numbers of bytes as it reads text", async () => {
    const heapOf = async (resources: unknown) => {
      const objects = parseObjects(await renderChart(helm, { proxy: { resources } }));
      const proxy = objects.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === "tollgate-proxy");
      return /--max-old-space-size=[0-9]+/.exec(JSON.stringify(proxy))?.[0];
    };
    assert.equal(await heapOf(null), undefined);
    assert.equal(await heapOf({ limits: null }), undefined);
    assert.equal(await heapOf({ limits: { memory: null } }), undefined);
    for (const memory of [2_147_483_648, "2147483648", "2Gi"])
      assert.equal(await heapOf({ limits: { memory } }), "--max-old-space-size=1024", `${memory}`);
  });

  it("takes ranges that begin with their address", async () => {
    const allowCIDRs = [
      "10.0.0.0/8",
      "0.0.0.0/0",
      "10.1.2.3/32",
      "fd00::/8",
      "2001:db8:0:8000::/49",
      "::/0",
      "::1/128",
    ];
    await renderChart(helm, { proxy: { egress: { allowCIDRs } } });
  });

  for (const [range, message] of [
    ["10.1.2.3/8", /allowCIDRs: "10\.1\.2\.3\/8" .* write 10\.0\.0\.0\/8 for the whole of it, or 10\.1\.2\.3\/32 for/],
    ["192.168.1.129/25", /write 192\.168\.1\.128\/25 for/],
    ["fd00::1/8", /write fd00::\/8 for the whole of it, or fd00::1\/128 for/],
    ["2001:db8:1::/33", /write 2001:db8::\/33 for/],
    ["10.0.0.0/33", /no range of addresses/],
    ["10.0.300.0/24", /no range of addresses/],
    ["fd000::/16", /no range of addresses/],
    ["10.0.0/8", /no range of addresses/],
    ["::1/129", /no range of addresses/],
  ] as const)
    it(`refuses the range ${range}, and says what to write`, async () => {
      await assert.rejects(renderChart(helm, { proxy: { egress: { allowCIDRs: [range] } } }), message);
      const operator = { networkPolicy: { apiServerCIDRs: [range] } };
      await assert.rejects(renderChart(helm, { operator }), /apiServerCIDRs/);
    });

  for (const range of ["169.254.0.0/16", "169.254.169.254/32", "224.0.0.0/4", "0.0.0.0/8", "fe80::/10", "FF02::/16"])
    it(`refuses to allow ${range}, which is never called`, async () => {
      for (const enabled of [true, false])
        await assert.rejects(
          renderChart(helm, { proxy: { egress: { allowCIDRs: [range] }, networkPolicy: { enabled } } }),
          /proxy\.egress\.allowCIDRs: ".*" allows nothing: .* never called; remove it/,
        );
    });

  it("refuses what is no range where no NetworkPolicy holds it, too", async () => {
    for (const range of ["10.0.0/8", "10.0.0.0/33", "999.0.0.0/8"])
      await assert.rejects(
        renderChart(helm, { proxy: { egress: { allowCIDRs: [range] }, networkPolicy: { enabled: false } } }),
        /no range of addresses/,
      );
  });

  it("judges where a range begins only where a NetworkPolicy holds it", async () => {
    const ranges = ["10.1.2.3/8"];
    const proxy = { egress: { allowCIDRs: ranges }, networkPolicy: { enabled: false } };
    const operator = { networkPolicy: { enabled: false, apiServerCIDRs: ranges } };
    await renderChart(helm, { proxy, operator });
    await assert.rejects(renderChart(helm, { proxy, operator: { networkPolicy: { apiServerCIDRs: ranges } } }), /apiS/);
    await assert.rejects(renderChart(helm, { operator, proxy: { egress: { allowCIDRs: ranges } } }), /allowCIDRs/);
  });

  it("takes any label as the chart's name where the whole name is given, and selects by it", async () => {
    for (const nameOverride of ["LLM.Gateway", "a_b", "x".repeat(63)]) {
      const objects = parseObjects(await renderChart(helm, { nameOverride, fullnameOverride: "llm" }));
      const proxy = objects.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === "llm-proxy");
      assert.ok(proxy);
      const { selector } = proxy["spec"] as { selector: { matchLabels: Labels } };
      assert.equal(selector.matchLabels["app.kubernetes.io/name"], nameOverride);
    }
  });

  it("gives what the operators make an owner that no change of settings changes", async () => {
    const ownerOf = async (values: object) =>
      parseObjects(await renderChart(helm, values)).find(({ metadata }) => metadata.name === "tollgate-owner");
    const owner = await ownerOf({});
    assert.equal(owner?.["data"], undefined);
    assert.deepEqual(owner, await ownerOf({ operator: { generateKeys: true, serviceAccount: { name: "other" } } }));
  });

  const refusals = [
    {
      name: "a drain as long as the grace",
      values: { proxy: { terminationGracePeriodSeconds: 605 } },
      message: /terminationGracePeriodSeconds \(605\) must be more than drain\.endpointLag and drain\.timeout/,
    },
    {
      name: "two proxies with the embedded ledger",
      values: { quota: { store: "Embedded" }, proxy: { replicas: 2 } },
      message: /leave proxy\.replicas empty or 1, or use quota\.store Memory/,
    },
    {
      name: "autoscaling with the embedded ledger",
      values: { quota: { store: "Embedded" }, proxy: { autoscaling: { enabled: true } } },
      message: /proxy\.autoscaling\.enabled must be false/,
    },
    { name: "the tag latest", values: { proxy: { image: { tag: "latest" } } }, message: /tag latest/ },
    {
      name: "an Ingress without a host",
      values: { proxy: { ingress: { enabled: true } } },
      message: /proxy\.ingress\.hosts is needed/,
    },
    {
      name: "a route without a Gateway",
      values: { proxy: { httpRoute: { enabled: true } } },
      message: /proxy\.httpRoute\.parentRefs is needed/,
    },
    {
      name: "cert-manager without an issuer",
      values: { tls: { mode: "CertManager" } },
      message: /issuerRef\.name is needed/,
    },
    {
      name: "an existing certificate without its name",
      values: { tls: { mode: "ExistingSecret" } },
      message: /tls\.existingSecret is needed/,
    },
    {
      name: "more replicas at least than at most",
      values: { proxy: { autoscaling: { enabled: true, minReplicas: 11 } } },
      message: /minReplicas is more than maxReplicas/,
    },
    {
      name: "an alert that does not exist",
      values: { monitoring: { prometheusRule: { disabledAlerts: ["ConfigStales"] } } },
      message: /disabledAlerts/,
    },
    ...[80, 29_999, 32_768].map((nodePort) => ({
      name: `the port ${nodePort} of nodes`,
      values: { proxy: { service: { type: "NodePort", nodePort } } },
      message: /nodePort/,
    })),
    { name: "an unknown value", values: { proxy: { replica: 3 } }, message: /'replica' not allowed/ },
    {
      name: "a setting that does not exist",
      values: { proxy: { settings: { timeouts: { firstbyte: "3s" } } } },
      message: /'firstbyte' not allowed/,
    },
    {
      name: "a setting that the chart sets itself",
      values: { proxy: { settings: { listen: "0.0.0.0:1" } } },
      message: /'listen' not allowed/,
    },
    {
      name: "a setting of the wrong form",
      values: { proxy: { settings: { timeouts: { firstByte: "soon" } } } },
      message: /firstByte/,
    },
    {
      name: "more namespaces than a proxy is told of",
      values: { operator: { watchNamespaces: Array.from({ length: 681 }, (_, index) => `team-${index}`) } },
      message: /watchNamespaces.*680/,
    },
    { name: "no amount of memory", values: { proxy: { resources: { limits: { memory: "much" } } } }, message: /512Mi/ },
    ...[2, "64Mi"].map((memory) => ({
      name: `too little memory for any program, ${memory}`,
      values: { proxy: { resources: { limits: { memory } } } },
      message: /write at least 128Mi/,
    })),
    { name: "no address range", values: { proxy: { egress: { allowCIDRs: ["10.0.0.1"] } } }, message: /allowCIDRs/ },
    { name: "a name that is no label", values: { nameOverride: "a-", fullnameOverride: "a" }, message: /nameOverride/ },
    {
      name: "a name of the chart that names no objects",
      values: { nameOverride: "LLM.Gateway" },
      message: /nameOverride: "LLM\.Gateway" .* fullnameOverride/,
    },
    { name: "a name of the chart too long for them", values: { nameOverride: "x".repeat(41) }, message: /at most 40/ },
    { name: "a full name that begins no Service", values: { fullnameOverride: "1st" }, message: /fullnameOverride/ },
    {
      name: "a name that is none",
      values: { proxy: { tls: { existingSecret: "My TLS" } } },
      message: /existingSecret/,
    },
    { name: "a digest of another form", values: { proxy: { image: { digest: "sha256:1" } } }, message: /digest/ },
  ];
  for (const { name, values, message } of refusals)
    it(`refuses ${name}`, async () => {
      await assert.rejects(renderChart(helm, values), message);
    });
});
