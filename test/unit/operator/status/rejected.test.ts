import assert from "node:assert/strict";
import type { RouteResult } from "#operator/compile/result";
import type { ObjectRefusal } from "#operator/push/fleet";
import { conditionsOf } from "#operator/status/conditions";
import { isSameMeaning } from "#operator/status/same-meaning";
import type { StatusDocument } from "#operator/status/status-document";

const route: RouteResult = {
  id: "route/a/r",
  kind: "ModelRoute",
  namespace: "a",
  name: "r",
  generation: 2,
  model: "m",
  wireIds: ["route/a/r"],
  accepted: { status: "True", reason: "Valid", message: "" },
  resolvedRefs: { status: "True", reason: "Resolved", message: "" },
  available: { status: "True", reason: "Available", message: "" },
  targets: [],
};

function statusOf(rejects: readonly ObjectRefusal[]): StatusDocument {
  const acknowledgement = { state: "Rejected", readyProxies: 500, acknowledgedBy: 500, rejects } as const;
  const conditions = conditionsOf(route, acknowledgement, { nowMs: 0, wasProgrammed: false });
  return {
    apiVersion: "tollgate.dev/v1alpha1",
    kind: "ModelRoute",
    metadata: { namespace: "a", name: "r" },
    status: { conditions },
  };
}

const messageOf = (document: StatusDocument) =>
  document.status.conditions.find(({ type }) => type === "Programmed")?.message ?? "";
const proxies = (count: number, why: string): ObjectRefusal[] =>
  Array.from({ length: count }, (_, index) => ({ by: `tollgate-proxy-${index}`, why }));

describe("Programmed=False/Rejected", () => {
  it("says what was said once, and names a few of those who said it", () => {
    assert.equal(
      messageOf(statusOf([...proxies(7, "/newField is not known"), { by: "old", why: "/limits" }])),
      "A proxy refused it: /limits (by old); /newField is not known (by tollgate-proxy-0, tollgate-proxy-1, " +
        "tollgate-proxy-2, tollgate-proxy-3, tollgate-proxy-4 and 2 more). Run operator and proxies of one version.",
    );
  });

  it("fits its field, whatever every one of 500 proxies says", () => {
    const rejects = proxies(500, "").map(({ by }, index) => ({ by, why: `${index} ${"x".repeat(5_000)}` }));
    assert.ok(messageOf(statusOf(rejects)).length <= 32_768);
    assert.match(messageOf(statusOf(rejects)), / and 495 more\. Run/);
  });

  it("means the same while proxies come and go, and something else with another reason", () => {
    const [many, few] = [statusOf(proxies(50, "/newField")), statusOf(proxies(1, "/newField"))];
    assert.ok(isSameMeaning(many, few));
    assert.ok(!isSameMeaning(many, statusOf([...proxies(49, "/newField"), { by: "p", why: "/limits" }])));
  });
});
