import assert from "node:assert/strict";
import { compileText } from "../../../support/compile-manifests.ts";

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
