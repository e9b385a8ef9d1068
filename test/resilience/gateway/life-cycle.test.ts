/**
 * docs/design/reliability.md K3, K5, K6, K7, J1: programs that start in any order, are told to end at any time, and are
 * killed.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "mocha";
import { RawClient } from "#test/support/raw-client";
import { ByteUpstream, chunk, reply, streamHead } from "#test/support/resilience/byte-upstream";
import { call, callBytes } from "#test/support/resilience/call-gateway";
import { formatNamed } from "#test/support/resilience/formats";
import { apiKey, channel, manifest, route, secret } from "#test/support/resilience/manifests";
import { childrenOf } from "#test/support/resilience/processes";
import { operatorOf, Program } from "#test/support/resilience/program";
import { waitFor } from "#test/support/wait-for";

const chat = formatNamed("ChatCompletions");
const quick = ["--drain-endpoint-lag=100ms", "--drain-timeout=1s", "--logs-level=warn"];

describe("programs of the fleet", function () {
  this.timeout(60_000);
  let folder: string;
  let upstream: ByteUpstream;
  const programs: Program[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-life-"));
    upstream = await ByteUpstream.start(({ socket }) => socket.write(reply(chat.reply())));
  });

  afterEach(async () => {
    await Promise.all(programs.splice(0).map((program) => program.close()));
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function start(...args: readonly string[]): Program {
    const program = new Program(args);
    programs.push(program);
    return program;
  }

  const startProxy = (data = "proxy", ...flags: readonly string[]): Program =>
    start(
      "proxy",
      `--operator=unix:${folder}/push.sock`,
      `--data=${folder}/${data}`,
      "--listen=127.0.0.1:0",
      "--admin=127.0.0.1:0",
      ...quick,
      ...flags,
    );

  const startOperator = (...flags: readonly string[]): Program => start(...operatorOf(folder, ...flags));

  async function writeManifests(): Promise<void> {
    await mkdir(join(folder, "manifests"), { recursive: true });
    const limits = [{ name: "all", unit: "Requests", limit: "1000", period: "Day" }];
    const all = manifest(secret(), apiKey("main", { limits }), channel("c0", upstream.port), route("echo", ["c0"]));
    await writeFile(join(folder, "manifests", "all.yaml"), all);
  }

  async function waitUntilReady(proxy: Program): Promise<void> {
    await proxy.waitUntilListening();
    await waitFor("the proxy to be ready", () => proxy.isReady(), { deadlineMs: 15_000 });
  }

  const once = (proxy: Program, stream = false) => call({ port: proxy.port, format: chat, model: "echo", stream });

  async function metricOf(program: Program, name: string): Promise<string | undefined> {
    const text = await (await fetch(`${program.started.admin}/metrics`)).text();
    return text
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.split(" ")[1];
  }

  it("a proxy that starts first waits, unready and closed, until an operator comes", async () => {
    await writeManifests();
    const proxy = startProxy();
    await proxy.waitUntilListening();
    assert.equal(await proxy.isReady(), false);
    const refused = await once(proxy);
    assert.equal(refused.status, 503);
    assert.equal(upstream.requests.length, 0);
    startOperator();
    await waitUntilReady(proxy);
    assert.equal((await once(proxy)).status, 200);
  });

  it("an operator whose folder does not exist yet says so or waits, and serves once it does", async () => {
    const proxy = startProxy();
    let operator = startOperator();
    await waitFor("the operator to end or to wait", () => operator.process.exitCode !== null || proxy.isReady(), {
      deadlineMs: 5_000,
    }).catch(() => undefined);
    await writeManifests();
    if (operator.process.exitCode !== null) {
      assert.match(operator.output, /manifests/, "it says what is missing");
      operator = startOperator();
    }
    await waitUntilReady(proxy);
    await waitFor("a served call", async () => (await once(proxy)).status === 200, { deadlineMs: 10_000 });
  });

  for (const row of [
    { name: "is dead", silence: "SIGKILL" },
    { name: "hangs", silence: "SIGSTOP" },
  ] as const) {
    it(`a proxy honours no key for longer than it may while the operator ${row.name}, and all again with the next`, async () => {
      await writeManifests();
      const beat = "--push-heartbeat=200ms";
      const operator = startOperator(beat);
      const proxy = startProxy("proxy", beat, "--push-dead=1s", "--key-staleness-bound=2s");
      await waitUntilReady(proxy);
      await waitFor("the first heartbeats", async () => (await once(proxy)).status === 200);
      operator.signal(row.silence);
      const silentAtMs = performance.now();
      await waitFor("keys to be refused", async () => (await once(proxy)).status === 503, { deadlineMs: 10_000 });
      const tookMs = performance.now() - silentAtMs;
      assert.ok(tookMs > 1_500 && tookMs < 3_000, `refused after ${Math.round(tookMs)} ms`);
      assert.match((await once(proxy)).text, /too old/);
      assert.equal(await proxy.isReady(), true, "staleness does not unready");
      if (row.silence === "SIGSTOP") operator.signal("SIGCONT");
      else startOperator(beat);
      await waitFor("keys to open again", async () => (await once(proxy)).status === 200, { deadlineMs: 10_000 });
    });
  }

  it("proxies serve on while the operator is dead, and get no push when it comes back unchanged", async () => {
    await writeManifests();
    let operator = startOperator();
    const proxy = startProxy();
    await waitUntilReady(proxy);
    const revision = await metricOf(proxy, "tollgate_config_revision");
    let failed = 0;
    let served = 0;
    let isRunning = true;
    const load = (async () => {
      while (isRunning) {
        const { status } = await once(proxy);
        if (status === 200) served += 1;
        else failed += 1;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    await operator.close();
    await waitFor("the proxy to notice", async () => (await metricOf(proxy, "tollgate_config_connected")) === "0", {
      deadlineMs: 10_000,
    });
    assert.equal(await proxy.isReady(), true, "staleness does not unready");
    operator = startOperator();
    await waitFor("the proxy to reconnect", async () => (await metricOf(proxy, "tollgate_config_connected")) === "1", {
      deadlineMs: 15_000,
    });
    const age = Number(await metricOf(proxy, "tollgate_config_age_seconds"));
    isRunning = false;
    await load;
    assert.ok(age > 0.5, "the same configuration was applied again");
    console.log(
      `      served ${served} with the operator away and back, failed ${failed}; configuration ${age.toFixed(1)} s old, revision ${revision} then ${await metricOf(proxy, "tollgate_config_revision")}`,
    );
    assert.equal(failed, 0);
    assert.ok(served > 20);
  });

  it("a proxy that was killed fails only its own calls, and its ledger keeps what was settled", async () => {
    await writeManifests();
    startOperator();
    let proxy = startProxy();
    await waitUntilReady(proxy);
    for (let round = 0; round < 5; round += 1) assert.equal((await once(proxy)).status, 200);
    upstream.replyWith(({ socket }) =>
      socket.write(Buffer.concat([Buffer.from(streamHead), chunk(chat.events()[0] ?? "")])),
    );
    const client = await RawClient.connect({ port: proxy.port });
    client.write(callBytes({ port: proxy.port, format: chat, model: "echo" }));
    await client.readUntil("the first event", (received) => received.includes("data: "));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await proxy.close();
    const cut = await client.readResponse();
    assert.equal(cut.isComplete, false, "the open stream fails visibly");
    client.close();
    upstream.replyWith(({ socket }) => socket.write(reply(chat.reply())));
    proxy = startProxy();
    await waitUntilReady(proxy);
    const answer = await once(proxy);
    assert.equal(answer.status, 200);
    // Five that were settled and this one; what was open when it died has lapsed.
    assert.equal(answer.header("x-ratelimit-remaining-requests"), "994");
  });

  it("a proxy ends in order when told twice, under load on connections that are kept open", async () => {
    await writeManifests();
    startOperator();
    const proxy = startProxy();
    await waitUntilReady(proxy);
    let isRunning = true;
    let broken = 0;
    const load = Array.from({ length: 20 }, async (_, index) => {
      while (isRunning) {
        const client = await RawClient.connect({ port: proxy.port }).catch(() => undefined);
        if (client === undefined) return;
        for (let isOpen = true; isOpen && isRunning; ) {
          client.write(callBytes({ port: proxy.port, format: chat, model: "echo", stream: index % 4 === 0 }));
          const answer = await client.readResponse().catch(() => undefined);
          if (answer !== undefined && !answer.isComplete) broken += 1;
          isOpen = answer !== undefined && answer.header("connection") !== "close";
        }
        client.close();
      }
    });
    await waitFor("load", () => upstream.requests.length > 200);
    proxy.signal("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 30));
    proxy.signal("SIGTERM");
    assert.equal(await proxy.ended(5_000), 0);
    isRunning = false;
    await Promise.all(load);
    assert.equal(broken, 0, "answers cut short");
  });

  for (const command of ["proxy", "standalone"] as const) {
    it(`${command} told to end at any moment of its start ends`, async () => {
      await writeManifests();
      const statuses = new Map<string, number>();
      for (let round = 0; round < 8; round += 1) {
        const program =
          command === "proxy"
            ? startProxy(`start-${round}`)
            : start(
                "standalone",
                `--manifests=${folder}/manifests`,
                `--data=${folder}/s${round}`,
                "--listen=127.0.0.1:0",
                "--admin=127.0.0.1:0",
                "--operator-admin=127.0.0.1:0",
                ...quick,
              );
        await new Promise((resolve) => setTimeout(resolve, round * 120));
        program.signal("SIGTERM");
        const status = String(await program.ended(8_000));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        // Before it listens to signals the kernel ends it.
        assert.ok(status === "0" || status === "SIGTERM", `${status}: ${program.output}`);
      }
      console.log(`      ends: ${JSON.stringify(Object.fromEntries(statuses))}`);
    });
  }

  it("a signal opens no inspector, in whichever program", async () => {
    await writeManifests();
    const operator = startOperator();
    const proxy = startProxy();
    await waitUntilReady(proxy);
    const program = start(
      "standalone",
      `--manifests=${folder}/manifests`,
      `--data=${folder}/s`,
      "--listen=127.0.0.1:0",
      "--admin=127.0.0.1:0",
      "--operator-admin=127.0.0.1:0",
      "--egress-allow-cidrs=127.0.0.1/32",
      ...quick,
    );
    await waitUntilReady(program);
    const [child] = childrenOf(program.processId);
    assert.ok(child);
    for (const processId of [operator.processId, proxy.processId, program.processId, child]) {
      process.kill(processId, "SIGUSR1");
    }
    for (const each of [proxy, program]) {
      await waitFor("a served call", async () => (await once(each)).status === 200);
      assert.equal(await each.isReady(), true);
    }
    for (const { output } of programs) assert.doesNotMatch(output, /Debugger|inspector|ws:\/\//i);
  });
});
