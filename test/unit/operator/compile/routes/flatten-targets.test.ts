import assert from "node:assert/strict";
import { Compilation } from "#operator/compile/compilation";
import { defaultCompileSettings } from "#operator/compile/compile";
import { everyObject, MutableResourceSet } from "#operator/resources/mutable-resource-set";
import type { ModelRouteSpec } from "#operator/resources/types.gen";
import { compileText, resourcesOf } from "#test/support/compile-manifests";

const channels = ["one", "two", "three"]
  .map((name) => {
    const spec = { provider: "OpenAICompatible", baseURL: "https://models.example/v1" };
    return JSON.stringify({ apiVersion: "tollgate.dev/v1alpha1", kind: "Channel", metadata: { name }, spec });
  })
  .join("\n---\n");

function targetsOf(routes: { readonly [name: string]: readonly object[] }): string[] {
  const texts = Object.entries(routes).map(([name, targets]) => {
    return JSON.stringify({
      apiVersion: "tollgate.dev/v1alpha1",
      kind: "ModelRoute",
      metadata: { name },
      spec: { targets },
    });
  });
  const route = compileText([channels, ...texts].join("\n---\n")).objects.get("route/default/outer");
  assert.equal(route?.kind, "route");
  return route.targets.map(({ name, priority, weight }) => `${name} p${priority} w${weight}`);
}

describe("flattenTargets()", () => {
  const inner = [
    { name: "a", channelRef: { name: "one" }, weight: 2 },
    { name: "b", channelRef: { name: "two" }, weight: 1 },
    { name: "c", channelRef: { name: "three" }, priority: 7 },
  ];
  for (const row of [
    {
      name: "leaves plain targets as they are written",
      outer: [{ name: "x", channelRef: { name: "one" }, priority: 4, weight: 3 }],
      want: ["x p4 w3"],
    },
    {
      name: "puts a reference's first tier beside a plain target and shares its weight there",
      outer: [
        { name: "x", channelRef: { name: "one" }, weight: 1 },
        { name: "m", modelRef: { name: "inner" }, weight: 1 },
      ],
      want: ["x p0 w900", "m/a p0 w600", "m/b p0 w300", "m/c p1 w900"],
    },
    {
      name: "asks all tiers of a reference before the next tier of the outer route",
      outer: [
        { name: "last", channelRef: { name: "one" }, priority: 1 },
        { name: "m", modelRef: { name: "inner" } },
      ],
      want: ["last p2 w900", "m/a p0 w600", "m/b p0 w300", "m/c p1 w900"],
    },
  ]) {
    it(row.name, () => assert.deepEqual(targetsOf({ inner, outer: row.outer }), row.want));
  }
});

/** Channel `one`, and routes of namespace `default` by their targets, compiled for the first time. */
function compilationOf(routes: { readonly [name: string]: readonly object[] }) {
  const resources = new MutableResourceSet();
  for (const resource of resourcesOf(channels).channels.values()) resources.set(resource);
  const put = (name: string, targets: readonly object[]) => {
    const [own] = resourcesOf(
      JSON.stringify({
        apiVersion: "tollgate.dev/v1alpha1",
        kind: "ModelRoute",
        metadata: { name },
        spec: { targets },
      }),
    ).modelRoutes.values();
    assert.ok(own?.spec, name);
    resources.set(own);
    return { kind: "ModelRoute", namespace: "default", name } as const;
  };
  for (const [name, targets] of Object.entries(routes)) put(name, targets);
  const compilation = new Compilation(resources, defaultCompileSettings);
  compilation.update(everyObject(resources));
  const targetsOfRoute = (name: string) => {
    const route = compilation.objects.get(`route/default/${name}`);
    return route?.kind === "route" ? route.targets.length : undefined;
  };
  const acceptedOf = (name: string) => compilation.results.get(`route/default/${name}`)?.accepted.message;
  return { compilation, put, targetsOfRoute, acceptedOf };
}

const many = (count: number, target: object) =>
  Array.from({ length: count }, (_, at) => ({ name: `t${at}`, ...target }));
const toChannel = { channelRef: { name: "one" } };
const to = (name: string) => ({ modelRef: { name } });

describe("routes whose targets multiply", () => {
  it("are refused before so many are made, and the rest is served", function () {
    this.timeout(5_000);
    const { targetsOfRoute, acceptedOf } = compilationOf({
      a: many(64, to("b")),
      b: many(64, to("c")),
      c: many(64, to("d")),
      d: many(64, toChannel),
      fits: many(4, to("d")),
    });
    assert.equal(
      acceptedOf("a"),
      `spec.targets: ${64 ** 4} targets, including those of referenced routes; at most 256 are possible.`,
    );
    assert.equal(
      acceptedOf("c"),
      "spec.targets: 4096 targets, including those of referenced routes; at most 256 are possible.",
    );
    assert.deepEqual(["a", "b", "c", "d", "fits"].map(targetsOfRoute), [undefined, undefined, undefined, 64, 256]);
  });

  it("cost no more where none of them can be resolved", function () {
    this.timeout(5_000);
    const { compilation, targetsOfRoute } = compilationOf({
      a: many(64, to("b")),
      b: many(64, to("c")),
      c: many(64, to("d")),
      d: many(64, { channelRef: { name: "gone" } }),
    });
    const result = compilation.results.get("route/default/a");
    assert.equal(result?.resolvedRefs?.reason, "RouteNotReady");
    assert.equal(targetsOfRoute("a"), 0);
  });

  it("are counted anew when a route below changes", () => {
    const { compilation, put, targetsOfRoute, acceptedOf } = compilationOf({
      outer: many(64, to("inner")),
      inner: many(4, toChannel),
    });
    assert.equal(targetsOfRoute("outer"), 256);
    compilation.update([put("inner", many(5, toChannel))]);
    assert.equal(
      acceptedOf("outer"),
      "spec.targets: 320 targets, including those of referenced routes; at most 256 are possible.",
    );
    compilation.update([put("inner", many(1, to("outer")))]);
    assert.equal(compilation.results.get("route/default/outer")?.accepted.reason, "Cycle");
    compilation.update([put("inner", many(2, toChannel))]);
    assert.equal(targetsOfRoute("outer"), 128);
  });

  it("may stand at the top of a chain of 20,000 routes", function () {
    this.timeout(20_000);
    const last = 20_000;
    const resources = new MutableResourceSet();
    for (let at = 0; at <= last; at += 1) {
      const targets = [{ name: "t", priority: 0, weight: 1, ...(at === last ? toChannel : to(`r${at + 1}`)) }];
      const metadata = { namespace: "a", name: `r${at}`, labels: {}, generation: 1 };
      const spec: ModelRouteSpec = { targets, visibility: "Listed", capabilities: ["Chat"], strategy: "Weighted" };
      resources.set({ kind: "ModelRoute", metadata, spec });
    }
    const compilation = new Compilation(resources, defaultCompileSettings);
    compilation.update(everyObject(resources));
    compilation.update([{ kind: "ModelRoute", namespace: "a", name: `r${last}` }]);
    const reasons = [0, last - 4, last - 3].map((at) => compilation.results.get(`route/a/r${at}`)?.accepted.reason);
    assert.deepEqual(reasons, ["Invalid", "Invalid", "Valid"]);
  });
});
