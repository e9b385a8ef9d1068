import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { RouteResult } from "#operator/compile/result";
import { compileText } from "#test/support/compile-manifests";

function routeWith(targets: string): RouteResult {
  const { results } = compileText(`
apiVersion: tollgate.dev/v1alpha1
kind: Channel
metadata: {name: up, namespace: a}
spec: {provider: OpenAICompatible, baseURL: "https://models.example.com"}
---
apiVersion: tollgate.dev/v1alpha1
kind: ModelRoute
metadata: {name: m, namespace: a}
spec: {targets: ${targets}}
`);
  const result = results.get("route/a/m");
  assert.ok(result?.kind === "ModelRoute");
  return result;
}

describe("status of a route's targets", () => {
  it("counts as usable only what has a weight", () => {
    const { targets, available } = routeWith(
      "[{name: x, channelRef: {name: up}, weight: 0}, {name: z, channelRef: {name: up}}]",
    );
    assert.deepEqual(targets, [
      { name: "x", resolved: true, reason: "WeightIsZero" },
      { name: "z", resolved: true, reason: "Resolved" },
    ]);
    assert.equal(available.message, "1 target can be chosen.");
  });

  it("says that nothing can be chosen where every weight is 0", () => {
    const { available } = routeWith("[{name: x, channelRef: {name: up}, weight: 0}]");
    assert.deepEqual([available.status, available.reason], ["False", "NoUsableTarget"]);
  });
});
