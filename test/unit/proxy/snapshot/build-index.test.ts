import assert from "node:assert/strict";
import fc from "fast-check";
import { emptySnapshot, type IndexedSnapshot, SnapshotDraft } from "#proxy/snapshot/build-index";
import { applyDifference, differenceBetween, differenceBySums } from "#proxy/snapshot/diff";
import { bucketOf, objectVersion } from "#proxy/snapshot/digest";
import { Interner } from "#proxy/snapshot/index/intern";
import { objectId } from "#proxy/snapshot/object-id";
import type { WireObject } from "#proxy/snapshot/types.gen";
import {
  fullKey,
  sha256Of,
  wireAccount,
  wireChannel,
  wireCredential,
  wireKey,
  wireRoute,
} from "#test/support/wire-objects";

function put(draft: SnapshotDraft, object: WireObject): void {
  const id = objectId(object);
  const { version, size } = objectVersion(id, object);
  draft.put(id, version, size, object);
}

function snapshotOf(objects: Iterable<WireObject>, base: IndexedSnapshot = emptySnapshot): IndexedSnapshot {
  const draft = new SnapshotDraft(base);
  for (const object of objects) put(draft, object);
  return draft.finish(base.revision + 1);
}

describe("build-index", () => {
  it("finds each kind by its name and a key by the digest of its credential", () => {
    const snapshot = snapshotOf([
      wireKey("one"),
      wireAccount("team"),
      wireChannel("main"),
      wireCredential("main"),
      wireRoute("small", { aliases: ["tiny"] }),
    ]);
    assert.equal(snapshot.findKey(sha256Of("sk-one"))?.credential.name, "current");
    assert.equal(snapshot.findKey(sha256Of("sk-two")), undefined);
    assert.equal(snapshot.findKey("not hexadecimal"), undefined);
    assert.equal(snapshot.findKey(""), undefined);
    assert.equal(snapshot.keyByName("team-a", "one")?.name, "one");
    assert.equal(snapshot.account("team-a", "team")?.name, "team");
    assert.equal(snapshot.channel("team-a/main")?.name, "main");
    assert.equal(snapshot.credential("team-a", "main", "main")?.secret, "not-a-real-secret");
    assert.equal(snapshot.routesFor("tiny")[0]?.name, "small");
    assert.equal(snapshot.keyCount, 1);
  });

  it("serves nothing and asks for nothing when it is empty", () => {
    assert.equal(emptySnapshot.findKey(sha256Of("sk-one")), undefined);
    assert.deepEqual(emptySnapshot.routesFor("small"), []);
    assert.equal(emptySnapshot.fleet.requireAccount, false);
  });

  it("leaves the snapshot it began from as it was and shares its buckets", () => {
    const before = snapshotOf(Array.from({ length: 1_000 }, (_, index) => wireKey(`key-${index}`)));
    const draft = new SnapshotDraft(before);
    put(draft, wireKey("key-7", { state: "Suspended" }));
    draft.remove("key/team-a/key-8");
    const after = draft.finish(2);
    assert.equal(before.findKey(sha256Of("sk-key-7"))?.key.state, "Active");
    assert.notEqual(before.findKey(sha256Of("sk-key-8")), undefined);
    assert.equal(after.findKey(sha256Of("sk-key-7"))?.key.state, "Suspended");
    assert.equal(after.findKey(sha256Of("sk-key-8")), undefined);
    assert.equal(after.keyByName("team-a", "key-8"), undefined);
    assert.equal(after.keyCount, 999);
    const touched = new Set([bucketOf("key/team-a/key-7"), bucketOf("key/team-a/key-8")]);
    for (let bucket = 0; bucket < 256; bucket += 1) {
      assert.equal(before.bucket(bucket) === after.bucket(bucket), !touched.has(bucket), `bucket ${bucket}`);
    }
  });

  it("forgets the credentials that a new version of a key no longer has", () => {
    const rotated = snapshotOf(
      [wireKey("one", { credentials: [{ name: "next", sha256: sha256Of("sk-new") }] })],
      snapshotOf([wireKey("one")]),
    );
    assert.equal(rotated.findKey(sha256Of("sk-one")), undefined);
    assert.equal(rotated.findKey(sha256Of("sk-new"))?.credential.name, "next");
  });

  it("gives a digest of two keys to the first by id, whatever came first, and to the other when it goes", () => {
    const shared = { credentials: [{ name: "current", sha256: sha256Of("sk-shared") }] };
    const keys = [wireKey("a", shared), wireKey("b", shared), wireKey("c", shared)];
    for (const order of [keys, [...keys].reverse()]) {
      const snapshot = snapshotOf(order);
      assert.equal(snapshot.findKey(sha256Of("sk-shared"))?.key.name, "a");
      const draft = new SnapshotDraft(snapshot);
      draft.remove("key/team-a/a");
      assert.equal(draft.finish(2).findKey(sha256Of("sk-shared"))?.key.name, "b");
    }
  });

  it("denies a key it cannot take, keeps the last good version of anything else, and agrees on the digest", () => {
    const before = snapshotOf([wireKey("one"), wireRoute("small")]);
    const draft = new SnapshotDraft(before);
    draft.refuse("key/team-a/one", "00000000000000aa", 10);
    draft.refuse("route/team-a/small", "00000000000000bb", 10);
    draft.refuse("route/team-a/other", "00000000000000cc", 10);
    const after = draft.finish(2);
    assert.equal(after.findKey(sha256Of("sk-one")), undefined);
    assert.equal(after.keyByName("team-a", "one"), undefined);
    assert.equal(after.routesFor("small").length, 1);
    assert.equal(after.held("route/team-a/small")?.version, "00000000000000bb");
    assert.equal(after.keyCount, 0);
    const other = new SnapshotDraft(emptySnapshot);
    for (const [id, version] of [
      ["route/team-a/other", "cc"],
      ["route/team-a/small", "bb"],
      ["key/team-a/one", "aa"],
    ] as const) {
      other.refuse(id, version.padStart(16, "0"), 10);
    }
    assert.equal(other.digest(), after.digest);
  });

  it("keeps the last good version also when its bucket is sent anew", () => {
    const draft = new SnapshotDraft(snapshotOf([wireRoute("small")]));
    draft.clearBucket(bucketOf("route/team-a/small"));
    draft.refuse("route/team-a/small", "00000000000000bb", 10);
    assert.equal(draft.finish(2).routesFor("small").length, 1);
  });

  it("takes revoked keys and credentials out of every lookup", () => {
    const snapshot = snapshotOf([wireKey("one"), wireKey("two")]);
    const revoked = snapshot.withRevoked({
      keys: new Set(["key/team-a/one"]),
      credentials: new Set([sha256Of("sk-two")]),
    });
    assert.equal(revoked.findKey(sha256Of("sk-one")), undefined);
    assert.equal(revoked.keyByName("team-a", "one"), undefined);
    assert.equal(revoked.findKey(sha256Of("sk-two")), undefined);
    assert.notEqual(revoked.keyByName("team-a", "two"), undefined);
    assert.equal(revoked.digest, snapshot.digest);
    assert.notEqual(snapshot.findKey(sha256Of("sk-one")), undefined);
  });

  it("orders routes of a model by exactness, then length of the pattern, and hides internal ones", () => {
    const snapshot = snapshotOf([
      wireRoute("every", { model: "*" }),
      wireRoute("family", { model: "gpt-*" }),
      wireRoute("narrow", { model: "gpt-5-*" }),
      wireRoute("minis", { model: "*-mini" }),
      wireRoute("exact", { model: "gpt-5-mini" }),
      wireRoute("inner", { model: "gpt-5-mini", visibility: "Internal" }),
    ]);
    const names = (model: string) => snapshot.routesFor(model).map(({ name }) => name);
    assert.deepEqual(names("gpt-5-mini"), ["exact", "narrow", "minis", "family", "every"]);
    assert.deepEqual(names("gpt-"), ["family", "every"]);
    assert.deepEqual(names("gpt"), ["every"]);
    assert.deepEqual(names("__proto__"), ["every"]);
  });

  it("shares equal parts of keys without changing what they say", () => {
    const interner = new Interner();
    const one = interner.shareParts(structuredClone(fullKey(1)));
    const two = interner.shareParts(structuredClone(fullKey(2)));
    assert.ok(one.kind === "key" && two.kind === "key");
    assert.deepEqual([one, two], [fullKey(1), fullKey(2)]);
    assert.equal(one.limits, two.limits);
    assert.equal(one.modelsAllow, two.modelsAllow);
    assert.equal(one.labels, two.labels);
  });
});

const someObject: fc.Arbitrary<WireObject> = fc.oneof(
  fc.record({ index: fc.nat(30), suspended: fc.boolean(), digest: fc.nat(20) }).map(({ index, suspended, digest }) =>
    wireKey(`key-${index}`, {
      state: suspended ? "Suspended" : "Active",
      credentials: [{ name: "current", sha256: sha256Of(`secret-${digest}`) }],
    }),
  ),
  fc
    .record({ index: fc.nat(10), model: fc.constantFrom("a", "b*", "*c", "*") })
    .map(({ index, model }) => wireRoute(`route-${index}`, { model })),
  fc
    .record({ index: fc.nat(5), draining: fc.boolean() })
    .map(({ index, draining }) => wireChannel(`channel-${index}`, { state: draining ? "Draining" : "Active" })),
);
const someObjects = fc.array(someObject, { maxLength: 60 });

/** All that a request could see. */
function facts(snapshot: IndexedSnapshot) {
  return {
    digest: snapshot.digest,
    keyCount: snapshot.keyCount,
    size: snapshot.size,
    objects: [...snapshot.objects()]
      .map(([id, object]) => [id, object] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
    byDigest: Array.from({ length: 21 }, (_, index) => snapshot.findKey(sha256Of(`secret-${index}`))),
    routes: ["a", "b", "bc", "xc"].map((model) => snapshot.routesFor(model)),
    channels: [...snapshot.channels].map(({ name, state }) => `${name} ${state}`).sort(),
  };
}

describe("difference", () => {
  it("apply(difference) = apply(whole), by object and by bucket", () => {
    fc.assert(
      fc.property(someObjects, someObjects, (before, after) => {
        const base = snapshotOf(before);
        const target = snapshotOf(after);
        for (const difference of [
          differenceBetween(base, target),
          differenceBySums(base.sums, target),
          differenceBySums(undefined, target),
        ]) {
          const draft = new SnapshotDraft(base);
          applyDifference(draft, difference, target);
          assert.deepEqual(facts(draft.finish(2)), facts(target));
        }
      }),
    );
  });

  it("the order in which objects arrive changes nothing", () => {
    fc.assert(
      fc.property(
        fc
          .uniqueArray(someObject, { maxLength: 40, selector: objectId })
          .chain((objects) =>
            fc.tuple(fc.constant(objects), fc.shuffledSubarray(objects, { minLength: objects.length })),
          ),
        ([objects, shuffled]) => assert.deepEqual(facts(snapshotOf(shuffled)), facts(snapshotOf(objects))),
      ),
    );
  });

  it("sends only what changed", () => {
    const objects = Array.from({ length: 300 }, (_, index) => wireKey(`key-${index}`));
    const base = snapshotOf(objects);
    const target = snapshotOf([wireKey("key-9", { state: "Suspended" })], base);
    assert.deepEqual(differenceBetween(base, target), { buckets: [], upserts: ["key/team-a/key-9"], removes: [] });
    assert.deepEqual(differenceBySums(base.sums, target).buckets, [bucketOf("key/team-a/key-9")]);
  });
});
