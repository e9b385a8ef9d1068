/**
 * Objects that the API server takes and that cannot work, before a real one: each says so in its condition and what to
 * do, in an Event where a person should see it, and takes nothing else down (J8).
 */
import assert from "node:assert/strict";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { ClusterRig, type OperatorUnderTest } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll, objectPath } from "#test/support/kubernetes/objects";
import { conditionOf, eventsOf, messageOf, waitForCondition } from "#test/support/kubernetes/status-of";
import { account, apiKey, channel, route, secret } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";

const inNamespace = (object: object, namespace: string): object => {
  const { metadata } = object as { readonly metadata: object };
  return { ...object, metadata: { ...metadata, namespace } };
};
const secretKey = (name: string, key = "apiKey") => [{ name: "current", secretKeyRef: { name, key } }];
const clientSecret = (name: string, apiKeyValue: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "default" },
  stringData: { apiKey: apiKeyValue },
});
const toRoute = (model: string, to: string) => {
  const targets = [{ name: "next", modelRef: { name: to } }];
  return route(model, [], { targets });
};

interface Row {
  readonly name: string;
  readonly objects: readonly object[];
  /** Kind and name of the one that says it. */
  readonly of: readonly [string, string];
  readonly type: string;
  readonly says: string;
  /** What to do. */
  readonly message: RegExp;
  /** It cannot be served at all. */
  readonly isDenied?: boolean;
}

const rows: readonly Row[] = [
  {
    name: "a key whose Secret is missing",
    objects: [apiKey("no-secret", { credentials: secretKey("nowhere") })],
    of: ["ApiKey", "no-secret"],
    type: "ResolvedRefs",
    says: "False SecretNotFound",
    message: /nowhere.*create it/,
    isDenied: true,
  },
  {
    name: "a key whose Secret has another member",
    objects: [
      clientSecret("other-member", `sk-${"x".repeat(30)}`),
      apiKey("no-member", { credentials: secretKey("other-member", "token") }),
    ],
    of: ["ApiKey", "no-member"],
    type: "ResolvedRefs",
    says: "False SecretKeyNotFound",
    message: /no key token; add it/,
    isDenied: true,
  },
  {
    name: "a key whose Secret holds no key",
    objects: [clientSecret("weak", "hunter2"), apiKey("weak", { credentials: secretKey("weak") })],
    of: ["ApiKey", "weak"],
    type: "ResolvedRefs",
    says: "False InvalidSecret",
    message: /must be sk-/,
    isDenied: true,
  },
  {
    name: "a key without its account",
    objects: [apiKey("no-account", { accountRef: { name: "nobody" } })],
    of: ["ApiKey", "no-account"],
    type: "ResolvedRefs",
    says: "False AccountNotFound",
    message: /nobody/,
    isDenied: true,
  },
  {
    name: "a channel to an address that is not allowed",
    objects: [channel("private", "http://10.1.2.3")],
    of: ["Channel", "private"],
    type: "Accepted",
    says: "False Invalid",
    message: /egress/,
    isDenied: true,
  },
  {
    name: "a route without its channel",
    objects: [route("no-channel", ["nowhere"])],
    of: ["ModelRoute", "no-channel"],
    type: "ResolvedRefs",
    says: "False ChannelNotFound",
    message: /nowhere/,
  },
  {
    name: "a route to a channel that does not allow its namespace",
    objects: [
      route("not-allowed", [], { targets: [{ name: "far", channelRef: { name: "far", namespace: "team-b" } }] }),
    ],
    of: ["ModelRoute", "not-allowed"],
    type: "ResolvedRefs",
    says: "False NotAllowed",
    message: /allowedNamespaces/,
  },
  {
    name: "routes that lead back to each other",
    objects: [toRoute("there", "back"), toRoute("back", "there")],
    of: ["ModelRoute", "there"],
    type: "Accepted",
    says: "False Cycle",
    message: /there|back/,
    isDenied: true,
  },
  {
    name: "a second route of one public name",
    objects: [route("m-too", ["up"], { model: "m" })],
    of: ["ModelRoute", "m-too"],
    type: "Accepted",
    says: "False Conflicted",
    message: /default\/m\b/,
    isDenied: true,
  },
];

describe("objects that cannot work", function () {
  this.timeout(60_000);
  let plane: ControlPlane;
  let rig: ClusterRig;
  let operator: OperatorUnderTest;

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    await plane.must("POST", "/api/v1/namespaces", { metadata: { name: "team-b" } });
    rig = new ClusterRig(plane);
    operator = await rig.startOperator("operator-0");
    await operator.waitUntilReady();
    await rig.startProxy("proxy-0", operator.socket);
    await applyAll(plane, [secret(), channel("up", 9), route("m", ["up"]), account("team", {}), apiKey("main")]);
    await applyAll(plane, [inNamespace(secret(), "team-b"), inNamespace(channel("far", 9), "team-b")]);
    await waitForCondition(plane, "ModelRoute", "m", "Programmed", "True Programmed");
  });

  after(async () => {
    await rig?.close();
    await plane?.stop();
  });

  for (const [index, { name, objects, of, type, says, message, isDenied = false }] of rows.entries()) {
    it(`${name} says so, and all else goes live`, async () => {
      const [kind, own] = of;
      await applyAll(plane, [...objects, apiKey(`beside-${index}`)]);
      await waitForCondition(plane, kind, own, type, says);
      assert.match(await messageOf(plane, kind, own, type), message);
      await waitForCondition(plane, "ApiKey", `beside-${index}`, "Programmed", "True Programmed");
      if (isDenied) assert.equal(await conditionOf(plane, kind, own, "Programmed"), "False Pending");
      const [, reason = ""] = says.split(" ");
      await waitFor("its Event", async () => (await eventsOf(plane, own)).some((event) => event.reason === reason));
    });
  }

  it("become live when they are mended", async () => {
    await applyAll(plane, [
      account("nobody", {}),
      channel("nowhere", 9),
      clientSecret("nowhere", `sk-${"y".repeat(30)}`),
    ]);
    await plane.must("DELETE", objectPath("ModelRoute", "default", "m"));
    await plane.must("DELETE", objectPath("ModelRoute", "default", "back"));
    for (const [kind, name] of [
      ["ApiKey", "no-secret"],
      ["ApiKey", "no-account"],
      ["ModelRoute", "no-channel"],
      ["ModelRoute", "m-too"],
    ] as const)
      await waitForCondition(plane, kind, name, "Programmed", "True Programmed");
    await waitForCondition(plane, "ModelRoute", "there", "Accepted", "True Valid");
  });
});
