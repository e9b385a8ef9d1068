import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { isJsonObject } from "../../../../operator/schema/check-structure.ts";
import { identifyDocument, validateResource } from "../../../../operator/schema/validate-resource.ts";
import { readExamples } from "../../../support/crd-examples.ts";
import { mutateManifest, seededRandom } from "../../../support/mutate-manifest.ts";

const credentials = [{ name: "current", sha256: "ab".repeat(32) }];

function apiKey(spec: object, metadata: object = {}): object {
  return {
    apiVersion: "tollgate.dev/v1alpha1",
    kind: "ApiKey",
    metadata: { name: "ci-bot", namespace: "team-a", ...metadata },
    spec: { credentials, ...spec },
  };
}

function secret(members: object): object {
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "team-a" }, ...members };
}

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
      message: "must be of type string",
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
      message: "must be of type string",
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

describe("validateResource() returns", () => {
  it("an object with every default, as the API server stores it", () => {
    const document = {
      apiVersion: "tollgate.dev/v1alpha1",
      kind: "Channel",
      metadata: { name: "openai" },
      spec: { provider: "OpenAI", credentials: [{ name: "main", secretKeyRef: { name: "openai-key" } }] },
    };
    const { object } = validateResource(document);
    assert.ok(object?.kind === "Channel");
    assert.equal(object.metadata.namespace, "default");
    assert.deepEqual(object.spec.privacy, {
      store: "PassThrough",
      safetyIdentifier: "Strip",
      streamObfuscation: "Strip",
      clientMetadata: "Forward",
    });
    assert.deepEqual(object.spec.allowedNamespaces, { from: "Same" });
    assert.deepEqual(object.spec.credentials, [
      { name: "main", secretKeyRef: { name: "openai-key", key: "apiKey" }, weight: 1, state: "Active" },
    ]);
  });

  it("a Secret whose stringData is merged over its data", () => {
    const { object } = validateResource(secret({ data: { a: "YQ==", b: "Yg==" }, stringData: { b: "new" } }));
    assert.ok(object?.kind === "Secret");
    assert.deepEqual(object.data, { a: "YQ==", b: Buffer.from("new").toString("base64") });
    assert.ok(!("stringData" in object));
  });

  it("an object without status", () => {
    const { object } = validateResource({ ...apiKey({}), status: { lastUsedTime: "x" } });
    assert.ok(object !== undefined && !("status" in object));
  });

  it("the input unchanged", () => {
    const document = apiKey({ limits: [{ name: "quota", unit: "Cost", limit: "1", period: "Day" }] });
    const before = structuredClone(document);
    validateResource(document);
    assert.deepEqual(document, before);
  });
});

describe("validateResource() compares with the version before", () => {
  const before = { spec: { credentials, accountRef: { name: "a" } } };
  for (const { name, spec, previous, problems } of [
    { name: "an account that stays is fine", spec: { accountRef: { name: "a" } }, previous: before, problems: 0 },
    { name: "an account that changes is refused", spec: { accountRef: { name: "b" } }, previous: before, problems: 1 },
    { name: "an account that goes is refused", spec: {}, previous: before, problems: 1 },
    {
      name: "an account that comes is refused",
      spec: { accountRef: { name: "a" } },
      previous: { spec: { credentials } },
      problems: 1,
    },
    {
      name: "a new object has nothing to compare with",
      spec: { accountRef: { name: "b" } },
      previous: undefined,
      problems: 0,
    },
    {
      name: "a credential of another name may be generated",
      spec: {
        accountRef: { name: "a" },
        credentials: [...credentials, { name: "next", generate: { secretName: "s" } }],
      },
      previous: before,
      problems: 0,
    },
    {
      name: "a credential of the same name may not turn into a generated one",
      spec: { accountRef: { name: "a" }, credentials: [{ name: "current", generate: { secretName: "s" } }] },
      previous: before,
      problems: 1,
    },
  ]) {
    it(name, () => {
      const found = validateResource(apiKey(spec), previous === undefined ? {} : { previous }).problems;
      assert.equal(found.length, problems, JSON.stringify(found));
    });
  }
});

describe("validateResource() on random input", () => {
  const examples = readExamples("valid");

  it("applies defaults once and for all: a second time changes nothing", () => {
    const property = fc.property(fc.integer(), fc.nat(), (seed, index) => {
      const mutated = mutateManifest(examples[index % examples.length]?.document.object, seededRandom(seed));
      const { object } = validateResource(mutated);
      if (object !== undefined) assert.deepEqual(validateResource(object), { object, problems: [] });
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it("never throws and gives an object or a reason", () => {
    const property = fc.property(
      fc.jsonValue(),
      fc.constantFrom("ApiKey", "Channel", "ModelRoute", "Account"),
      (spec, kind) => {
        const { object, problems } = validateResource({
          apiVersion: "tollgate.dev/v1alpha1",
          kind,
          metadata: { name: "x" },
          spec,
        });
        assert.equal(object === undefined, problems.length > 0);
      },
    );
    fc.assert(property, { numRuns: 1_000 });
    fc.assert(
      fc.property(fc.jsonValue(), (document) => {
        assert.ok(validateResource(document).problems.length > 0);
      }),
    );
  });

  it("names every problem by a path that leads into the document", () => {
    const property = fc.property(fc.integer(), fc.nat(), (seed, index) => {
      const mutated = mutateManifest(examples[index % examples.length]?.document.object, seededRandom(seed));
      for (const { path } of validateResource(mutated).problems) {
        let value: unknown = mutated;
        for (const step of path.slice(0, -1)) {
          if (Array.isArray(value)) value = value[Number(step)];
          else if (isJsonObject(value)) value = value[step];
        }
        assert.ok(typeof value === "object", path.join("."));
      }
    });
    fc.assert(property, { numRuns: 1_000 });
  });
});

describe("validateResource() in a hardened process", () => {
  it("needs no code generation from strings", () => {
    const module = new URL("../../../../operator/schema/validate-resource.ts", import.meta.url).href;
    const script = `const { validateResource } = await import(${JSON.stringify(module)});
      process.stdout.write(String(validateResource(${JSON.stringify(apiKey({ limits: [] }))}).problems.length));`;
    const nodeArguments = ["--disallow-code-generation-from-strings", "--input-type=module", "-e", script];
    const { stdout, stderr } = spawnSync(process.execPath, nodeArguments, { encoding: "utf8" });
    assert.equal(stdout, "0", stderr);
  });
});

describe("identifyDocument()", () => {
  for (const { name, document, want } of [
    {
      name: "names a broken object",
      document: { kind: "ApiKey", metadata: { name: "a", namespace: "b" }, spec: 5 },
      want: { kind: "ApiKey", namespace: "b", name: "a" },
    },
    {
      name: "fills in the namespace",
      document: { kind: "ApiKey", metadata: { name: "a" } },
      want: { kind: "ApiKey", namespace: "default", name: "a" },
    },
    {
      name: "leaves a Namespace without one",
      document: { kind: "Namespace", metadata: { name: "a" } },
      want: { kind: "Namespace", namespace: "", name: "a" },
    },
    { name: "gives up without a name", document: { kind: "ApiKey", metadata: {} }, want: undefined },
    { name: "gives up on what is no object", document: "x", want: undefined },
  ]) {
    it(name, () => assert.deepEqual(identifyDocument(document), want));
  }
});
