import assert from "node:assert/strict";
import { parseManifest } from "#operator/schema/parse-manifest";
import { checkReferences } from "#operator/schema/references/check-references";
import { type KnownObject, validateResource } from "#operator/schema/validate-resource";

const digest = "ab".repeat(32);
/** SHA-256 of the key in `keySecret`. */
const clientKey = "sk-0123456789abcdefghij";

function key(name: string, spec: string): string {
  return `apiVersion: tollgate.dev/v1alpha1\nkind: ApiKey\nmetadata: {name: ${name}, namespace: team-a}\nspec: ${spec}\n`;
}
function channel(name: string, namespace: string, spec: string): string {
  return `apiVersion: tollgate.dev/v1alpha1\nkind: Channel\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: {provider: OpenAI, ${spec}}\n`;
}
function route(name: string, targets: string, spec = ""): string {
  return `apiVersion: tollgate.dev/v1alpha1\nkind: ModelRoute\nmetadata: {name: ${name}, namespace: team-a}\nspec: {targets: [${targets}]${spec}}\n`;
}
function secret(name: string, entries: string, type = "Opaque"): string {
  return `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}, namespace: team-a}\ntype: ${type}\nstringData: {${entries}}\n`;
}
function namespace(name: string, labels: string): string {
  return `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, labels: {${labels}}}\n`;
}
const account =
  "apiVersion: tollgate.dev/v1alpha1\nkind: Account\nmetadata: {name: team-a, namespace: team-a}\nspec: {}\n";
const toChannel = (name: string, more = ""): string => `{name: t, channelRef: {name: ${name}${more}}}`;
const toRoute = (name: string): string => `{name: ${name}, modelRef: {name: ${name}}}`;
const selecting = "allowedNamespaces: {from: Selector, selector: {matchLabels: {tier: gold}}}";

function check(...manifests: string[]): string[] {
  const { documents } = parseManifest(manifests.join("---\n"));
  const objects = documents.map(({ object: document }): KnownObject => {
    const { object, problems } = validateResource(document);
    assert.ok(object, JSON.stringify(problems));
    return object;
  });
  return checkReferences(objects).map(
    ({ object, problem, severity }) => `${severity} ${object.metadata.name} ${problem.field}: ${problem.message}`,
  );
}

describe("checkReferences() accepts", () => {
  for (const { name, manifests } of [
    {
      name: "a key with its account and its Secret",
      manifests: [
        account,
        secret("s", `apiKey: ${clientKey}`),
        key("k", "{accountRef: {name: team-a}, credentials: [{name: c, secretKeyRef: {name: s}}]}"),
      ],
    },
    {
      name: "a Secret that a credential generates",
      manifests: [
        key("k", "{credentials: [{name: c, generate: {secretName: g}}]}"),
        key("l", "{credentials: [{name: c, secretKeyRef: {name: g}}]}"),
      ],
    },
    {
      name: "a route to a channel of its namespace",
      manifests: [channel("c", "team-a", ""), route("r", toChannel("c"))],
    },
    {
      name: "a channel open to all",
      manifests: [
        channel("c", "shared", "allowedNamespaces: {from: All}"),
        route("r", toChannel("c", ", namespace: shared")),
      ],
    },
    {
      name: "a channel open to a labelled namespace",
      manifests: [
        namespace("team-a", "tier: gold"),
        channel("c", "shared", selecting),
        route("r", toChannel("c", ", namespace: shared")),
      ],
    },
    {
      name: "three references one after the other",
      manifests: [
        channel("c", "team-a", ""),
        route("r1", toRoute("r2")),
        route("r2", toRoute("r3")),
        route("r3", toRoute("r4")),
        route("r4", toChannel("c")),
      ],
    },
    {
      name: "two ways to one route",
      manifests: [
        channel("c", "team-a", ""),
        route("r", `${toRoute("a")}, ${toRoute("b")}`),
        route("a", toRoute("z")),
        route("b", toRoute("z")),
        route("z", toChannel("c")),
      ],
    },
  ]) {
    it(name, () => assert.deepEqual(check(...manifests), []));
  }
});

describe("checkReferences() reports", () => {
  for (const { name, manifests, want } of [
    {
      name: "an account that is not there",
      manifests: [key("k", `{accountRef: {name: x}, credentials: [{name: c, sha256: ${digest}}]}`)],
      want: "error k spec.accountRef.name: no Account x",
    },
    {
      name: "an object given twice",
      manifests: [account, account],
      want: "error team-a metadata.name: Duplicate value",
    },
    {
      name: "a Secret among no files as a warning",
      manifests: [key("k", "{credentials: [{name: c, secretKeyRef: {name: s}}]}")],
      want: "warning k spec.credentials[0].secretKeyRef.name: no Secret s",
    },
    {
      name: "a Secret without the entry",
      manifests: [secret("s", "other: x"), key("k", "{credentials: [{name: c, secretKeyRef: {name: s}}]}")],
      want: "error k spec.credentials[0].secretKeyRef.key: Secret s has no entry apiKey",
    },
    {
      name: "a Secret whose entry is no key",
      manifests: [secret("s", "apiKey: changeme"), key("k", "{credentials: [{name: c, secretKeyRef: {name: s}}]}")],
      want: "error k spec.credentials[0].secretKeyRef.key: the value of apiKey",
    },
    {
      name: "a key with a line end",
      manifests: [
        secret("s", `apiKey: "${clientKey}\\n"`),
        key("k", "{credentials: [{name: c, secretKeyRef: {name: s}}]}"),
      ],
      want: "without a line end",
    },
    {
      name: "one digest in two keys",
      manifests: [
        key("k", `{credentials: [{name: c, sha256: ${digest}}]}`),
        key("l", `{credentials: [{name: c, sha256: ${digest}}]}`),
      ],
      want: "error l spec.credentials[0]: Duplicate value",
    },
    {
      name: "an upstream key with spaces",
      manifests: [
        secret("s", 'apiKey: "a b"'),
        channel("c", "team-a", "credentials: [{name: m, secretKeyRef: {name: s}}]"),
      ],
      want: "error c spec.credentials[0].secretKeyRef.key: the value of apiKey",
    },
    {
      name: "a bundle without its entry",
      manifests: [
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ca, namespace: team-a}\n",
        channel("c", "team-a", "tls: {caBundleRef: {name: ca}}"),
      ],
      want: "error c spec.tls.caBundleRef.key: ConfigMap ca has no entry ca.crt",
    },
    {
      name: "a client certificate that is none",
      manifests: [secret("s", "a: b"), channel("c", "team-a", "tls: {clientCertificateRef: {name: s}}")],
      want: "error c spec.tls.clientCertificateRef.key: Secret s has no entry tls.crt",
    },
    {
      name: "a channel that is not there",
      manifests: [route("r", toChannel("c"))],
      want: "error r spec.targets[0].channelRef.name: no Channel c in namespace team-a",
    },
    {
      name: "a channel of another namespace that keeps to itself",
      manifests: [channel("c", "shared", ""), route("r", toChannel("c", ", namespace: shared"))],
      want: "error r spec.targets[0].channelRef.namespace: Channel shared/c does not allow",
    },
    {
      name: "a channel whose selector does not fit",
      manifests: [
        namespace("team-a", "tier: silver"),
        channel("c", "shared", selecting),
        route("r", toChannel("c", ", namespace: shared")),
      ],
      want: "does not allow namespace team-a",
    },
    {
      name: "a channel whose selector meets an unknown namespace",
      manifests: [channel("c", "shared", selecting), route("r", toChannel("c", ", namespace: shared"))],
      want: "does not allow namespace team-a: give the Namespace with its labels as well",
    },
    {
      name: "a channel that wants a label absent and meets an unknown namespace",
      manifests: [
        channel(
          "c",
          "shared",
          selecting.replace(/matchLabels.*$/, "matchExpressions: [{key: tier, operator: DoesNotExist}]}}"),
        ),
        route("r", toChannel("c", ", namespace: shared")),
      ],
      want: "does not allow namespace team-a: give the Namespace with its labels as well",
    },
    {
      name: "a route that is not there",
      manifests: [route("r", toRoute("x"))],
      want: "error r spec.targets[0].modelRef.name: no ModelRoute x",
    },
    {
      name: "a route that leads to itself",
      manifests: [route("r", toRoute("r"))],
      want: "error r spec.targets[0].modelRef.name: the references form a cycle",
    },
    {
      name: "a longer cycle",
      manifests: [route("a", toRoute("b")), route("b", toRoute("c")), route("c", toRoute("a"))],
      want: "error c spec.targets[0].modelRef.name: the references form a cycle",
    },
    {
      name: "four references one after the other",
      manifests: [
        channel("c", "team-a", ""),
        route("r1", toRoute("r2")),
        route("r2", toRoute("r3")),
        route("r3", toRoute("r4")),
        route("r4", toRoute("r5")),
        route("r5", toChannel("c")),
      ],
      want: "error r1 spec.targets[0].modelRef.name: a chain of more than 3 references",
    },
    {
      name: "a public name taken twice",
      manifests: [
        channel("c", "team-a", ""),
        route("a", toChannel("c"), ", model: m"),
        route("b", toChannel("c"), ", model: other, aliases: [m]"),
      ],
      want: "error b spec.aliases[0]: Duplicate value: ModelRoute team-a/a",
    },
  ]) {
    it(name, () => {
      const found = check(...manifests);
      assert.ok(
        found.some((line) => line.includes(want)),
        found.join("\n"),
      );
    });
  }

  it("a web of routes in little time", () => {
    const layers = Array.from({ length: 20 }, (_, layer) => layer);
    const width = Array.from({ length: 10 }, (_, place) => place);
    const web = layers.flatMap((layer) =>
      width.map((place) =>
        route(`r-${layer}-${place}`, width.map((next) => toRoute(`r-${layer + 1}-${next}`)).join(",")),
      ),
    );
    const started = performance.now();
    assert.ok(check(...web).length > 0);
    assert.ok(performance.now() - started < 5_000);
  });

  it("never the value of a Secret", () => {
    const found = check(
      secret("s", "apiKey: hunter2hunter2"),
      key("k", "{credentials: [{name: c, secretKeyRef: {name: s}}]}"),
    );
    assert.ok(!found.join().includes("hunter2"));
  });
});
