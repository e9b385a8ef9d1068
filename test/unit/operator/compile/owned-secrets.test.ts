import assert from "node:assert/strict";
import { Compilation } from "#operator/compile/compilation";
import { defaultCompileSettings } from "#operator/compile/compile";
import type { ApiObject } from "#operator/kubernetes/api/api-object";
import { everyObject } from "#operator/resources/mutable-resource-set";
import { ClusterStore } from "#operator/source/kubernetes/cluster-store";

const clientKey = `sk-${"owned".repeat(8)}`;
const apiKey = (credential: object): ApiObject => ({
  apiVersion: "tollgate.dev/v1alpha1",
  kind: "ApiKey",
  metadata: { namespace: "a", name: "bot", uid: "uid-now", resourceVersion: "5", generation: 1 },
  spec: { credentials: [{ name: "one", ...credential }] },
});
const secretOf = (ownerReferences?: readonly object[]): ApiObject => ({
  metadata: {
    namespace: "a",
    name: "bot-key",
    uid: "uid-secret",
    resourceVersion: "4",
    ...(ownerReferences && { ownerReferences }),
  },
  data: { apiKey: Buffer.from(clientKey).toString("base64") },
});
const owner = (changes: object = {}) => ({
  apiVersion: "tollgate.dev/v1alpha1",
  kind: "ApiKey",
  name: "bot",
  uid: "uid-before",
  controller: true,
  ...changes,
});
const generate = { generate: { secretName: "bot-key" } };

function compiled(credential: object, secret: ApiObject) {
  const store = new ClusterStore({ onChange: () => undefined, fetchMissing: async () => undefined });
  store.put("ApiKey", apiKey(credential));
  store.put("Secret", secret);
  const compilation = new Compilation(store.resources, defaultCompileSettings);
  compilation.update(everyObject(store.resources));
  return compilation;
}

describe("a generate credential whose Secret is there", () => {
  for (const row of [
    { name: "takes its own", owners: [owner({ uid: "uid-now" })], want: /^True Resolved/ },
    { name: "takes one that nobody owns, as somebody put it there", owners: undefined, want: /^True Resolved/ },
    { name: "takes one that has an owner and no controller", owners: [owner({ controller: false })], want: /^True/ },
    { name: "takes one of another kind", owners: [owner({ kind: "ExternalSecret" })], want: /^True/ },
    { name: "takes one of another group", owners: [owner({ apiVersion: "other.dev/v1" })], want: /^True/ },
    {
      name: "waits for that of a former key of its name to go",
      owners: [owner()],
      want: /^Unknown Pending: .*belongs to a former ApiKey of this name and is not used; wait until the garbage collector/,
    },
    {
      name: "leaves that of another key alone",
      owners: [owner({ kind: "Pod" }), owner({ name: "other" })],
      want: /^False InvalidSecret: .*belongs to ApiKey other; name another/,
    },
  ]) {
    it(row.name, () => {
      const compilation = compiled(generate, secretOf(row.owners));
      const { status, reason, message } = compilation.results.get("key/a/bot")?.resolvedRefs ?? assert.fail();
      assert.match(`${status} ${reason}: ${message}`, row.want);
      assert.equal(compilation.objects.has("key/a/bot"), status === "True");
      // There is nothing to be made until it is gone.
      assert.deepEqual(compilation.wantedSecrets(), []);
    });
  }

  it("is looked at for its owner only where it is to be made", () => {
    const compilation = compiled({ secretKeyRef: { name: "bot-key" } }, secretOf([owner()]));
    assert.ok(compilation.objects.has("key/a/bot"));
  });
});
