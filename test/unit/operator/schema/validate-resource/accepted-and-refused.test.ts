import assert from "node:assert/strict";
import { validateResource } from "#operator/schema/validate-resource";
import { apiKey, secret } from "#test/support/resource-documents";

function configMap(members: object): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, ...members };
}

describe("validateResource() accepts", () => {
  for (const { name, document } of [
    { name: "a key with nothing but a credential", document: apiKey({}) },
    { name: "a Secret with data and stringData", document: secret({ data: { a: "YQ==" }, stringData: { b: "x" } }) },
    { name: "a Secret without entries", document: secret({}) },
    { name: "base64 with line breaks", document: secret({ data: { a: "YWJj\nZGVm\n" } }) },
    { name: "a ConfigMap", document: configMap({ data: { "ca.crt": "x" }, binaryData: { "b.der": "AA==" } }) },
    {
      name: "a Namespace with labels",
      document: {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: "team-a", labels: { "example.com/tier": "gold", empty: "" } },
      },
    },
    { name: "status that an export left in", document: { ...apiKey({}), status: { observedGeneration: 3 } } },
    { name: "null where a field may be absent", document: apiKey({ displayName: null, limits: null }) },
    { name: "null where a field has a default", document: apiKey({ state: null }) },
    {
      name: "what kubectl wrote into metadata",
      document: apiKey(
        {},
        {
          uid: "u",
          resourceVersion: "7",
          generation: 2,
          creationTimestamp: null,
          managedFields: [],
          annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" },
        },
      ),
    },
  ]) {
    it(name, () => assert.deepEqual(validateResource(document).problems, []));
  }
});

describe("validateResource() refuses", () => {
  for (const { name, document, field, message } of [
    { name: "what is no object", document: ["x"], field: "", message: "write an object" },
    {
      name: "an object without apiVersion",
      document: { kind: "ApiKey" },
      field: "apiVersion",
      message: "give apiVersion",
    },
    { name: "an object without kind", document: { apiVersion: "v1" }, field: "kind", message: "give kind" },
    {
      name: "a kind of another version",
      document: { ...apiKey({}), apiVersion: "tollgate.dev/v1" },
      field: "apiVersion",
      message: "use tollgate.dev/v1alpha1",
    },
    {
      name: "an unknown kind",
      document: { apiVersion: "apps/v1", kind: "Deployment" },
      field: "kind",
      message: "no matches for kind Deployment",
    },
    {
      name: "a kind named like a member of every object",
      document: { apiVersion: "v1", kind: "constructor" },
      field: "kind",
      message: "no matches",
    },
    {
      name: "an object without a name",
      document: apiKey({}, { name: undefined }),
      field: "metadata.name",
      message: "Required value",
    },
    {
      name: "a name with capitals",
      document: apiKey({}, { name: "CI" }),
      field: "metadata.name",
      message: "lower-case",
    },
    {
      name: "a name that is too long",
      document: apiKey({}, { name: "a".repeat(254) }),
      field: "metadata.name",
      message: "253",
    },
    {
      name: "a name that is a number",
      document: apiKey({}, { name: 5 }),
      field: "metadata.name",
      message: "must be of type string",
    },
    {
      name: "a namespace with dots",
      document: apiKey({}, { namespace: "a.b" }),
      field: "metadata.namespace",
      message: "lower-case",
    },
    {
      name: "an unknown member of metadata",
      document: apiKey({}, { label: {} }),
      field: "metadata.label",
      message: "did you mean labels?",
    },
    {
      name: "a label value with spaces",
      document: apiKey({}, { labels: { tier: "very gold" } }),
      field: "metadata.labels.tier",
      message: "at most 63",
    },
    {
      name: "a label value that is no string",
      document: apiKey({}, { labels: { tier: true } }),
      field: "metadata.labels.tier",
      message: "must be of type string, not boolean: write it in quotes if text was meant",
    },
    {
      name: "a label key with two slashes",
      document: apiKey({}, { labels: { "a/b/c": "" } }),
      field: "metadata.labels[a/b/c]",
      message: "write the key",
    },
    {
      name: "annotations beyond 256 KiB",
      document: apiKey({}, { annotations: { a: "x".repeat(262_144) } }),
      field: "metadata.annotations",
      message: "Too long",
    },
    { name: "a member beside spec", document: { ...apiKey({}), data: {} }, field: "data", message: "unknown field" },
    {
      name: "an unknown member of status",
      document: { ...apiKey({}), status: { credit: 1 } },
      field: "status.credit",
      message: "unknown field",
    },
    {
      name: "a member called __proto__",
      document: apiKey(JSON.parse('{"__proto__": {"state": "Active"}}')),
      field: "spec.__proto__",
      message: "unknown field",
    },
    {
      name: "null as an item of a list",
      document: apiKey({ protocols: [null] }),
      field: "spec.protocols[0]",
      message: "not null",
    },
    {
      name: "a Namespace in a namespace",
      document: { apiVersion: "v1", kind: "Namespace", metadata: { name: "a", namespace: "b" } },
      field: "metadata.namespace",
      message: "Forbidden",
    },
    {
      name: "a Namespace with dots in its name",
      document: { apiVersion: "v1", kind: "Namespace", metadata: { name: "a.b" } },
      field: "metadata.name",
      message: "lower-case",
    },
    {
      name: "Secret data that is not base64",
      document: secret({ data: { apiKey: "sk-not-base64" } }),
      field: "data.apiKey",
      message: "should match",
    },
    {
      name: "a Secret entry that is a number",
      document: secret({ stringData: { port: 5 } }),
      field: "stringData.port",
      message: "must be of type string, not number: write it in quotes",
    },
    {
      name: "a Secret key with a slash",
      document: secret({ stringData: { "a/b": "x" } }),
      field: "stringData[a/b]",
      message: "at most 253",
    },
    {
      name: "a Secret beyond 1 MiB",
      document: secret({ stringData: { a: "x".repeat(1_048_577) } }),
      field: "data",
      message: "Too long",
    },
    {
      name: "a TLS Secret without its key",
      document: secret({ type: "kubernetes.io/tls", stringData: { "tls.crt": "x" } }),
      field: "data[tls.key]",
      message: "Required value",
    },
    {
      name: "a ConfigMap with an entry twice",
      document: configMap({ data: { a: "x" }, binaryData: { a: "AA==" } }),
      field: "binaryData.a",
      message: "not both",
    },
  ]) {
    it(name, () => {
      const { object, problems } = validateResource(document);
      assert.equal(object, undefined);
      const problem = problems.find((found) => found.field === field && found.message.includes(message));
      assert.ok(problem, JSON.stringify(problems));
    });
  }

  it("never repeats a value, which may be a secret in the wrong place", () => {
    const value = "sk-0123456789abcdefghijklmnopqrstuv";
    for (const document of [
      apiKey({ credentials: [{ name: "c", sha256: value }] }),
      apiKey({ metadata: { team: value } }),
      apiKey({ expiresAt: value }),
      secret({ data: { apiKey: `${value}!` } }),
    ]) {
      const { problems } = validateResource(document);
      assert.ok(problems.length > 0);
      assert.ok(!JSON.stringify(problems).includes(value));
    }
  });
});
