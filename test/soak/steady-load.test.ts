/**
 * docs/design/reliability.md O4: under steady load and a changed manifest a second nothing grows, nothing stays open
 * and nothing is lost count of. Two hours under `npm run soak`; a quarter of a minute elsewhere, with bounds that only
 * a gross leak breaks.
 */

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, describe, it } from "mocha";
import { createDemoUpstream } from "#examples/demo-upstream/server";
import { apiKey, channel, manifest, route, secret } from "#test/support/resilience/manifests";
import { proxyProcessOf } from "#test/support/resilience/processes";
import { showFigure } from "#test/support/shown-figures";
import { type Memory, memoryWatch, readMemory, type Sample, slope, takeSample } from "#test/support/soak/samples";
import { isFullSoak } from "#test/support/soak/soak-tool";
import { SteadyLoad } from "#test/support/soak/steady-load";
import { type Gateway, startGateway } from "#test/support/start-gateway";
import { waitFor } from "#test/support/wait-for";

const soakSeconds = Number(process.env["TOLLGATE_SOAK_SECONDS"] ?? 15);
/** A shorter run measures the growth of a young heap: its bounds are loose and the delay is only shown. */
const isFull = isFullSoak();
/** V8's spaces take up to half an hour to reach their full extent: what is resident grows till then. */
const warmUpSeconds = isFull ? Math.min(1_800, soakSeconds / 2) : soakSeconds / 3;
const progressSeconds = Math.max(5, soakSeconds / 60);
/** Garbage is collected so often, and what is left is measured. */
const collectMs = isFull ? 30_000 : 2_000;
const megabyte = 1_000_000;
const limits = isFull
  ? { growthBytes: ((soakSeconds - warmUpSeconds) / 3_600) * megabyte, eventLoopSeconds: 0.02 }
  : { growthBytes: 128 * megabyte, eventLoopSeconds: Number.POSITIVE_INFINITY };
/** Threads for counting tokens and for files start with the first use; each has some files of its own. */
const filesSpare = 10;
const threadsSpare = 6;

function objects(port: number, edits: number): string {
  const isOdd = edits % 2 === 1;
  return manifest(
    secret(),
    apiKey("main", { limits: [{ name: "tokens", unit: "Tokens", limit: isOdd ? "1G" : "2G", period: "Month" }] }),
    apiKey(isOdd ? "odd" : "even"),
    // Another way to connect means another pool: the old one must go.
    channel("c0", port, { timeouts: { connect: isOdd ? "3s" : "4s" } }),
    route("echo", ["c0"], { price: { inputPerMillion: "1", outputPerMillion: isOdd ? "2" : "3" } }),
  );
}

describe("steady load", function () {
  this.timeout((soakSeconds + 120) * 1_000);
  let upstream: Server;
  let upstreamPort = 0;
  let upstreamRequests = 0;
  let gateway: Gateway | undefined;
  let memoryFile = "";

  before(async () => {
    memoryFile = join(await mkdtemp(join(tmpdir(), "tollgate-soak-")), "memory.jsonl");
    upstream = createDemoUpstream({ paceMs: 2 });
    upstream.on("request", () => {
      upstreamRequests += 1;
    });
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    const address = upstream.address();
    upstreamPort = typeof address === "object" && address !== null ? address.port : 0;
    gateway = await startGateway({
      manifests: { "all.yaml": objects(upstreamPort, 0) },
      // The test keeps what the program writes: a line for each of a million calls would be its own leak.
      flags: ["--logs-level=warn", "--no-logs-access"],
      environment: memoryWatch(memoryFile, collectMs),
    });
    await gateway.waitUntilServed("default/main", "echo");
  });

  after(async () => {
    await gateway?.close();
    await rm(dirname(memoryFile), { recursive: true, force: true });
    upstream.close();
    upstream.closeAllConnections();
  });

  /** Waits until the files and threads of a process are few enough: unused connections to upstreams stay some seconds. */
  function settled(name: string, processId: number, files: number, threads: number): Promise<Sample> {
    return waitFor(
      `the ${name} to have ${files} files and ${threads} threads, it has ${JSON.stringify(takeSample(processId))}`,
      () => {
        const sample = takeSample(processId);
        return sample.files <= files && sample.threads <= threads && sample;
      },
      { deadlineMs: 20_000 },
    );
  }

  it(`for ${soakSeconds} s leaves memory, sockets and counters as they should be`, async () => {
    const running = gateway ?? assert.fail("the gateway did not start");
    const proxy = await proxyProcessOf(running);
    const operator = running.process.pid ?? assert.fail("no process");
    const revisionBefore = await running.metric("tollgate_config_revision");
    const proxyBefore = takeSample(proxy);
    const operatorBefore = takeSample(operator);
    const load = new SteadyLoad({ port: running.port, model: "echo", clients: 12, restMs: 20 });
    const measuredFrom = Date.now() / 1_000 + warmUpSeconds;
    const startedMs = performance.now();
    const elapsedSeconds = (): number => (performance.now() - startedMs) / 1_000;
    let edits = 0;
    let nextProgress = progressSeconds;
    while (elapsedSeconds() < soakSeconds) {
      edits += 1;
      await running.write("all.yaml", objects(upstreamPort, edits));
      await sleep(1_000);
      const atSeconds = elapsedSeconds();
      if (atSeconds >= nextProgress) {
        nextProgress += progressSeconds;
        const { residentBytes, files } = takeSample(proxy);
        console.log(
          `      ${atSeconds.toFixed(0)} of ${soakSeconds} s: ${load.started} calls, ${load.whole} whole, ${load.left} left, ` +
            `${edits} edits, proxy ${(residentBytes / megabyte).toFixed(0)} MB, ${files} files`,
        );
      }
    }
    await load.stop();
    assert.deepEqual(load.failures, []);
    assert.ok(load.whole > soakSeconds && load.left > 0, `${load.whole} whole answers, ${load.left} left`);

    await waitFor("no call in flight", async () => (await running.metric("tollgate_requests_in_flight")) === 0, {
      deadlineMs: 15_000,
    });
    await checkCounters(running, load);
    const revision = await running.metric("tollgate_config_revision");
    assert.ok(revision > revisionBefore, "the edits reached the proxy");
    assert.equal(await running.metric("tollgate_config_rejects_total"), 0);

    await checkProcess("proxy", proxy, proxyBefore, readMemory(memoryFile, proxy, measuredFrom));
    await checkProcess("operator", operator, operatorBefore, readMemory(memoryFile, operator, measuredFrom));
    const delay = await running.metric("tollgate_event_loop_delay_seconds", { quantile: "0.99" });
    showFigure(`event-loop delay p99 ${(delay * 1_000).toFixed(1)} ms, revision ${revisionBefore} to ${revision}`);
    assert.ok(delay > 0 && delay <= limits.eventLoopSeconds, `event-loop delay ${delay} s`);
  });

  /** It gave back what it had opened, and did not grow. */
  async function checkProcess(
    name: string,
    processId: number,
    start: Sample,
    memory: readonly Memory[],
  ): Promise<void> {
    const end = await settled(name, processId, start.files + filesSpare, start.threads + threadsSpare);
    const grown = (of: (one: Memory) => number): number => slope(memory, of) * (soakSeconds - warmUpSeconds);
    const live = grown(({ liveBytes }) => liveBytes);
    const resident = grown(({ residentBytes }) => residentBytes);
    const inMegabytes = (bytes: number): string => (bytes / megabyte).toFixed(2);
    showFigure(
      `${name}: growth after warm-up, garbage collected: ${inMegabytes(live)} MB live, ${inMegabytes(resident)} MB resident, limit ` +
        `${inMegabytes(limits.growthBytes)} MB each; files ${start.files} then ${end.files}, threads ${start.threads} then ${end.threads}`,
    );
    assert.ok(memory.length >= 3, `${memory.length} measurements of the ${name}`);
    assert.ok(live <= limits.growthBytes, `the ${name} grew by ${live} live bytes`);
    assert.ok(resident <= limits.growthBytes, `the ${name} grew by ${resident} resident bytes`);
  }

  /** Started = finished + open, on every ledger there is: the clients', the proxy's, the quotas' and the upstream's. */
  async function checkCounters(running: Gateway, load: SteadyLoad): Promise<void> {
    await waitFor(
      "nothing to be reserved",
      async () => (await running.metric("tollgate_ledger_reservations_open")) === 0,
      { deadlineMs: 15_000 },
    );
    const finished = await running.metric("tollgate_requests_total");
    const good = await running.metric("tollgate_requests_total", { outcome: "ok" });
    const outcome = (name: string): Promise<number> =>
      running.metric("tollgate_ledger_outcomes_total", { outcome: name });
    const attempts = await running.metric("tollgate_upstream_attempts_total");
    showFigure(
      `started ${load.started}, finished ${finished}, good ${good}; attempts ${attempts}, seen upstream ${upstreamRequests}`,
    );
    // A reset may overtake its own request, which the proxy then never saw.
    assert.ok(finished <= load.started && finished >= load.started - load.left);
    assert.ok(good >= load.whole && good <= load.whole + load.left);
    assert.equal(await outcome("settled"), await outcome("reserved"));
    for (const name of ["repeated", "late", "unknown", "expired"]) assert.equal(await outcome(name), 0, name);
    assert.ok(attempts <= finished && upstreamRequests <= attempts && upstreamRequests >= load.whole);
  }
});
