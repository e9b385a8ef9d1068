/**
 * J3: whatever an API server says, or something in front of it, nothing is forgotten, nothing storms and what was missed
 * is found. A real API server behind a proxy that lies; the source in this process, so that its view can be looked into.
 */
import assert from "node:assert/strict";
import { ApiClient } from "#operator/kubernetes/api/api-client";
import { ClusterAccess } from "#operator/kubernetes/api/cluster-access";
import type { WatchTimings } from "#operator/kubernetes/watch/timings";
import type { RelistReason } from "#operator/kubernetes/watch/watch-counters";
import { KubernetesSource } from "#operator/source/kubernetes/kubernetes-source";
import { ApiFaultProxy, type FalseAnswer, type PassingRequest } from "#test/support/api-fault-proxy";
import type { ControlPlane } from "#test/support/kube-control-plane";
import { controlPlaneOrSkip } from "#test/support/kubernetes/control-plane-or-skip";
import { createKeys, inParallel, numberedKey, objectPath } from "#test/support/kubernetes/objects";
import { waitFor } from "#test/support/wait-for";

/** About a tenth of the real ones. */
const timings: Partial<WatchTimings> = {
  backoffMinMs: 100,
  backoffMaxMs: 1_500,
  silenceMs: 3_000,
  probeTimeoutMs: 1_000,
  probeEveryMs: 200,
  compareGraceMs: 500,
};

const status = (code: number, reason: string, retryAfter?: number): FalseAnswer => ({
  status: code,
  body: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason, code, message: reason }),
  ...(retryAfter !== undefined && { headers: { "retry-after": String(retryAfter) } }),
});

const errorEvent = (code: number, reason: string): string =>
  `${JSON.stringify({ type: "ERROR", object: { kind: "Status", status: "Failure", code, reason, message: reason } })}\n`;

describe("watching an API server that misbehaves (J3)", function () {
  this.timeout(120_000);
  let plane: ControlPlane;
  let proxy: ApiFaultProxy;
  let source: KubernetesSource;
  let client: ApiClient;
  let least = Number.POSITIVE_INFINITY;

  const open = async (more: Partial<WatchTimings> = {}): Promise<void> => {
    client = new ApiClient(await ClusterAccess.load({ kubeconfig: await plane.kubeconfig({ port: proxy.port }) }), {
      timeoutMs: 2_000,
    });
    const log = { info: () => undefined, warn: () => undefined };
    source = new KubernetesSource({ client, timings: { ...timings, ...more }, log });
    await source.start();
    least = source.current().apiKeys.size;
    source.onChange(() => {
      least = Math.min(least, source.current().apiKeys.size);
    });
  };
  const held = () => source.current().apiKeys;
  const isHeld = (index: number) => held().has(`default/key-${index}`);
  const relists = (reason: RelistReason) => source.counters.get("ApiKey")?.relists.get(reason) ?? 0;
  const add = (index: number) => plane.must("POST", objectPath("ApiKey", "default"), numberedKey(index));
  const remove = (index: number) => plane.must("DELETE", objectPath("ApiKey", "default", `key-${index}`));
  /** What every fault must leave behind: a change is seen, in both directions. */
  const follows = async (index: number): Promise<void> => {
    await add(index);
    await waitFor("the new key", () => isHeld(index), { deadlineMs: 5_000 });
    await remove(index);
    await waitFor("the key to go", () => !isHeld(index), { deadlineMs: 5_000 });
  };

  before(async function () {
    plane = await controlPlaneOrSkip(this);
    await plane.installCrds();
    proxy = await ApiFaultProxy.start(plane);
    await createKeys(plane, 20);
  });

  beforeEach(async () => {
    proxy.passed.length = 0;
    await open();
  });

  afterEach(async () => {
    proxy.heal();
    await source?.close();
    client?.access.close();
  });

  after(async () => {
    await proxy?.close();
    await plane?.stop();
  });

  for (const row of [
    { name: "an ERROR event with 410", inject: errorEvent(410, "Expired"), reason: "expired" },
    { name: "an ERROR event with 500", inject: errorEvent(500, "InternalError"), reason: "error" },
    { name: "a line that is no JSON", inject: "<html>bad gateway</html>\n", reason: "unreadable" },
    { name: "JSON that is no event", inject: '{"type":"ADDED","object":{"spec":{}}}\n', reason: "unreadable" },
    { name: "an event of an unknown type", inject: '{"type":"RENAMED","object":{}}\n', reason: "unreadable" },
  ] as const) {
    it(`lists again after ${row.name}, and forgets nothing`, async () => {
      proxy.inject(row.inject, "apikeys");
      await waitFor("a new list", () => relists(row.reason) === 1);
      assert.equal(held().size, 20);
      assert.equal(least, 20);
      await follows(100);
    });
  }

  it("reads the first list as a stream where the server offers that, else in pages", async () => {
    const [first, ...others] = proxy.passed.filter(({ resource }) => resource === "apikeys");
    assert.ok(first?.query.has("sendInitialEvents"));
    const { body } = await plane.call("GET", "/version");
    // Before 1.34 not by default.
    const isOffered = Number(JSON.parse(JSON.stringify(body)).minor) >= 34;
    assert.equal(others.length > 0, !isOffered);
    if (!isOffered) assert.ok(others[0]?.query.has("limit"));
  });

  it("lists in pages where the stream of a list ends before its end, as for a reader that is too slow (T12)", async () => {
    const some = { type: "ADDED", object: await plane.must("GET", objectPath("ApiKey", "default", "key-0")) };
    proxy.fault = ({ resource, query }) =>
      resource === "apikeys" && query.has("sendInitialEvents")
        ? { status: 200, body: `${JSON.stringify(some)}\n` }
        : undefined;
    proxy.inject(errorEvent(410, "Expired"), "apikeys");
    await waitFor("a new list", () => relists("expired") === 1, { deadlineMs: 3_000 });
    const asked = proxy.passed.filter(({ resource }) => resource === "apikeys");
    assert.ok(asked.some(({ query }) => query.has("limit")));
    assert.equal(held().size, 20);
    assert.equal(least, 20);
    await follows(107);
  });

  it("lists again after a line that is cut, and finds what was deleted meanwhile", async () => {
    proxy.fault = ({ resource }) => (resource === "apikeys" ? status(500, "InternalError") : undefined);
    proxy.endWatches({ resource: "apikeys", cutLine: true });
    await add(101);
    await remove(0);
    proxy.heal();
    await waitFor("what was missed", () => isHeld(101) && !isHeld(0));
    assert.equal(relists("unreadable"), 1);
    await add(0);
    await remove(101);
    await waitFor("the rest", () => isHeld(0) && !isHeld(101));
  });

  it("watches on where a watch ended by itself, without a list", async () => {
    proxy.endWatches();
    await follows(102);
    assert.equal(
      [...(source.counters.get("ApiKey")?.relists.values() ?? [])].reduce((sum, count) => sum + count),
      1,
    );
  });

  it("bears watches that end every moment, without a storm", async () => {
    const before = proxy.passed.length;
    const ending = setInterval(() => proxy.endWatches(), 50);
    try {
      await add(103);
      await waitFor("the key", () => isHeld(103));
      await remove(103);
      await waitFor("the key to go", () => !isHeld(103));
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    } finally {
      clearInterval(ending);
    }
    assert.equal(least, 20);
    // Six kinds, each waiting longer and longer between watches.
    const asked = proxy.passed.length - before;
    assert.ok(asked <= 100, `${asked} questions`);
  });

  it("is there within 5 s of a server whose store took long to start, however long that was (T12)", async () => {
    await source.close();
    client.access.close();
    // The real ones.
    await open({ backoffMinMs: 500, backoffMaxMs: 30_000 });
    proxy.fault = ({ resource }) => (resource === "apikeys" ? status(429, "TooManyRequests", 1) : undefined);
    proxy.endWatches({ resource: "apikeys" });
    await add(105);
    const asked = () => proxy.passed.filter(({ resource }) => resource === "apikeys").length;
    const before = asked();
    await waitFor("some refusals", () => asked() - before >= 5, { deadlineMs: 20_000 });
    proxy.heal();
    await waitFor("the new key", () => isHeld(105), { deadlineMs: 5_000 });
    await remove(105);
    await waitFor("the key to go", () => !isHeld(105));
  });

  it("keeps everything through bookmarks alone", async () => {
    const bookmark = (version: string) =>
      `${JSON.stringify({ type: "BOOKMARK", object: { kind: "ApiKey", metadata: { resourceVersion: version } } })}\n`;
    const { complete } = source.versions();
    const next = String(BigInt(complete["ApiKey"] ?? "0") + 1n);
    proxy.inject(bookmark(next), "apikeys");
    await waitFor("the bookmark to count", () => source.versions().complete["ApiKey"] === next);
    assert.notEqual(source.versions().seen["ApiKey"], next, "a bookmark is no change");
    assert.equal(held().size, 20);
    await follows(104);
  });

  for (const row of [
    { name: "401, as for a token that has run out", answer: status(401, "Unauthorized") },
    { name: "403", answer: status(403, "Forbidden") },
    { name: "404, as when the CRD is gone", answer: status(404, "NotFound") },
    { name: "429 with Retry-After", answer: status(429, "TooManyRequests", 1) },
    { name: "500", answer: status(500, "InternalError") },
    { name: "503", answer: status(503, "ServiceUnavailable") },
    { name: "a page that is no JSON", answer: { status: 200, body: "<html>" } },
    { name: "an empty answer", answer: { status: 200, body: "" } },
    { name: "an object that is no list", answer: { status: 200, body: '{"kind":"Status"}' } },
  ] satisfies { name: string; answer: FalseAnswer }[]) {
    it(`keeps everything while lists and watches are answered with ${row.name}, and follows again after`, async () => {
      const begunAt = performance.now();
      proxy.fault = ({ resource }) => (resource === "apikeys" ? row.answer : undefined);
      proxy.inject(errorEvent(410, "Expired"), "apikeys");
      const before = proxy.passed.length;
      await add(105);
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      assert.equal(held().size, 20);
      assert.equal(least, 20);
      const asked = proxy.passed.slice(before).filter(({ resource }) => resource === "apikeys").length;
      const seconds = (performance.now() - begunAt) / 1_000;
      // Ten times as often as with real durations.
      assert.ok(asked <= 2 + seconds * 4, `${asked} questions in ${seconds} s`);
      proxy.heal();
      await waitFor("the key", () => isHeld(105), { deadlineMs: 5_000 });
      await remove(105);
      await waitFor("the key to go", () => !isHeld(105));
    });
  }

  it("waits for as long as a 429 asks", async () => {
    let refusedAt = 0;
    let askedAgainAt = 0;
    proxy.fault = ({ resource }: PassingRequest) => {
      if (resource !== "apikeys") return undefined;
      if (refusedAt !== 0) {
        askedAgainAt = performance.now();
        proxy.heal();
        return undefined;
      }
      refusedAt = performance.now();
      return status(429, "TooManyRequests", 1);
    };
    proxy.endWatches({ resource: "apikeys" });
    await waitFor("the next question", () => askedAgainAt !== 0);
    assert.ok(askedAgainAt - refusedAt >= 990, `${askedAgainAt - refusedAt} ms`);
    await follows(106);
  });

  it("reads lists in pages where streaming lists are not offered, and starts anew when a page has expired", async () => {
    await source.close();
    let pages = 0;
    proxy.fault = ({ resource, query }) => {
      if (query.has("sendInitialEvents")) return status(422, "Invalid");
      if (resource !== "apikeys" || !query.has("continue")) return undefined;
      pages += 1;
      return pages === 2 ? status(410, "Expired") : undefined;
    };
    await open({ pageSize: 5 });
    assert.equal(held().size, 20);
    // One page continued, one refused, then the three that follow the first again.
    assert.equal(pages, 5);
    await follows(107);
  });

  it("finds a watch that is silently deaf, and everything it missed", async () => {
    await source.close();
    proxy.rewrite = ({ resource, isWatch }, piece) => (isWatch && resource === "apikeys" ? Buffer.alloc(0) : piece);
    proxy.fault = ({ query }) => (query.has("sendInitialEvents") ? status(422, "Invalid") : undefined);
    await open({ bookmarkEveryMs: 500, idleMs: 500 });
    await add(108);
    await waitFor("the list to show it", () => isHeld(108), { deadlineMs: 5_000 });
    assert.ok(relists("silent") >= 1);
    proxy.heal();
    await remove(108);
    await waitFor("the key to go", () => !isHeld(108), { deadlineMs: 5_000 });
  });

  it("counts and repairs what a watch lost, by comparing a full list", async () => {
    await source.close();
    await open({ compareEveryMs: 600 });
    proxy.rewrite = ({ resource, isWatch }, piece) => (isWatch && resource === "apikeys" ? Buffer.from("\n") : piece);
    await add(109);
    await remove(1);
    await waitFor("the list to show both", () => isHeld(109) && !isHeld(1), { deadlineMs: 8_000 });
    assert.equal(source.counters.get("ApiKey")?.differences, 2);
    proxy.heal();
    await add(1);
    await remove(109);
  });

  it("finds no difference while keys come and go", async () => {
    await source.close();
    await open({ compareEveryMs: 200, compareGraceMs: 1_000 });
    for (let round = 0; round < 60; round += 1) {
      await add(200 + round);
      if (round > 0) await remove(199 + round);
    }
    await remove(259);
    await waitFor("the last to go", () => held().size === 20);
    const compared = () => source.counters.get("ApiKey")?.comparisons ?? 0;
    await waitFor("a comparison", () => compared() >= 1, { deadlineMs: 10_000 });
    assert.equal(source.counters.get("ApiKey")?.differences, 0);
  });

  it("notices that versions went back, and believes the restored server", async () => {
    let rewinds = 0;
    source.onRewind(() => (rewinds += 1));
    const future = {
      type: "ADDED",
      object: {
        ...numberedKey(300),
        metadata: { name: "key-300", namespace: "default", uid: "u", resourceVersion: "999999999" },
      },
    };
    proxy.inject(`${JSON.stringify(future)}\n`, "apikeys");
    await waitFor("the key from the future", () => isHeld(300));
    // The restored server knows nothing of it, and its next bookmark is from before.
    const bookmark = { type: "BOOKMARK", object: { metadata: { resourceVersion: "999" } } };
    proxy.inject(`${JSON.stringify(bookmark)}\n`, "apikeys");
    await waitFor("the key to go", () => !isHeld(300));
    assert.equal(rewinds, 1);
    assert.equal(relists("rewound"), 1);
    await follows(301);
  });

  it("misses none of a thousand deletions in a gap", async () => {
    await inParallel(1_000, (index) => add(1_000 + index));
    await waitFor("all to be there", () => held().size === 1_020, { deadlineMs: 10_000 });
    proxy.fault = ({ resource }) => (resource === "apikeys" ? status(503, "ServiceUnavailable") : undefined);
    proxy.endWatches({ resource: "apikeys" });
    await inParallel(1_000, (index) => remove(1_000 + index));
    proxy.fault = ({ resource, query }) => {
      // The version it knows is too old by now.
      return resource === "apikeys" && query.has("resourceVersion") ? status(410, "Expired") : undefined;
    };
    await waitFor("all to be gone", () => held().size === 20, { deadlineMs: 10_000 });
    assert.equal(relists("expired"), 1);
  });
});
