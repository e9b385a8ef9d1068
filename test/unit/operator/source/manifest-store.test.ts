import assert from "node:assert/strict";
import { compile, defaultCompileSettings } from "#operator/compile/compile";
import { ManifestStore } from "#operator/source/manifest-store";
import { putText } from "#test/support/compile-manifests";

const key = `apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: one, namespace: a}
spec:
  credentials: [{name: one, sha256: "${"1".repeat(64)}"}]
---
`;
const account = `apiVersion: tollgate.dev/v1alpha1
kind: Account
metadata: {name: two, namespace: a}
spec: {credit: "1"}
---
`;

describe("ManifestStore", () => {
  let store: ManifestStore;
  beforeEach(() => {
    store = new ManifestStore();
  });
  const compiled = () => compile(store.resources, defaultCompileSettings);
  const ids = () => [...compiled().objects.keys()].filter((id) => id !== "setting/fleet").sort();

  for (const { name, metadata, field } of [
    { name: "whose name leads to another folder", metadata: "{name: ../../b/c, namespace: a}", field: "metadata.name" },
    { name: "whose namespace does", metadata: "{name: one, namespace: ..}", field: "metadata.namespace" },
    { name: "whose names are another object's, split elsewhere", metadata: "{name: b/c}", field: "metadata.name" },
    { name: "whose namespace is no text", metadata: "{name: one, namespace: 5}", field: "metadata.namespace" },
    { name: "whose name begins with a dot", metadata: "{name: .one, namespace: a}", field: "metadata.name" },
    { name: "whose name has capitals", metadata: "{name: CI_Bot, namespace: a}", field: "metadata.name" },
  ]) {
    it(`an object ${name} does not come to be, which is told of the file and hides nothing`, () => {
      putText(store, "a.yaml", key + account);
      assert.deepEqual(ids(), ["account/a/two", "key/a/one"]);
      putText(store, "a.yaml", key.replace("{name: one, namespace: a}", metadata) + account);
      assert.deepEqual(ids(), ["account/a/two"]);
      const [problem, ...others] = store.resources.problems;
      assert.deepEqual([problem?.origin, problem?.field, others], [{ file: "a.yaml", line: 3 }, field, []]);
      assert.match(problem?.message ?? "", /^Invalid value: .*\.$/);
      assert.deepEqual([...compiled().results.keys()].sort(), ["account/a/two"]);
      putText(store, "a.yaml", key + account);
      assert.deepEqual(ids(), ["account/a/two", "key/a/one"]);
      assert.deepEqual(store.resources.problems, []);
    });
  }

  for (const { name, text } of [
    { name: "of another group", text: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n" },
    {
      name: "of another group, without a name",
      text: "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
    },
    {
      name: "of another group, called as one of ours",
      text: "apiVersion: knative.dev/v1\nkind: Channel\nmetadata: {name: c}\n",
    },
    { name: "of Kubernetes, that nobody reads", text: "apiVersion: v1\nkind: Service\nmetadata: {name: S}\n" },
  ]) {
    it(`passes over a kind ${name}`, () => {
      putText(store, "a.yaml", text);
      assert.deepEqual([store.resources.problems, ids()], [[], []]);
    });
  }

  it("concludes nothing of what stood behind another's object that is cut short", () => {
    const deployment = "apiVersion: apps/v1\nkind: Deployment\n";
    putText(store, "a.yaml", `${deployment}metadata: {name: d}\n---\n${account}`);
    putText(store, "a.yaml", deployment);
    assert.deepEqual(ids(), ["account/a/two"]);
  });

  it("tells that a Secret was given to another ApiKey, though its values stay", () => {
    const store = new ManifestStore();
    const text = (owner: string) =>
      `apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: a, annotations: {tollgate.dev/generated-for: ApiKey/${owner}}}\n`;
    putText(store, "secret.yaml", text("one"));
    assert.deepEqual(putText(store, "secret.yaml", `# The same.\n${text("one")}`), []);
    assert.deepEqual(putText(store, "secret.yaml", text("two")), [{ kind: "Secret", namespace: "a", name: "s" }]);
  });

  it("reads a List that is larger than any one object", () => {
    const items = Array.from({ length: 1_000 }, (_, index) => ({
      apiVersion: "tollgate.dev/v1alpha1",
      kind: "Account",
      metadata: { name: `account-${index}`, namespace: "a", annotations: { note: "x".repeat(2_000) } },
      spec: { credit: "1" },
    }));
    putText(store, "a.json", JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    assert.equal(ids().length, 1_000);
  }).timeout(30_000);

  for (const version of ["tollgate.dev/v1", "v1"]) {
    it(`tells of an ApiKey of ${version}, which is none`, () => {
      putText(store, "a.yaml", key.replace("tollgate.dev/v1alpha1", version));
      assert.deepEqual(
        store.resources.problems.map(({ message }) => message),
        [`This version has no kind ${version} ApiKey; correct apiVersion or kind.`],
      );
    });
  }
});
