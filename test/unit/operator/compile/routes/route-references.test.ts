import assert from "node:assert/strict";
import { RouteReferences } from "#operator/compile/routes/route-references";
import type { ModelRouteResource } from "#operator/resources/resource";
import type { ModelRouteSpec } from "#operator/resources/types.gen";

const usual = { priority: 0, weight: 1 };
const usualSpec: Omit<ModelRouteSpec, "targets"> = {
  visibility: "Listed",
  capabilities: ["Chat"],
  strategy: "Weighted",
};

/** Routes of namespace `a` by what they refer to. */
function references(routes: { readonly [name: string]: readonly string[] }): RouteReferences {
  const resources = Object.entries(routes).map(([name, targets]): [string, ModelRouteResource] => [
    `a/${name}`,
    {
      kind: "ModelRoute",
      metadata: { namespace: "a", name, labels: {}, generation: 1 },
      spec: {
        ...usualSpec,
        targets: targets.map((target, index) => ({ name: `t${index}`, modelRef: { name: target }, ...usual })),
      },
    },
  ]);
  const byIdentity = new Map(resources);
  return new RouteReferences((identity) => byIdentity.get(identity));
}

/** Each route refers to the next, the last to `last`. */
function chain(length: number, last: string): RouteReferences {
  const names = Array.from({ length }, (_, index) => `r${index}`);
  return references(Object.fromEntries(names.map((name, index) => [name, [names[index + 1] ?? last]])));
}

describe("references of routes", () => {
  for (const row of [
    { name: "a route that refers to itself", routes: { one: ["one"] }, want: { one: "a/one a/one" } },
    {
      name: "a cycle, and who leads to it is not part of it",
      routes: { outer: ["one"], one: ["two"], two: ["one"] },
      want: { outer: "no", one: "a/one a/two a/one", two: "a/two a/one a/two" },
    },
    {
      name: "the shorter of two ways back",
      routes: { one: ["two", "three"], two: ["three"], three: ["one"] },
      want: { one: "a/one a/three a/one" },
    },
    {
      name: "two cycles that share a route",
      routes: { one: ["two"], two: ["one", "three"], three: ["two"] },
      want: { one: "a/one a/two a/one", three: "a/three a/two a/three" },
    },
    {
      name: "no cycle where two ways meet",
      routes: { one: ["two", "three"], two: ["three"], three: [] },
      want: { one: "no" },
    },
  ]) {
    it(`name ${row.name}`, () => {
      const found = references(row.routes);
      const ways = Object.keys(row.want).map((name) => {
        return [name, found.isInCycle(`a/${name}`) ? found.cyclePath(`a/${name}`).join(" ") : "no"];
      });
      assert.deepEqual(Object.fromEntries(ways), row.want);
    });
  }

  it("three after another are allowed, a route that does not exist among them, and a fourth is too deep", () => {
    const found = references({ one: ["two"], two: ["three"], three: ["four"], four: ["gone"] });
    assert.deepEqual([found.isTooDeep("a/one"), found.isTooDeep("a/two")], [true, false]);
  });

  it("a cycle below a route does not count", () => {
    const found = references({ one: ["two"], two: ["three"], three: ["four"], four: ["ring"], ring: ["ring"] });
    assert.equal(found.isTooDeep("a/one"), false);
  });

  it("a chain may be longer than any stack, and a cycle too, of which a few routes are named", () => {
    const long = chain(50_000, "end");
    assert.deepEqual(
      [long.isTooDeep("a/r0"), long.isTooDeep("a/r49998"), long.isInCycle("a/r0")],
      [true, false, false],
    );
    const ring = chain(50_000, "r0");
    assert.equal(ring.cyclePath("a/r7").join(" "), "a/r7 a/r8 ... a/r7");
    assert.equal(chain(12, "r0").cyclePath("a/r0").join(" "), "a/r0 a/r1 a/r2 a/r3 a/r4 a/r5 ... a/r0");
  });

  it("are the same for the whole of a pass, whatever changes meanwhile", () => {
    const routes = new Map<string, ModelRouteResource>();
    const put = (name: string, to: string) =>
      routes.set(`a/${name}`, {
        kind: "ModelRoute",
        metadata: { namespace: "a", name, labels: {}, generation: 1 },
        spec: { ...usualSpec, targets: [{ name: "t", modelRef: { name: to }, ...usual }] },
      });
    put("one", "two");
    const during = new RouteReferences((identity) => routes.get(identity));
    assert.equal(during.isInCycle("a/one"), false);
    put("two", "one");
    assert.deepEqual([during.isInCycle("a/two"), during.routeOf("a/two")], [false, undefined]);
    assert.equal(new RouteReferences((identity) => routes.get(identity)).isInCycle("a/two"), true);
  });
});
