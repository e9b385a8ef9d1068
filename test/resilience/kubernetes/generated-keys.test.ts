/**
 * A generated key goes with the object it was made for: one made again under its name waits for a key of its own, and
 * nobody gets another key without being told. There is no garbage collector in this rig; the test deletes in its place.
 */
import assert from "node:assert/strict";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { ClusterRig } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { applyAll, objectPath } from "#test/support/kubernetes/objects";
import { eventsOf, messageOf, waitForCondition } from "#test/support/kubernetes/status-of";
import { apiKey } from "#test/support/resilience/manifests";
import { waitFor } from "#test/support/wait-for";

interface Met {
  readonly metadata: { readonly uid: string; readonly ownerReferences?: readonly { readonly uid: string }[] };
  readonly data?: Readonly<Record<string, string>>;
}

describe("generated keys in a cluster", function () {
  this.timeout(60_000);
  let plane: ControlPlane;
  let rig: ClusterRig;
  const bot = apiKey("bot", { credentials: [{ name: "one", generate: { secretName: "bot-key" } }] });
  const keyPath = objectPath("ApiKey", "default", "bot");
  const secretPath = objectPath("Secret", "default", "bot-key");
  const get = async (path: string): Promise<Met> => JSON.parse(JSON.stringify(await plane.must("GET", path)));
  const madeSecret = (than?: string): Promise<Met> =>
    waitFor("a new Secret", async () => {
      if ((await plane.call("GET", secretPath)).status !== 200) return false;
      const secret = await get(secretPath);
      return secret.metadata.uid !== than && secret;
    });
  const replacements = async () => (await eventsOf(plane, "bot")).filter(({ reason }) => reason === "KeyReplaced");

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    rig = new ClusterRig(plane);
    const operator = await rig.startOperator("operator", { flags: ["--kubernetes-generate-keys"] });
    await operator.waitUntilReady();
    await rig.startProxy("proxy", operator.socket);
  });

  after(async () => {
    await rig?.close();
    await plane?.stop();
  });

  it("are not taken over by an object made again under the name, which gets its own", async () => {
    await applyAll(plane, [bot]);
    await waitForCondition(plane, "ApiKey", "bot", "Active", "True Active");
    const former = await madeSecret();
    await plane.must("DELETE", keyPath);
    await applyAll(plane, [bot]);
    await waitForCondition(plane, "ApiKey", "bot", "ResolvedRefs", "Unknown Pending");
    assert.match(await messageOf(plane, "ApiKey", "bot", "ResolvedRefs"), /belongs to a former ApiKey of this name/);
    assert.equal((await get(secretPath)).metadata.uid, former.metadata.uid, "it is not ours to delete");
    await plane.must("DELETE", secretPath);
    const own = await madeSecret(former.metadata.uid);
    assert.equal(own.metadata.ownerReferences?.[0]?.uid, (await get(keyPath)).metadata.uid);
    assert.notEqual(own.data?.["apiKey"], former.data?.["apiKey"]);
    await waitForCondition(plane, "ApiKey", "bot", "Active", "True Active");
    assert.deepEqual(await replacements(), [], "nobody had another key of this object");
  });

  it("are made anew when somebody deletes the Secret, and an Event says so", async () => {
    const before = await madeSecret();
    await plane.must("DELETE", secretPath);
    await madeSecret(before.metadata.uid);
    const [told] = await waitFor("the Event", async () => {
      const events = await replacements();
      return events.length > 0 && events;
    });
    assert.equal(told?.type, "Warning");
    assert.match(told?.note ?? "", /The Secret bot-key of credential one was deleted\. .*callers need the new one/);
    await waitForCondition(plane, "ApiKey", "bot", "Active", "True Active");
  });
});
