import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOperator } from "#operator/main";
import type { RunningOperator } from "#operator/settings";
import type { PushClient } from "#proxy/sync/push-client";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { unixSocketTransport } from "#proxy/sync/socket-transport";
import { folderSettings } from "#test/support/folder-settings";
import { eventually, pushClient } from "#test/support/push-rig";
import { sha256Of } from "#test/support/wire-objects";

const log = { info() {}, warn() {}, error() {} };

describe("operator over a folder", () => {
  let folder: string;
  let operator: RunningOperator;
  let client: PushClient;
  let store: SnapshotStore;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-operator-"));
    await mkdir(join(folder, "manifests"));
    await writeKey("one", "Active");
    operator = await runOperator(
      folderSettings(join(folder, "manifests"), join(folder, "data"), { admin: { host: "127.0.0.1", port: 0 } }),
      { log },
    );
    store = new SnapshotStore();
    const { pushSocket: socketPath } = operator.addresses;
    client = pushClient(unixSocketTransport({ socketPath, replyTimeoutMs: 5_000 }), store);
    client.start();
    await eventually("the proxy is ready", () => store.isReady);
  });
  afterEach(async () => {
    await client.close();
    await operator.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("brings a manifest to the proxy, and its suspension within a second", async () => {
    assert.equal(store.pin().findKey(sha256Of("sk-one"))?.key.state, "Active");
    await writeKey("one", "Suspended");
    await eventually("suspended", () => store.pin().findKey(sha256Of("sk-one"))?.key.state === "Suspended", 1_000);
  });

  it("adds and removes keys while it runs", async () => {
    await writeKey("two", "Active");
    await eventually("added", () => store.pin().findKey(sha256Of("sk-two")) !== undefined, 1_000);
    await rm(join(folder, "manifests", "one.yaml"));
    await eventually("removed", () => store.pin().findKey(sha256Of("sk-one")) === undefined, 2_000);
  });

  it("denies a key whose manifest became invalid and shows why", async () => {
    await writeKey("one", "Sleeping");
    await eventually("denied", () => store.pin().findKey(sha256Of("sk-one")) === undefined, 2_000);
    const view = await get("/debug/fleet");
    assert.match(JSON.stringify(view.problems), /one/);
    assert.deepEqual(
      view.refusedByOperator.map(({ id, reason }: Record<string, string>) => [id, reason]),
      [["key/team-a/one", "Invalid"]],
    );
    const refused = async () => /refused_objects (\d+)/.exec(await (await fetch(`${base()}/metrics`)).text())?.[1];
    assert.equal(await refused(), "1");
    await writeKey("one", "Active");
    await eventually("taken again", () => store.pin().findKey(sha256Of("sk-one")) !== undefined, 2_000);
    assert.equal(await refused(), "0");
  });

  it("says in a status file that a key is programmed once the proxy holds this version", async () => {
    const file = join(folder, "data", "status", "ApiKey", "team-a", "one.yaml");
    const isProgrammed = async () => {
      const text = await readFile(file, "utf8").catch(() => "");
      return /type: Programmed\n\s+status: "True"/.test(text);
    };
    await eventuallyAsync("programmed", isProgrammed);
  });

  it("mints the key that a manifest asks for, once, and serves it", async () => {
    const manifest = join(folder, "manifests", "minted.yaml");
    await writeFile(
      manifest,
      `apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: minted, namespace: team-a}
spec:
  credentials:
  - {name: current, generate: {secretName: minted-key}}
`,
    );
    await eventually("served", () => store.pin().keyByName("team-a", "minted")?.credentials.length === 1);
    const [file = ""] = await readdir(join(folder, "data", "secrets"));
    const secret = await readFile(join(folder, "data", "secrets", file), "utf8");
    const minted = /sk-[A-Za-z0-9_-]+/.exec(secret)?.[0] ?? "";
    assert.notEqual(store.pin().findKey(sha256Of(minted)), undefined);
  });

  it("answers on its admin port and shows the proxy with its revision", async () => {
    await eventually("acknowledged", () => client.isConnected);
    const view = await get("/debug/fleet");
    assert.equal(view.keys, 1);
    assert.equal(view.proxies[0].proxy, "proxy-1");
    assert.equal((await fetch(`${base()}/readyz`)).status, 200);
    assert.match(await (await fetch(`${base()}/metrics`)).text(), /tollgate_config_revision 1/);
    assert.equal((await fetch(`${base()}/Healthz`)).status, 404);
  });

  async function eventuallyAsync(what: string, condition: () => Promise<boolean>): Promise<void> {
    let isMet = false;
    const watching = setInterval(async () => {
      isMet ||= await condition();
    }, 5);
    try {
      await eventually(what, () => isMet);
    } finally {
      clearInterval(watching);
    }
  }

  function base(): string {
    const address = operator.addresses.admin;
    assert.ok(address);
    return `http://${address.host}:${address.port}`;
  }

  async function get(path: string) {
    return JSON.parse(await (await fetch(base() + path)).text());
  }

  async function writeKey(name: string, state: string): Promise<void> {
    const file = join(folder, "manifests", `${name}.yaml`);
    const text = `apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: ${name}, namespace: team-a}
spec:
  state: ${state}
  credentials:
  - {name: current, sha256: ${sha256Of(`sk-${name}`)}}
`;
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  }
});
