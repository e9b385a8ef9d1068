/**
 * docs/design/reliability.md K1, K2: proxies are replaced one after the other under load, as a Deployment does it,
 * behind a load balancer that learns seconds later who is ready: no call fails, no stream is cut.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "mocha";
import { SteadyLoad } from "#test/support/kubernetes/steady-load";
import { ByteUpstream } from "#test/support/resilience/byte-upstream";
import { call } from "#test/support/resilience/call-gateway";
import { formatNamed, formats } from "#test/support/resilience/formats";
import { LaggingRelay } from "#test/support/resilience/lagging-relay";
import { apiKey, channel, manifest, route, secret } from "#test/support/resilience/manifests";
import { paced } from "#test/support/resilience/paced-upstream";
import { operatorOf, Program } from "#test/support/resilience/program";
import { showFigure } from "#test/support/shown-figures";
import { waitFor } from "#test/support/wait-for";

const chat = formatNamed("ChatCompletions");
/** 100,000 in the full-length run, as the next two are 5 s and 30 s there. */
const calls = Number(process.env["TOLLGATE_ROTATION_CALLS"] ?? 2_000);
const endpointLagMs = Number(process.env["TOLLGATE_ENDPOINT_LAG_MS"] ?? 1_000);
const streamMs = Number(process.env["TOLLGATE_STREAM_MS"] ?? 2_000);
const perSecond = 300;
const openStreams = 100;
const proxyCount = 3;

describe("proxies that are replaced under load", function () {
  this.timeout(180_000 + (calls / perSecond) * 2_000);
  let folder: string;
  let upstream: ByteUpstream;
  let relay: LaggingRelay;
  let started = 0;
  const programs: Program[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-rolling-"));
    upstream = await ByteUpstream.start();
    paced(upstream, streamMs / chat.events().length);
    // Asking takes its time as well.
    relay = await LaggingRelay.start([endpointLagMs / 5, endpointLagMs - 150]);
    const objects = [secret(), apiKey("main"), channel("up", upstream.port), route("echo", ["up"])];
    await mkdir(join(folder, "manifests"));
    await writeFile(join(folder, "manifests", "all.yaml"), manifest(...objects));
    programs.push(new Program(operatorOf(folder)));
  });
  afterEach(async () => {
    await relay.close();
    await Promise.all(programs.splice(0).map((program) => program.close()));
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startProxy(): Promise<Program> {
    started += 1;
    const proxy = new Program([
      "proxy",
      `--operator=unix:${folder}/push.sock`,
      `--data=${folder}/proxy-${started}`,
      "--listen=127.0.0.1:0",
      "--admin=127.0.0.1:0",
      "--quota-store=Memory",
      `--drain-endpoint-lag=${endpointLagMs}ms`,
      `--drain-timeout=${2 * streamMs + 10_000}ms`,
      "--logs-level=warn",
      "--no-logs-access",
    ]);
    programs.push(proxy);
    await proxy.waitUntilListening();
    relay.add(proxy);
    await waitFor("the relay to know the proxy", () => relay.believesIn(proxy), { deadlineMs: 30_000 });
    return proxy;
  }

  it("fail no call and cut no stream (K1, K2)", async () => {
    let fleet = await Promise.all(Array.from({ length: proxyCount }, startProxy));
    const load = new SteadyLoad({ ports: [relay.port], format: chat, model: "echo", perSecond, retriesKept: true });
    const streams = { whole: 0, isOver: false };
    const stream = async (_: unknown, index: number): Promise<void> => {
      const format = formats[index % formats.length] ?? chat;
      while (!streams.isOver) {
        const answer = await call({ port: relay.port, format, model: "echo", stream: true }, 3 * streamMs + 20_000);
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.isComplete, true, "a stream was cut");
        assert.ok(answer.text.includes(format.terminator), "a stream ended without its last words");
        streams.whole += 1;
      }
    };
    const streaming = Promise.all(Array.from({ length: openStreams }, stream));
    // Looked at in the end: a stream that fails before must not end this process.
    streaming.catch(() => {});
    let replaced = 0;
    do {
      for (const old of fleet) {
        const next = await startProxy();
        const toldMs = performance.now();
        old.signal("SIGTERM");
        await waitFor("unreadiness", async () => !(await old.isReady()), { deadlineMs: 500 });
        assert.equal(await old.ended(endpointLagMs + 3 * streamMs + 20_000), 0);
        assert.ok(performance.now() - toldMs <= endpointLagMs + 2 * streamMs + 10_000, "later than the drain's limit");
        fleet = fleet.map((proxy) => (proxy === old ? next : proxy));
        replaced += 1;
      }
    } while (load.outcomes.length < calls);
    streams.isOver = true;
    await streaming;
    await load.stop();
    assert.deepEqual(load.failures, []);
    const { length: made } = load.outcomes;
    assert.ok(load.retried <= 1 + made / 10_000, `${load.retried} kept connections were closed under a call`);
    const retried = `${load.retried} made once more on a new connection`;
    showFigure(
      `K2: ${made} calls, 0 failed, ${retried}; ${streams.whole} streams, 0 cut; ${replaced} proxies replaced`,
    );
  });
});
