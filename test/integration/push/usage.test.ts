/** What proxies report of use, as status and conditions: a whole operator with a fake proxy's reports. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOperator } from "#operator/main";
import type { RunningOperator } from "#operator/settings";
import type { PushClient } from "#proxy/sync/push-client";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { unixSocketTransport } from "#proxy/sync/socket-transport";
import { folderSettings } from "#test/support/folder-settings";
import { eventually, pushClient } from "#test/support/push-rig";
import { waitFor } from "#test/support/wait-for";
import { sha256Of } from "#test/support/wire-objects";

const account = (credit: string, state = "Active"): string => `apiVersion: tollgate.dev/v1alpha1
kind: Account
metadata: {name: team, namespace: a}
spec: {credit: "${credit}", state: ${state}}
`;
const key = `apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: one, namespace: a}
spec:
  accountRef: {name: team}
  credentials: [{name: current, sha256: ${sha256Of("sk-one")}}]
  limits: [{name: quota, unit: Cost, limit: "2", period: Lifetime}]
`;

describe("usage in status", function () {
  this.timeout(20_000);
  let folder: string;
  let operator: RunningOperator;
  let client: PushClient;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-usage-"));
    await mkdir(join(folder, "manifests"));
    await writeFile(join(folder, "manifests", "account.yaml"), account("10"));
    await writeFile(join(folder, "manifests", "key.yaml"), key);
    const silent = { info() {}, warn() {}, error: (message: string) => assert.fail(message) };
    operator = await runOperator(folderSettings(join(folder, "manifests"), join(folder, "data")), { log: silent });
    const store = new SnapshotStore();
    const { pushSocket: socketPath } = operator.addresses;
    client = pushClient(unixSocketTransport({ socketPath, replyTimeoutMs: 5_000 }), store);
    client.start();
    await eventually("ready", () => store.isReady);
  });
  after(async () => {
    await client.close();
    await operator.close();
    await rm(folder, { recursive: true, force: true });
  });

  const use = (used: string, consumed: string): void => {
    const quotas = [{ name: "quota", unit: "Cost", isEnforced: true, used, limit: "2000000000" }] as const;
    client.report({
      type: "report",
      keys: [{ key: "a/one", lastUsedAt: Date.UTC(2026, 10, 21, 12, 34), requests: 3, quotas }],
      accounts: [{ account: "a/team", consumed, reserved: "0" }],
      ejected: [],
    });
  };
  const status = async (kind: string, name: string, pattern: RegExp): Promise<string> => {
    let text = "";
    const path = join(folder, "data", "status", kind, "a", `${name}.yaml`);
    await waitFor(`${kind} ${name} shows ${pattern}`, async () => {
      text = await readFile(path, "utf8").catch(() => "");
      return pattern.test(text);
    });
    return text;
  };

  it("counts the keys of an account", async () => {
    assert.match(await status("Account", "team", /keys: 1/), /reason: Funded/);
  });

  it("shows use, last use and balance", async () => {
    use("500000000", "1250000000");
    const text = await status("ApiKey", "one", /used: "?0\.5"?/);
    assert.match(text, /limit: "2"/);
    assert.match(text, /lastUsedTime: "?2026-11-21T12:00:00Z/);
    assert.match(text, /reason: Active\n/);
    assert.match(await status("Account", "team", /consumed: "?1\.25"?/), /granted: "10"/);
  });

  it("says that a quota is used up as soon as it is", async () => {
    use("2000000000", "2000000000");
    await status("ApiKey", "one", /reason: QuotaExhausted/);
  });

  it("says that an account is used up, on it and on its keys, and funded again after a top-up", async () => {
    use("100", "10000000000");
    await status("Account", "team", /reason: BalanceExhausted/);
    await status("ApiKey", "one", /reason: AccountUnfunded/);
    await writeFile(join(folder, "manifests", "account.yaml"), account("11"));
    await status("Account", "team", /reason: Funded/);
    await status("ApiKey", "one", /type: Active\n\s+status: "True"/);
  });

  it("says on the keys that their account is suspended", async () => {
    await writeFile(join(folder, "manifests", "account.yaml"), account("11", "Suspended"));
    await status("ApiKey", "one", /reason: AccountSuspended/);
  });
});
