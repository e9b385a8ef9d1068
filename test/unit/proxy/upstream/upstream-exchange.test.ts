import assert from "node:assert/strict";
import type { Upstream } from "#proxy/http1/client/upstream";
import {
  UpstreamExchange,
  type UpstreamFailure,
  type UpstreamRequest,
  withinTotal,
} from "#proxy/upstream/upstream-exchange";
import { waitFor } from "#test/support/wait-for";

function requestWith(totalMs: number): UpstreamRequest {
  return {
    path: "/v1/messages",
    headers: [],
    body: Buffer.alloc(0),
    connectTimeoutMs: 0,
    timeouts: { firstByteMs: 0, idleMs: 0, totalMs },
  };
}

/** Takes a request and never replies. */
const silent: Upstream = { send: () => undefined, close: () => undefined, destroy: () => Promise.resolve() };

describe("withinTotal()", () => {
  it("says what is left and keeps the whole, so that the deadlines of all calls are of one length", () => {
    const request = requestWith(3_600_000);
    for (const passedMs of [0, 0.123, 3_599_999.5]) {
      const { timeouts } = withinTotal(request, passedMs) ?? assert.fail("nothing is left");
      assert.deepEqual(timeouts, { firstByteMs: 0, idleMs: 0, totalMs: 3_600_000, leftMs: 3_600_000 - passedMs });
    }
  });

  it("is undefined when nothing is left, and leaves a call without a total alone", () => {
    assert.equal(withinTotal(requestWith(100), 100), undefined);
    const request = requestWith(0);
    assert.equal(withinTotal(request, 1_000_000), request);
  });
});

describe("UpstreamExchange", () => {
  it("ends when what is left of the total has passed", async () => {
    const request = withinTotal(requestWith(60_000), 59_980) ?? assert.fail("nothing is left");
    const failures: UpstreamFailure["kind"][] = [];
    const exchange = new UpstreamExchange(request.timeouts, {
      onHead: () => assert.fail("a head"),
      onData: () => assert.fail("data"),
      onEnd: () => assert.fail("an end"),
      onFailure: ({ kind }) => failures.push(kind),
    });
    const startedMs = performance.now();
    exchange.start(silent, request);
    await waitFor("the deadline", () => failures.length > 0);
    assert.deepEqual(failures, ["total-timeout"]);
    assert.ok(performance.now() - startedMs >= 20);
  });

  it("awaits no head while its reader is slow, and awaits a further one like the first", async () => {
    const { timeouts } = requestWith(0);
    const failures: UpstreamFailure["kind"][] = [];
    const exchange = new UpstreamExchange(
      { ...timeouts, firstByteMs: 20 },
      {
        onHead: () => undefined,
        onData: () => assert.fail("data"),
        onEnd: () => assert.fail("an end"),
        onFailure: ({ kind }) => failures.push(kind),
      },
    );
    exchange.start(silent, requestWith(0));
    exchange.onHead(200, []);
    exchange.pause();
    exchange.awaitHead();
    const startedMs = performance.now();
    await waitFor("several deadlines to pass", () => performance.now() - startedMs > 100);
    assert.deepEqual(failures, []);
    exchange.resume();
    await waitFor("the deadline", () => failures.length > 0);
    assert.deepEqual(failures, ["first-byte-timeout"]);
  });
});
