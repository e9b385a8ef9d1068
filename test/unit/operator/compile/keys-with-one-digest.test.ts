import assert from "node:assert/strict";
import { Compilation } from "#operator/compile/compilation";
import { defaultCompileSettings } from "#operator/compile/compile";
import { everyObject, MutableResourceSet } from "#operator/resources/mutable-resource-set";
import type { ApiKeyResource, ObjectMeta } from "#operator/resources/resource";

const key = (name: string, metadata: Partial<ObjectMeta>): ApiKeyResource => ({
  kind: "ApiKey",
  metadata: { namespace: "team", name, labels: {}, generation: 1, uid: `uid-${name}`, ...metadata },
  spec: { state: "Active", credentials: [{ name: "one", sha256: "1".repeat(64) }] },
});
const outcomeOf = ({ objects, results }: Compilation) => ({
  served: [...objects.keys()].filter((id) => id.startsWith("key/")),
  accepted: Object.fromEntries([...results].map(([id, { accepted }]) => [id, `${accepted.status} ${accepted.reason}`])),
});

function compiled(resources: MutableResourceSet): Compilation {
  const compilation = new Compilation(resources, defaultCompileSettings);
  compilation.update(everyObject(resources));
  return compilation;
}

describe("keys that share a digest", () => {
  for (const row of [
    { name: "the winner made anew within one pass", next: { uid: "anew", createdAtMs: 3_000 }, want: "key/team/b" },
    { name: "the loser found to be the older", of: "b", next: { uid: "other", createdAtMs: 500 }, want: "key/team/b" },
    { name: "the winner being deleted", next: { generation: 2, isDeleting: true }, want: "key/team/b" },
    { name: "the loser being deleted", of: "b", next: { generation: 2, isDeleting: true }, want: "key/team/a" },
  ] as const) {
    it(`come to what a fresh operator says: ${row.name}`, () => {
      const resources = new MutableResourceSet();
      const ages = { a: { createdAtMs: 1_000 }, b: { createdAtMs: 2_000 } };
      resources.set(key("a", ages.a));
      resources.set(key("b", ages.b));
      const compilation = compiled(resources);
      assert.deepEqual(outcomeOf(compilation).served, ["key/team/a"]);
      const name = "of" in row ? row.of : "a";
      resources.set(key(name, { ...ages[name], ...row.next }));
      compilation.update([{ kind: "ApiKey", namespace: "team", name }]);
      assert.deepEqual(outcomeOf(compilation), outcomeOf(compiled(resources)));
      assert.deepEqual(outcomeOf(compilation).served, [row.want]);
    });
  }
});
