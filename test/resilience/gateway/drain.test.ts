/**
 * docs/design/reliability.md K1, K7: a proxy told to end serves what it has, tells the rest, and ends; however often it
 * is told.
 */
import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { call } from "#test/support/resilience/call-gateway";
import { formatNamed, formats } from "#test/support/resilience/formats";
import { paced } from "#test/support/resilience/paced-upstream";
import { isAlive, proxyProcessOf } from "#test/support/resilience/processes";
import { type Rig, startRig } from "#test/support/resilience/rig";
import { waitFor } from "#test/support/wait-for";

const chat = formatNamed("ChatCompletions");

describe("a gateway told to end", function () {
  this.timeout(60_000);
  let rig: Rig;
  afterEach(() => rig?.close());

  it("is unready at once, still serves new connections, lets streams finish and exits 0", async () => {
    rig = await startRig({ flags: ["--drain-endpoint-lag=1500ms", "--drain-timeout=8s"] });
    paced(rig.upstream, 120);
    const streams = formats.flatMap((format) => Array.from({ length: 10 }, () => rig.call({ format }, 20_000)));
    await waitFor("all streams to run", () => rig.upstream.requests.length === streams.length);
    const ended = new Promise<number | null>((resolve) => rig.gateway.process.once("exit", (code) => resolve(code)));
    const toldMs = performance.now();
    rig.gateway.process.kill("SIGTERM");
    await waitFor("unreadiness", async () => (await fetch(`${rig.gateway.adminOrigin}/readyz`)).status === 503, {
      deadlineMs: 500,
    });
    let served = 0;
    while (performance.now() - toldMs < 1_200) {
      const answer = await rig.call({ format: chat, stream: false });
      assert.equal(answer.status, 200);
      assert.equal(answer.header("connection"), "close");
      served += 1;
    }
    console.log(`      served on new connections during the lag: ${served}`);
    assert.ok(served > 10);
    for (const answer of await Promise.all(streams)) assert.equal(answer.isComplete, true);
    assert.equal(await ended, 0);
  });

  it("tells streams beyond the limit in their format, settles them and exits 0", async () => {
    rig = await startRig({ flags: ["--drain-timeout=700ms"] });
    paced(rig.upstream, 400);
    const streams = formats.map((format) => rig.call({ format }));
    await waitFor("all streams to run", () => rig.upstream.requests.length === streams.length);
    // All have begun: what has no byte yet is told by status.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const code = await rig.gateway.stop("SIGTERM", 5_000);
    assert.equal(code, 0);
    for (const [index, answer] of (await Promise.all(streams)).entries()) {
      assert.equal(answer.isComplete, formats[index]?.failsCleanly);
      assert.match(answer.text, formats[index]?.errorEvent ?? /never/);
      assert.match(answer.text, /shutting down/);
    }
    const lines = rig.gateway.accessLog.filter((line) => line["end"] === "DD");
    assert.equal(lines.length, formats.length);
    for (const line of lines) assert.ok(Number(line["cost_nanos"]) > 0);
  });

  it("tells calls that wait for a first byte 503", async () => {
    rig = await startRig({ flags: ["--drain-timeout=300ms"] });
    rig.upstream.replyWith(() => undefined);
    const waiting = formats.flatMap((format) => [rig.call({ format }), rig.call({ format, stream: false })]);
    await waitFor("all calls to wait", () => rig.upstream.requests.length === waiting.length);
    assert.equal(await rig.gateway.stop("SIGTERM", 5_000), 0);
    for (const answer of await Promise.all(waiting))
      assert.ok([503, 529].includes(answer.status), String(answer.status));
  });

  for (const row of [
    { name: "SIGTERM twice", signals: ["SIGTERM", "SIGTERM"] },
    { name: "SIGTERM to the proxy and then to its parent", signals: ["proxy", "SIGTERM"] },
    { name: "SIGINT and SIGTERM", signals: ["SIGINT", "SIGTERM"] },
    { name: "SIGHUP", signals: ["SIGHUP"] },
  ] as const) {
    it(`ends in time under load by ${row.name}`, async () => {
      rig = await startRig({ flags: ["--drain-endpoint-lag=200ms", "--drain-timeout=500ms"] });
      paced(rig.upstream, 30);
      const proxy = await proxyProcessOf(rig.gateway);
      let isRunning = true;
      const load = Array.from({ length: 16 }, async (_, index) => {
        while (isRunning) {
          const format = formats[index % formats.length] ?? chat;
          // Refused connections are the end of the load.
          await call({ port: rig.port, format, model: "echo", stream: index % 2 === 0 }).catch(() => {
            isRunning = false;
          });
        }
      });
      await waitFor("load", () => rig.upstream.requests.length > 100);
      for (const signal of row.signals) {
        if (signal === "proxy") process.kill(proxy, "SIGTERM");
        else rig.gateway.process.kill(signal);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const startedMs = performance.now();
      const { process: program } = rig.gateway;
      await waitFor("the gateway to end", () => program.exitCode !== null || program.signalCode !== null, {
        deadlineMs: 5_000,
      });
      console.log(
        `      ended ${Math.round(performance.now() - startedMs)} ms after the last signal, status ${program.exitCode}`,
      );
      isRunning = false;
      await Promise.all(load);
      assert.equal(program.exitCode, 0);
      await waitFor("the proxy to end", () => !isAlive(proxy));
    });
  }

  it("ends at once by a Ctrl-C of somebody who does not want to wait, and its proxy with it; no SIGTERM does", async () => {
    rig = await startRig({ flags: ["--drain-timeout=600s"] });
    paced(rig.upstream, 100);
    const proxy = await proxyProcessOf(rig.gateway);
    const streams = formats.map((format) => rig.call({ format }));
    await waitFor("all streams to run", () => rig.upstream.requests.length === streams.length);
    const { process: program } = rig.gateway;
    const firstMs = performance.now();
    await waitFor("SIGTERM to be repeated", () => program.kill("SIGTERM") && performance.now() - firstMs > 1_000, {
      everyMs: 100,
    });
    assert.equal(program.exitCode, null);
    await waitFor("the gateway to end", () => program.exitCode !== null || !program.kill("SIGINT"), {
      deadlineMs: 10_000,
      everyMs: 100,
    });
    assert.equal(program.exitCode, 1);
    assert.match(rig.gateway.logs, /tollgate: ended at once by a second signal/);
    await waitFor("the proxy to end", () => !isAlive(proxy));
    await Promise.allSettled(streams);
  });

  it("leaves no orphan when it is killed", async () => {
    rig = await startRig({ flags: ["--drain-endpoint-lag=200ms", "--drain-timeout=500ms"] });
    paced(rig.upstream, 100);
    const proxy = await proxyProcessOf(rig.gateway);
    const streams = formats.map((format) => rig.call({ format }));
    await waitFor("all streams to run", () => rig.upstream.requests.length === streams.length);
    rig.gateway.process.kill("SIGKILL");
    await waitFor("the proxy to end", () => !isAlive(proxy), { deadlineMs: 5_000 });
    await Promise.allSettled(streams);
  });
});
