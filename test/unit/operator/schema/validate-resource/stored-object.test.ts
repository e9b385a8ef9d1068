import assert from "node:assert/strict";
import { validateResource } from "#operator/schema/validate-resource";
import { apiKey, credentials, secret } from "#test/support/resource-documents";

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
