/**
 * docs/design/limits-and-money.md 13 over the wire: how long calls wait where the Redis of the ledger hangs.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "mocha";
import { needRedis, type RedisServer, startRedis } from "#test/support/redis/redis-server";
import { reply } from "#test/support/resilience/byte-upstream";
import { type Answer, call } from "#test/support/resilience/call-gateway";
import { formatNamed, formatOf } from "#test/support/resilience/formats";
import { account, apiKey, channel, route, secret } from "#test/support/resilience/manifests";
import { type Rig, startRig } from "#test/support/resilience/rig";
import { waitFor } from "#test/support/wait-for";

const chat = formatNamed("ChatCompletions");
const decisionMs = 1_000;

describe("a ledger whose Redis hangs", function () {
  this.timeout(60_000);
  let server: RedisServer | undefined;
  let rig: Rig;

  before(async function () {
    needRedis(this);
    server = await startRedis(["--appendonly", "yes"]);
    rig = await startRig({
      objects: ([one = 0]) => [
        secret(),
        channel("c0", one),
        route("flat", ["c0"], { price: { inputPerMillion: "1", outputPerMillion: "1" } }),
        apiKey("main", { accountRef: { name: "rich" } }),
        apiKey("free"),
        account("rich", { credit: "1M" }),
      ],
      served: ["main", "flat"],
      flags: [
        "--quota-store=Redis",
        `--quota-redis-url=${server.url}`,
        `--quota-redis-decision-timeout=${decisionMs}ms`,
        "--quota-failure-mode=Closed",
        // The balance is asked for before the reservation.
        "--quota-unbounded-output=Cap",
      ],
    });
    rig.upstream.replyWith(({ socket, head }) => socket.write(reply(formatOf(head).reply("done"))));
  });
  after(async () => {
    server?.resume();
    await rig?.close();
    await server?.close();
  });

  async function timed(key: string): Promise<{ readonly answer: Answer; readonly tookMs: number }> {
    const startedMs = performance.now();
    const answer = await call({ format: chat, key, model: "flat", stream: false, port: rig.port });
    return { answer, tookMs: performance.now() - startedMs };
  }

  it("a call that asks for its balance and then reserves waits once, and a call without limits not at all", async () => {
    await waitFor("a call to be served", async () => (await timed("main")).answer.status === 200);
    server?.pause();
    const [bounded, free] = await Promise.all([timed("main"), timed("free")]);
    assert.equal(bounded.answer.status, 503);
    assert.ok(bounded.tookMs >= 0.9 * decisionMs, `${Math.round(bounded.tookMs)} ms: the store was asked`);
    assert.ok(bounded.tookMs < 1.6 * decisionMs, `${Math.round(bounded.tookMs)} ms`);
    assert.equal(free.answer.status, 200, free.answer.text);
    assert.ok(free.tookMs < 0.6 * decisionMs, `${Math.round(free.tookMs)} ms`);
    const left = async (): Promise<boolean> => {
      await timed("main");
      return (await rig.gateway.metric("tollgate_ledger_store_usable")) === 0;
    };
    await waitFor("the store to be left", left, { deadlineMs: 15_000 });
    assert.ok((await timed("main")).tookMs < 0.6 * decisionMs, "and then nobody waits");
    server?.resume();
    await waitFor("a call to be served again", async () => (await timed("main")).answer.status === 200, {
      deadlineMs: 15_000,
    });
    assert.equal(await rig.gateway.metric("tollgate_ledger_store_usable"), 1);
    await waitFor("all to be told", async () => (await rig.gateway.metric("tollgate_ledger_undelivered")) === 0);
    assert.equal(await rig.gateway.metric("tollgate_ledger_lost_total"), 0);
  });
});
