/**
 * A fault of the compiler shows on one object (docs/design/reliability.md J8): made here with values that cannot be
 * read.
 */
import assert from "node:assert/strict";
import { Compilation } from "#operator/compile/compilation";
import { defaultCompileSettings } from "#operator/compile/compile";
import { everyObject, MutableResourceSet } from "#operator/resources/mutable-resource-set";
import type { OwnResource } from "#operator/resources/resource";
import { resourcesOf } from "#test/support/compile-manifests";

const digest = (digit: string) => digit.repeat(64);
const manifests = [
  { kind: "ApiKey", name: "poor", spec: { credentials: [{ name: "c", sha256: digest("1") }] } },
  { kind: "ApiKey", name: "well", spec: { credentials: [{ name: "c", sha256: digest("2") }] } },
  ...["poor", "well"].flatMap((name) => [
    { kind: "Account", name, spec: { state: "Active" } },
    { kind: "Channel", name, spec: { provider: "OpenAICompatible", baseURL: "https://models.example/v1" } },
    { kind: "ModelRoute", name, spec: { targets: [{ name: "t", channelRef: { name } }] } },
  ]),
]
  .map(({ kind, name, spec }) =>
    JSON.stringify({ apiVersion: "tollgate.dev/v1alpha1", kind, metadata: { name, namespace: "a" }, spec }),
  )
  .join("\n---\n");

const fault = new TypeError("somebody forgot a case");
const broken = (members: object, member: string): object =>
  Object.defineProperty({ ...members }, member, {
    enumerable: true,
    get() {
      throw fault;
    },
  });

interface Kind {
  readonly id: string;
  readonly kind: OwnResource["kind"];
  /** A member of the spec that only compiling reads. */
  readonly member: string;
}
const kinds: readonly Kind[] = [
  { id: "key/a", kind: "ApiKey", member: "limits" },
  { id: "account/a", kind: "Account", member: "limits" },
  { id: "channel/a", kind: "Channel", member: "limits" },
  { id: "route/a", kind: "ModelRoute", member: "failover" },
];

function start() {
  const resources = new MutableResourceSet();
  const given = resourcesOf(manifests);
  for (const change of everyObject(given)) {
    const maps = [given.apiKeys, given.accounts, given.channels, given.modelRoutes];
    for (const map of maps)
      for (const resource of map.values()) if (resource.kind === change.kind) resources.set(resource);
  }
  const compilation = new Compilation(resources, defaultCompileSettings);
  const spoil = (kind: OwnResource["kind"], member: string) => {
    const change = { kind, namespace: "a", name: "poor" };
    const resource = resources.get(change);
    assert.ok(resource && "spec" in resource && resource.spec);
    const metadata = { ...resource.metadata, generation: 2 };
    // The types say that a spec can be read; this is what it is like when they are wrong.
    resources.set(JSON.parse(JSON.stringify({ ...resource, metadata })));
    const spoilt = resources.get(change);
    assert.ok(spoilt);
    Object.assign(spoilt, { spec: broken(resource.spec, member) });
    return { change, mend: () => resources.set(resource) };
  };
  return { resources, compilation, spoil };
}

describe("an object that the compiler fails on", () => {
  for (const { id, kind, member } of kinds) {
    it(`is refused at the first pass, and the rest goes on: ${kind}`, () => {
      const { resources, compilation, spoil } = start();
      const { mend, change } = spoil(kind, member);
      const { faults } = compilation.update(everyObject(resources));
      assert.deepEqual([...faults], [[`${id}/poor`, fault]]);
      const result = compilation.results.get(`${id}/poor`);
      assert.deepEqual([result?.accepted.status, result?.accepted.reason], ["False", "Invalid"]);
      assert.match(
        result?.accepted.message ?? "",
        /upgrade the operator\. (?:The key is denied|Nothing of it is served)/,
      );
      assert.deepEqual([result?.generation, result?.wireIds], [2, []]);
      assert.equal(compilation.objects.has(`${id}/poor`), false);
      for (const other of kinds) assert.ok(compilation.objects.has(`${other.id}/well`), other.kind);
      compilation.endPass();

      mend();
      assert.equal(compilation.update([change]).faults.size, 0);
      assert.equal(compilation.results.get(`${id}/poor`)?.accepted.reason, "Valid");
      assert.ok(compilation.objects.has(`${id}/poor`));
    });

    it(`keeps the version before it, but a key is denied: ${kind}`, () => {
      const { resources, compilation, spoil } = start();
      compilation.update(everyObject(resources));
      compilation.endPass();
      const before = compilation.objects.get(`${id}/poor`);
      assert.ok(before);
      const { change } = spoil(kind, member);
      const { removes, faults } = compilation.update([change, { kind, namespace: "a", name: "well" }]);
      const isKey = kind === "ApiKey";
      assert.deepEqual([...removes], isKey ? [`${id}/poor`] : []);
      assert.equal(compilation.objects.get(`${id}/poor`), isKey ? undefined : before);
      const result = compilation.results.get(`${id}/poor`);
      assert.deepEqual([result?.accepted.reason, result?.generation], ["Invalid", 2]);
      assert.match(result?.accepted.message ?? "", isKey ? /The key is denied/ : /The previous version is served\./);
      assert.deepEqual(result?.wireIds, isKey ? [] : [`${id}/poor`]);
      assert.deepEqual([...faults.keys()], [`${id}/poor`]);
      compilation.endPass();
      assert.equal(compilation.update([change]).faults.size, 0, "told once");
    });
  }

  for (const { kind, member, id } of [
    { id: "key/a", kind: "ApiKey", member: "credentials" },
    { id: "channel/a", kind: "Channel", member: "credentials" },
    { id: "route/a", kind: "ModelRoute", member: "targets" },
    { id: "route/a", kind: "ModelRoute", member: "aliases" },
  ] as const) {
    it(`is refused also where what it refers to or claims cannot be read: ${kind} ${member}`, () => {
      const { resources, compilation, spoil } = start();
      const { change } = spoil(kind, member);
      compilation.update(everyObject(resources));
      assert.equal(compilation.results.get(`${id}/poor`)?.accepted.reason, "Invalid");
      for (const other of kinds) assert.ok(compilation.objects.has(`${other.id}/well`), other.kind);
      resources.delete(change);
      compilation.update([change]);
      assert.equal(compilation.results.has(`${id}/poor`), false);
    });
  }
});
