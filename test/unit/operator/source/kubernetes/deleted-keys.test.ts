/** An object that is deleted while a finalizer holds it stays in the API, with a `deletionTimestamp`, for any time. */
import assert from "node:assert/strict";
import { Compilation } from "#operator/compile/compilation";
import { defaultCompileSettings } from "#operator/compile/compile";
import type { ApiMetadata, ApiObject } from "#operator/kubernetes/api/api-object";
import { everyObject } from "#operator/resources/mutable-resource-set";
import type { ResourceChange, ResourceKind } from "#operator/resources/resource";
import { ClusterStore } from "#operator/source/kubernetes/cluster-store";
import type { DataReference } from "#operator/source/kubernetes/wanted-data";
import { conditionsOf } from "#operator/status/conditions";

const base: ApiMetadata = {
  namespace: "team",
  name: "held",
  uid: "uid-held",
  resourceVersion: "10",
  generation: 1,
  creationTimestamp: "2026-01-01T00:00:00Z",
  finalizers: ["example.com/backup"],
};
const deletion = { resourceVersion: "11", generation: 2, deletionTimestamp: "2026-11-01T00:00:00Z" };
const digestOnly = [{ name: "one", sha256: "1".repeat(64) }];
const key = (metadata: Partial<ApiMetadata> = {}, credentials: readonly object[] = digestOnly): ApiObject => ({
  metadata: { ...base, ...metadata },
  spec: { credentials },
});

/** @param listed what was there when the operator started */
function rig(listed: readonly ApiObject[] = []) {
  const told: ResourceChange[] = [];
  const asked: DataReference[] = [];
  const store = new ClusterStore({
    onChange: (changes) => told.push(...changes),
    // As a Secret that is slow in coming, or never comes.
    fetchMissing: (references) => {
      asked.push(...references);
      return new Promise(() => undefined);
    },
  });
  const compilation = new Compilation(store.resources, defaultCompileSettings);
  for (const object of listed) store.put("ApiKey", object);
  compilation.update(everyObject(store.resources));
  store.open();
  const put = (object: ApiObject, kind: ResourceKind = "ApiKey") => {
    store.sinkFor(kind, undefined).put(object);
    compilation.update(told.splice(0));
  };
  return { store, compilation, asked, put };
}

function conditions({ results }: Compilation): { [type: string]: string } {
  const result = results.get("key/team/held") ?? assert.fail();
  const acknowledgement = { state: "Programmed", readyProxies: 1, acknowledgedBy: 1, rejects: [] } as const;
  const found = conditionsOf(result, acknowledgement, { nowMs: Date.parse("2026-11-02"), wasProgrammed: true });
  return Object.fromEntries(
    found.map(({ type, status, reason, message }) => [type, `${status} ${reason}: ${message}`]),
  );
}

describe("an ApiKey that is being deleted", () => {
  it("is off the wire at once, and says what it waits for", () => {
    const { compilation, put } = rig();
    put(key());
    assert.ok(compilation.objects.has("key/team/held"));
    put(key(deletion));
    assert.equal(compilation.objects.has("key/team/held"), false);
    const { Accepted = "", Programmed = "", Active = "" } = conditions(compilation);
    assert.match(
      Accepted,
      /^False Invalid: The ApiKey is being deleted.*finalizers are removed: example\.com\/backup\./,
    );
    assert.match(Programmed, /^False Pending: .*see Accepted/);
    assert.match(Active, /^False NotYetValid: Calls get 401; see Accepted/);
  });

  it("is refused by an operator that never saw it otherwise, and by one that missed the generation", () => {
    assert.equal(rig([key(deletion)]).compilation.objects.has("key/team/held"), false);
    const other = rig();
    other.put(key());
    other.put(key({ ...deletion, generation: 1 }));
    assert.equal(other.compilation.objects.has("key/team/held"), false);
  });

  it("names the finalizers that are left, and never more than fit", () => {
    const { compilation, put } = rig();
    put(key({ ...deletion, finalizers: Array.from({ length: 7 }, (_, index) => `example.com/${index}`) }));
    assert.match(conditions(compilation)["Accepted"] ?? "", /example\.com\/4 and 2 more\./);
    put(key({ ...deletion, resourceVersion: "12", finalizers: ["example.com/6"] }));
    assert.match(conditions(compilation)["Accepted"] ?? "", /finalizers are removed: example\.com\/6\./);
  });

  it("is refused as such also where it is not understood", () => {
    const { compilation, put } = rig();
    put(key(deletion, []));
    assert.match(conditions(compilation)["Accepted"] ?? "", /being deleted/);
  });

  it("waits for no Secret, keeps none, and has none made", () => {
    const credentials = [...digestOnly, { name: "made", generate: { secretName: "held-key" } }];
    const { store, compilation, asked, put } = rig([key({}, credentials)]);
    assert.equal(compilation.wantedSecrets().length, 1);
    asked.length = 0;
    put(key(deletion, credentials));
    assert.equal(compilation.objects.has("key/team/held"), false);
    assert.deepEqual([compilation.wantedSecrets(), asked], [[], []]);
    put({ metadata: { namespace: "team", name: "held-key", resourceVersion: "12" }, data: {} }, "Secret");
    assert.equal(store.resources.secrets.size, 0);
  });

  it("leaves its digest to another", () => {
    const { compilation, put } = rig();
    put(key());
    put(key({ name: "next", uid: "uid-next", creationTimestamp: "2026-02-01T00:00:00Z" }));
    assert.equal(compilation.objects.has("key/team/next"), false);
    put(key(deletion));
    assert.ok(compilation.objects.has("key/team/next"));
  });
});

describe("an Account that is being deleted", () => {
  it("goes on as it is until it is gone", () => {
    const { compilation, put } = rig();
    const account = (metadata: object = {}): ApiObject => ({
      metadata: { ...base, ...metadata },
      spec: { credit: "5" },
    });
    put(account(), "Account");
    put(account(deletion), "Account");
    assert.ok(compilation.objects.has("account/team/held"));
  });
});
