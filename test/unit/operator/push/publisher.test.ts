import assert from "node:assert/strict";
import { type Publication, Publisher } from "#operator/push/publisher";
import { objectId } from "#proxy/snapshot/object-id";
import type { Key, Limit, WireObject } from "#proxy/snapshot/types.gen";
import { ManualTimers } from "#test/support/manual-timers";
import { byId } from "#test/support/push-rig";
import { sha256Of, wireChannel, wireKey, wireRoute } from "#test/support/wire-objects";

describe("Publisher", () => {
  let timers: ManualTimers;
  let publisher: Publisher;
  let published: Publication[];

  beforeEach(() => {
    timers = new ManualTimers();
    publisher = new Publisher({ timers });
    published = [];
    publisher.onPublish((publication) => published.push(publication));
  });

  /** Publishes a first configuration, long before what follows. */
  function begin(...objects: WireObject[]): void {
    publisher.publish(byId(...objects));
    timers.advance(1_000);
  }

  function change(...objects: WireObject[]): void {
    publisher.publishChanges({ upserts: byId(...objects), removes: [] });
  }

  it("publishes the first configuration at once, also an empty one", () => {
    assert.equal(publisher.hasPublished, false);
    publisher.publish(new Map());
    assert.equal(publisher.hasPublished, true);
    assert.equal(published.length, 1);
    assert.equal(publisher.snapshot.revision, 1);
  });

  it("publishes nothing when nothing changed, however it is told", () => {
    begin(wireKey("one"));
    change(wireKey("one"));
    publisher.publish(byId(wireKey("one")));
    timers.advance(1_000);
    assert.equal(published.length, 1);
  });

  it("publishes nothing when a change is taken back before it went out", () => {
    begin(wireRoute("small"));
    change(wireRoute("small", { visibility: "Unlisted" }));
    change(wireRoute("small"));
    timers.advance(1_000);
    assert.equal(published.length, 1);
  });

  it("merges changes that come within the quiet time of each other", () => {
    begin();
    change(wireKey("one"));
    timers.advance(9);
    change(wireKey("two"));
    timers.advance(9);
    assert.equal(published.length, 1);
    timers.advance(1);
    assert.equal(published.length, 2);
    assert.deepEqual(published[1]?.changed, ["key/team-a/one", "key/team-a/two"]);
  });

  it("publishes not more than ten times a second under a flood (J5), and the first change of it soon", () => {
    begin();
    for (let index = 0; index < 500; index += 1) {
      change(wireKey(`key-${index}`));
      timers.advance(20);
      if (index === 0) assert.equal(published.length, 2);
    }
    assert.equal(published.length, 1 + 100);
  });

  it("keeps no distance from a change that could not wait, which keeps none itself", () => {
    begin(wireKey("one"), wireKey("two"));
    change(wireKey("three"));
    timers.advance(10);
    assert.equal(published.length, 2);
    change(wireKey("one", { state: "Suspended" }));
    assert.equal(published.length, 3);
    change(wireKey("four"));
    timers.advance(99);
    assert.equal(published.length, 3);
    timers.advance(1);
    assert.deepEqual(published[3]?.changed, ["key/team-a/four"]);
    timers.advance(1_000);
    change(wireKey("two", { state: "Suspended" }));
    change(wireKey("two"));
    timers.advance(10);
    assert.deepEqual(published[5]?.changed, ["key/team-a/two"]);
  });

  it("lets no change wait longer than 250 ms under a steady stream of others", () => {
    begin();
    for (let index = 0; index < 60; index += 1) {
      change(wireKey(`key-${index}`));
      timers.advance(5);
    }
    assert.equal(published.length, 2);
    assert.equal(published[1]?.changed.length, 50);
  });

  const urgent: readonly { name: string; to: Key; revoked?: string[]; credentials?: string[] }[] = [
    { name: "a suspended key", to: wireKey("one", { state: "Suspended" }), revoked: ["key/team-a/one"] },
    { name: "a removed credential", to: wireKey("one", { credentials: [] }), credentials: [sha256Of("sk-one")] },
    { name: "a narrower allow-list", to: wireKey("one", { modelsAllow: ["a"] }) },
    { name: "a longer deny-list", to: wireKey("one", { cidrsDeny: ["10.0.0.0/8"] }) },
    { name: "an earlier expiry", to: wireKey("one", { expiresAt: 1 }) },
    {
      name: "a new enforced limit",
      to: wireKey("one", {
        limits: [{ name: "a", unit: "Requests", limit: "1", period: "Day", algorithm: "FixedWindow", mode: "Enforce" }],
      }),
    },
    { name: "a smaller concurrency", to: wireKey("one", { maxInFlight: 1 }) },
  ];
  for (const row of urgent) {
    it(`publishes ${row.name} without waiting`, () => {
      begin(wireKey("one"));
      change(row.to);
      assert.equal(published.length, 2);
      assert.deepEqual(published[1]?.revokedKeys, row.revoked ?? []);
      assert.deepEqual(published[1]?.revokedCredentials, row.credentials ?? []);
    });
  }

  it("publishes a deleted key without waiting, together with what waited", () => {
    begin(wireKey("one"));
    change(wireKey("two"));
    publisher.publishChanges({ upserts: [], removes: ["key/team-a/one"] });
    assert.deepEqual(published[1]?.changed, ["key/team-a/two", "key/team-a/one"]);
    assert.deepEqual(published[1]?.revokedKeys, ["key/team-a/one"]);
    timers.advance(1_000);
    assert.equal(published.length, 2);
  });

  const calm: readonly { name: string; from: Partial<Key>; to: Partial<Key> }[] = [
    { name: "a wider allow-list", from: { modelsAllow: ["a"] }, to: { modelsAllow: ["a", "b"] } },
    { name: "a raised limit", from: { limits: limitOf("1") }, to: { limits: limitOf("2") } },
    { name: "a later expiry", from: { expiresAt: 1 }, to: { expiresAt: 2 } },
    { name: "new metadata", from: {}, to: { metadata: { owner: "search" } } },
  ];
  for (const row of calm) {
    it(`lets ${row.name} wait for company`, () => {
      begin(wireKey("one", row.from));
      change(wireKey("one", row.to));
      assert.equal(published.length, 1);
      timers.advance(100);
      assert.equal(published.length, 2);
    });
  }

  it("withdraws a key that the validator refuses and says why", () => {
    begin(wireKey("one"));
    change(wireKey("one", { cidrsAllow: ["everywhere"] }));
    assert.equal(publisher.snapshot.findKey(sha256Of("sk-one")), undefined);
    assert.equal(publisher.problems.get("key/team-a/one")?.path, "/cidrsAllow/0");
    change(wireKey("one"));
    timers.advance(100);
    assert.notEqual(publisher.snapshot.findKey(sha256Of("sk-one")), undefined);
    assert.equal(publisher.problems.size, 0);
  });

  it("keeps the last good version of anything else, and the rest goes live", () => {
    begin(wireChannel("main"));
    change(wireChannel("main", { baseURL: "https://[::zz]/" }), wireKey("one"));
    timers.advance(100);
    assert.equal(publisher.snapshot.channel("team-a/main")?.baseURL, wireChannel("main").baseURL);
    assert.notEqual(publisher.snapshot.keyByName("team-a", "one"), undefined);
    assert.equal(publisher.problems.get("channel/team-a/main")?.path, "/baseURL");
  });

  it("refuses an object nested too deeply, and the rest goes live (J8)", () => {
    begin();
    const value: unknown = JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`);
    change(wireChannel("main", { body: { set: [{ field: "a", value }] } }), wireKey("one"));
    timers.advance(100);
    assert.match(publisher.problems.get("channel/team-a/main")?.message ?? "", /nested deeper/);
    assert.notEqual(publisher.snapshot.keyByName("team-a", "one"), undefined);
  });

  it("forgets the problem of an object that is gone", () => {
    begin(wireRoute("small", { model: "a*b" }));
    assert.equal(publisher.problems.size, 1);
    publisher.publish(new Map());
    assert.equal(publisher.problems.size, 0);
  });

  it("refuses an object too large for a frame before it is pushed, and names the bound", () => {
    begin();
    const ca = "x".repeat(1_048_576);
    change(wireChannel("main", { tls: { ca } }), wireKey("one"));
    timers.advance(100);
    assert.match(publisher.problems.get("channel/team-a/main")?.message ?? "", /bytes/);
    assert.notEqual(publisher.snapshot.keyByName("team-a", "one"), undefined);
  });

  it("refuses what goes beyond the size of a snapshot, and takes it when there is room again", () => {
    const small = new Publisher({ timers, sizeMax: 1_000 });
    small.publish(
      byId(wireKey("a"), wireKey("b"), wireKey("c"), wireKey("d"), wireKey("e"), wireKey("f"), wireKey("g")),
    );
    const refused = [...small.problems.keys()];
    assert.ok(refused.length > 0 && small.snapshot.keyCount > 0);
    assert.ok(small.snapshot.size <= 1_000);
    const [first = ""] = refused;
    small.publishChanges({ upserts: [], removes: ["key/team-a/a"] });
    small.publishChanges({ upserts: [[first, wireKey(first.slice("key/team-a/".length))]], removes: [] });
    timers.advance(100);
    assert.notEqual(small.snapshot.held(first), undefined);
    small.close();
  });

  it("lets no flush come between the slices of one change", async () => {
    begin();
    change(wireKey("early"));
    const many = Array.from({ length: 500 }, (_, index) => wireKey(`key-${index}`));
    const staged = publisher.publishChangesInSlices({
      upserts: (function* () {
        for (const key of many) {
          timers.advance(6);
          yield [objectId(key), key] as const;
        }
      })(),
      removes: [],
    });
    await staged;
    timers.advance(10);
    assert.equal(published.length, 2);
    assert.equal(published[1]?.changed.length, 501);
  });

  it("publishes no half of a change that threw, but all of it once it was made again", () => {
    begin();
    change(wireKey("early"));
    const together = byId(wireKey("one"), wireKey("two"));
    function* failing(): Generator<[string, WireObject]> {
      for (const entry of together) {
        yield entry;
        throw new Error("a fault");
      }
    }
    assert.throws(() => publisher.publishChanges({ upserts: failing(), removes: [] }));
    timers.advance(1_000);
    assert.equal(published.length, 1);
    publisher.publishChanges({ upserts: together, removes: [] });
    timers.advance(10);
    assert.deepEqual(published[1]?.changed, ["key/team-a/early", "key/team-a/one", "key/team-a/two"]);
  });
});

function limitOf(limit: string): Limit[] {
  const only: Limit = { name: "a", unit: "Requests", limit, period: "Day", algorithm: "FixedWindow", mode: "Enforce" };
  return [only];
}
