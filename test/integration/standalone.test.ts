/** The program as people start it: standalone, one machine, its children, its end. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import type { Server } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "mocha";
import { createDemoUpstream } from "#examples/demo-upstream/server";
import { type Gateway, startGateway } from "#test/support/start-gateway";
import { waitFor } from "#test/support/wait-for";

function manifests(port: number, state = "Active"): string {
  return `
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: bot, namespace: default}
spec:
  state: ${state}
  credentials: [{name: generated, generate: {secretName: bot-key}}]
---
apiVersion: v1
kind: Secret
metadata: {name: demo, namespace: default}
stringData: {apiKey: demo}
---
apiVersion: tollgate.dev/v1alpha1
kind: Channel
metadata: {name: demo, namespace: default}
spec:
  provider: OpenAICompatible
  baseURL: http://127.0.0.1:${port}/v1
  formats: [{type: ChatCompletions}, {type: Responses}, {type: Messages}, {type: GenerateContent}]
  credentials: [{name: demo, secretKeyRef: {name: demo, key: apiKey}}]
---
apiVersion: tollgate.dev/v1alpha1
kind: ModelRoute
metadata: {name: demo, namespace: default}
spec:
  model: demo
  targets: [{name: demo, channelRef: {name: demo}}]
  price: {inputPerMillion: "1", outputPerMillion: "2"}
`;
}

/** Whose status and Secrets stand in a data folder. */
/** What stands in a folder at a moment when no file of it is just being replaced. */
function finishedNamesIn(folder: string): Promise<readonly string[]> {
  return waitFor("all files to be written", async () => {
    const names = await namesIn(folder);
    return names.some((name) => name.endsWith(".tmp")) ? undefined : names;
  });
}

async function namesIn(dataFolder: string): Promise<readonly string[]> {
  const found = await Promise.all(
    ["status", "secrets"].map((folder) => readdir(join(dataFolder, folder), { recursive: true })),
  );
  return found.flat().sort();
}

describe("tollgate standalone", function () {
  this.timeout(60_000);
  let upstream: Server;
  let port = 0;
  let gateway: Gateway | undefined;

  beforeEach(async () => {
    upstream = createDemoUpstream({ paceMs: 0 });
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    const address = upstream.address();
    port = typeof address === "object" && address !== null ? address.port : 0;
  });

  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    upstream.close();
    upstream.closeAllConnections();
  });

  function chat(origin: string, key: string): Promise<Response> {
    return fetch(`${origin}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "demo", messages: [{ role: "user", content: "hello" }] }),
    });
  }

  it("serves a call, counts it, logs it and ends cleanly", async () => {
    gateway = await startGateway({ manifests: { "all.yaml": manifests(port) } });
    const key = await gateway.generatedKey("bot-key");
    await gateway.waitUntilServed("default/bot", "demo");
    const reply = await chat(gateway.origin, key);
    assert.equal(reply.status, 200);
    assert.match(await reply.text(), /You said: hello/);
    const running = gateway;
    await waitFor(
      "the request to be counted",
      async () => (await running.metric("tollgate_requests_total", { outcome: "ok", route: "default/demo" })) === 1,
    );
    assert.ok((await gateway.metric("tollgate_tokens_total", { class: "output" })) > 0);
    const line = await waitFor("the access line", () =>
      running.accessLog.find((entry) => entry["route"] === "default/demo"),
    );
    assert.deepEqual([line["status"], line["key"], line["channel"]], [200, "default/bot", "default/demo"]);
    assert.equal(gateway.logs.includes(key), false, "the key is in the logs");
    assert.equal(await gateway.stop(), 0);
  });

  for (const { name, flags } of [
    { name: "as it is", flags: [] },
    { name: "with a push socket of its own", flags: ["--push-socket"] },
  ]) {
    it(`leaves its data folder alone when it is started a second time on it, ${name}`, async () => {
      gateway = await startGateway({ manifests: { "all.yaml": manifests(port) } });
      await gateway.waitUntilServed("default/bot", "demo");
      const { dataFolder } = gateway;
      const key = await gateway.generatedKey("bot-key");
      const before = await finishedNamesIn(dataFolder);
      const options = flags.map((flag) => `${flag}=${join(dataFolder, "..", "other.sock")}`);
      const other = manifests(port).replaceAll("bot", "intruder").replaceAll("name: demo", "name: other");
      await assert.rejects(
        startGateway({ manifests: { "all.yaml": other }, dataFolder, flags: options }),
        /another operator serves .*operator\.lock: end it or choose another data folder/,
      );
      assert.deepEqual(await finishedNamesIn(dataFolder), before);
      assert.equal(await gateway.generatedKey("bot-key"), key);
      assert.equal((await chat(gateway.origin, key)).status, 200);
    });
  }

  it("refuses a key within a second after it was suspended", async () => {
    gateway = await startGateway({ manifests: { "all.yaml": manifests(port) } });
    const running = gateway;
    const key = await gateway.generatedKey("bot-key");
    await gateway.waitUntilServed("default/bot", "demo");
    await gateway.write("all.yaml", manifests(port, "Suspended"));
    const writtenAtMs = performance.now();
    await waitFor("the refusal", async () => (await chat(running.origin, key)).status === 401, { deadlineMs: 1_000 });
    assert.ok(performance.now() - writtenAtMs < 1_000);
  });

  it("shows in status what keys used and what is left of their account", async () => {
    const account = `---
apiVersion: tollgate.dev/v1alpha1
kind: Account
metadata: {name: team, namespace: default}
spec: {credit: "1"}
---
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: spender, namespace: default}
spec:
  accountRef: {name: team}
  credentials: [{name: generated, generate: {secretName: spender-key}}]
  limits: [{name: calls, unit: Requests, limit: "100", period: Month}]
`;
    gateway = await startGateway({ manifests: { "all.yaml": manifests(port) + account } });
    const running = gateway;
    const key = await gateway.generatedKey("spender-key");
    await gateway.waitUntilServed("default/spender", "demo");
    const call = (): Promise<Response> =>
      fetch(`${running.origin}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "demo", max_completion_tokens: 5, messages: [{ role: "user", content: "hi" }] }),
      });
    assert.equal((await call()).status, 200);
    const status = async (kind: string, name: string, pattern: RegExp): Promise<void> => {
      const path = join(running.dataFolder, "status", kind, "default", `${name}.yaml`);
      await waitFor(`${pattern} in ${name}`, async () => pattern.test(await readFile(path, "utf8")), {
        deadlineMs: 15_000,
      });
    };
    await status("ApiKey", "spender", /usage:\n\s+- name: calls\n\s+used: "1"\n\s+limit: "100"/);
    await status("ApiKey", "spender", /lastUsedTime: /);
    await status("Account", "team", /consumed: "0\.0000/);
  });

  it("shares one port among several proxies, with rates; quotas that each would grant anew are refused", async () => {
    const key = (name: string, limit: string): string => `---
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: ${name}, namespace: default}
spec:
  credentials: [{name: generated, generate: {secretName: ${name}-key}}]
  limits: [{name: calls, unit: Requests, limit: "100", ${limit}}]
`;
    const text = manifests(port) + key("rates", "period: Minute") + key("quota", "period: Day");
    gateway = await startGateway({
      manifests: { "all.yaml": text },
      flags: ["--processes", "2", "--quota-store", "Memory", "--listen", `127.0.0.1:${await freePort()}`],
    });
    const running = gateway;
    const [rates, quota] = [await gateway.generatedKey("rates-key"), await gateway.generatedKey("quota-key")];
    await gateway.waitUntilServed("default/rates", "demo");
    await waitFor("both proxies to serve", async () => {
      for (let count = 0; count < 6; count += 1) if ((await chat(running.origin, rates)).status !== 200) return false;
      return true;
    });
    assert.equal((await chat(gateway.origin, quota)).status, 401);
    const status = join(gateway.dataFolder, "status", "ApiKey", "default", "quota.yaml");
    await waitFor("the reason", async () => /reason: NeedsSharedStore/.test(await readFile(status, "utf8")));
  });

  it("starts a proxy again that was killed, and leaves no orphan when it is killed itself", async () => {
    gateway = await startGateway({ manifests: { "all.yaml": manifests(port) } });
    const running = gateway;
    const proxyId = await waitFor("the proxy's process", () => childrenOf(running)[0]);
    process.kill(proxyId, "SIGKILL");
    const nextId = await waitFor("another proxy", () => childrenOf(running).find((id) => id !== proxyId), {
      deadlineMs: 10_000,
    });
    await gateway.stop("SIGKILL");
    await waitFor("the proxy to end with its parent", () => !isAlive(nextId), { deadlineMs: 15_000 });
  });

  for (const row of [
    { name: "ends with status 2 for an unknown flag", flags: ["--bogus"], status: 2 },
    { name: "ends with status 2 for a wrong value", flags: ["--limits-json-body", "much"], status: 2 },
    {
      name: "ends with status 2 for several proxies on the embedded ledger",
      flags: ["--processes", "2", "--listen", "127.0.0.1:18099"],
      status: 2,
    },
    { name: "ends with status 1 for a port that cannot be opened", flags: ["--listen", "203.0.113.1:80"], status: 1 },
  ]) {
    it(row.name, async () => {
      await assert.rejects(
        startGateway({ manifests: { "all.yaml": manifests(port) }, flags: row.flags }),
        (error: Error) => {
          assert.match(String(error.cause), new RegExp(`status ${row.status}`), error.message);
          return true;
        },
      );
    });
  }
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function childrenOf(gateway: Gateway): number[] {
  return [...gateway.logs.matchAll(/"process":([0-9]+)/g)].map(([, id]) => Number(id)).filter(isAlive);
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch {
    return false;
  }
}
