/**
 * What a person sees with kubectl: columns that are filled, `wait`, `explain`, Events, and objects applied in either way
 * and refused for what is misspelt.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findProgram, skipLoudly } from "#test/support/cluster/programs";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { ClusterRig } from "#test/support/kubernetes/cluster-rig";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { account, apiKey, channel, route, secret } from "#test/support/resilience/manifests";

const run = promisify(execFile);
const kinds = ["accounts", "apikeys", "channels", "modelroutes"];

describe("with kubectl", function () {
  this.timeout(60_000);
  let plane: ControlPlane;
  let rig: ClusterRig;
  let kubectl: (args: readonly string[], input?: string) => Promise<string>;

  before(async function () {
    const program = findProgram("kubectl");
    if (program === undefined) return skipLoudly(this, "no kubectl");
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    const kubeconfig = await plane.kubeconfig();
    kubectl = async (args, input) => {
      const running = run(program, [...args], { env: { KUBECONFIG: kubeconfig, HOME: plane.folder } });
      running.child.stdin?.end(input);
      return (await running).stdout;
    };
    rig = new ClusterRig(plane);
    const operator = await rig.startOperator("operator-0");
    await operator.waitUntilReady();
    await rig.startProxy("proxy-0", operator.socket);
    const credentials = [{ name: "current", secretKeyRef: { name: "client", key: "apiKey" } }];
    const stringData = { apiKey: `sk-${"client".repeat(6)}` };
    const client = { apiVersion: "v1", kind: "Secret", metadata: { name: "client", namespace: "default" }, stringData };
    const key = apiKey("main", { credentials, accountRef: { name: "team" }, expiresAt: "2099-01-01T00:00:00Z" });
    await apply([secret(), client, account("team", { credit: "10" }), channel("up", 9), route("m", ["up"]), key]);
  });

  after(async () => {
    await rig?.close();
    await plane?.stop();
  });

  const apply = (items: readonly object[], ...flags: readonly string[]) =>
    kubectl(["apply", ...flags, "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));

  it("waits for all of them to be programmed", async () => {
    const waited = await kubectl(["wait", "--for=condition=Programmed", "--timeout=20s", "--all", kinds.join(",")]);
    assert.equal(waited.match(/condition met/g)?.length, 4, waited);
  });

  /** The cells of the first object of a kind, by their column; where a cell is empty its column is not there. */
  async function cellsOf(kind: string, name: string, ...flags: readonly string[]): Promise<Record<string, string>> {
    const lines = (await kubectl(["get", kind, ...flags])).trimEnd().split("\n");
    const [head = ""] = lines;
    const line = lines.find((one) => one.startsWith(`${name} `)) ?? "";
    const columns = [...head.matchAll(/\S+/g)].map(({ 0: column, index }) => ({ column, index }));
    const cells = columns.map(({ column, index }, at): [string, string] => [
      column,
      line.slice(index, columns[at + 1]?.index).trim(),
    ]);
    return Object.fromEntries(cells.filter(([column, cell]) => cell !== "" && column !== "AGE"));
  }

  it("fills every column", async () => {
    assert.deepEqual(await cellsOf("apikeys", "main"), {
      NAME: "main",
      ACCOUNT: "team",
      KEY: "sk-clie...",
      ACTIVE: "True",
      PROGRAMMED: "True",
      EXPIRES: "2099-01-01T00:00:00Z",
    });
    // It has no mappings, so it takes every model: a number would be wrong.
    assert.deepEqual(await cellsOf("channels", "up"), {
      NAME: "up",
      PROVIDER: "OpenAICompatible",
      HEALTHY: "Unknown",
      PROGRAMMED: "True",
    });
    assert.deepEqual(await cellsOf("modelroutes", "m"), {
      NAME: "m",
      MODEL: "m",
      TARGETS: "1",
      AVAILABLE: "True",
      PROGRAMMED: "True",
    });
    // What is consumed is known once a proxy has reported use.
    assert.deepEqual(await cellsOf("accounts", "team"), {
      NAME: "team",
      CREDIT: "10",
      FUNDED: "True",
      PROGRAMMED: "True",
      KEYS: "1",
    });
  });

  it("shows with -o wide which objects are refused, and how much of a key's first quota is used", async () => {
    for (const [kind, name] of [...kinds.entries()].map(([index, kind]) => [kind, ["team", "main", "up", "m"][index]]))
      assert.equal((await cellsOf(kind ?? "", name ?? "", "-o", "wide"))["ACCEPTED"], "True", kind);
    const usage = [{ name: "ceiling", used: "12.5", limit: "250" }];
    const patch = JSON.stringify({ status: { usage } });
    await apply([apiKey("counted")]);
    await kubectl(["patch", "apikey", "counted", "--subresource=status", "--type=merge", "-p", patch]);
    const { QUOTA, USED, LIMIT } = await cellsOf("apikeys", "counted", "-o", "wide");
    assert.deepEqual([QUOTA, USED, LIMIT], ["ceiling", "12.5", "250"]);
  });

  it("shows what is wrong and what to do, with its Event", async () => {
    const credentials = [{ name: "current", secretKeyRef: { name: "missing", key: "apiKey" } }];
    await apply([apiKey("lost", { credentials })]);
    await kubectl(["wait", "--for=condition=ResolvedRefs=False", "--timeout=20s", "apikey/lost"]);
    const shown = await kubectl(["describe", "apikey", "lost"]);
    assert.match(shown, /SecretNotFound/);
    assert.match(shown, /missing/);
    let told = "";
    // The Event comes a moment after the status.
    for (const until = performance.now() + 10_000; !told.includes("SecretNotFound") && performance.now() < until; )
      told = await kubectl(["events", "--for", "apikey/lost"]);
    assert.match(told, /Warning\s+SecretNotFound\s+ApiKey\/lost/);
  });

  it("explains every kind, its spec and its status", async () => {
    for (const kind of kinds) {
      const whole = await kubectl(["explain", kind, "--recursive"]);
      for (const part of ["spec", "status", "conditions"]) assert.match(whole, new RegExp(`\\b${part}\\b`), kind);
      for (const part of ["spec", "status"]) {
        const explained = await kubectl(["explain", `${kind}.${part}`]);
        assert.doesNotMatch(explained, /<no description>/, `${kind}.${part}`);
      }
    }
  });

  it("applies an object in either way, and the operator's fields are in nobody's way", async () => {
    const renamed = (displayName: string) => apiKey("main", { accountRef: { name: "team" }, displayName });
    await apply([renamed("client side")]);
    await kubectl(["wait", "--for=jsonpath={.status.observedGeneration}=2", "--timeout=20s", "apikey/main"]);
    await apply([renamed("server side")], "--server-side", "--force-conflicts");
    await kubectl(["wait", "--for=jsonpath={.status.observedGeneration}=3", "--timeout=20s", "apikey/main"]);
    const managers = await kubectl(["get", "apikey", "main", "--show-managed-fields", "-o", "json"]);
    const status = JSON.parse(managers).metadata.managedFields.filter(
      ({ subresource }: { subresource?: string }) => subresource === "status",
    );
    assert.deepEqual(
      status.map(({ manager, operation }: { manager: string; operation: string }) => `${manager} ${operation}`),
      ["tollgate-status Apply"],
    );
  });

  it("refuses a field that is misspelt", async () => {
    await assert.rejects(apply([apiKey("typo", { modles: { allow: ["m"] } })]), /unknown field .*modles/);
  });
});
