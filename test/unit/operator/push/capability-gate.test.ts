/** docs/design/configuration.md 3.3: what becomes of an object that some connected proxy would not understand. */
import assert from "node:assert/strict";
import { type Publication, Publisher } from "#operator/push/publisher";
import type { Key, WireObject } from "#proxy/snapshot/types.gen";
import { ManualTimers } from "#test/support/manual-timers";
import { byId } from "#test/support/push-rig";
import { sha256Of, wireChannel, wireKey } from "#test/support/wire-objects";

const id = "key/team-a/one";
const maxInFlight = 4;
const former = wireKey("one", { modelsAllow: ["a", "b"] });
const lacking = new Set(["key.maxInFlight"]);

describe("Publisher, while a connected proxy lacks a capability", () => {
  let timers: ManualTimers;
  let publisher: Publisher;
  let published: Publication[];

  beforeEach(() => {
    timers = new ManualTimers();
    publisher = new Publisher({ timers });
    published = [];
    publisher.onPublish((publication) => published.push(publication));
  });

  function begin(...objects: WireObject[]): void {
    publisher.publish(byId(...objects));
    publisher.setLacked(lacking);
    published.length = 0;
  }
  function change(...objects: WireObject[]): void {
    publisher.publishChanges({ upserts: byId(...objects), removes: [] });
  }
  const live = (): WireObject | undefined => publisher.snapshot.held(id)?.object;

  const dead = { revokedKeys: [id], revokedCredentials: [] };
  const rows: readonly {
    name: string;
    before?: Key;
    edits: readonly Key[];
    live: Key | undefined;
    heldBack: number;
    atOnce?: Partial<Publication>;
  }[] = [
    {
      name: "does not send a new key that needs it",
      edits: [wireKey("one", { maxInFlight })],
      live: undefined,
      heldBack: 1,
    },
    {
      name: "sends a new key that does not",
      edits: [wireKey("one", { cidrsAllow: ["10.0.0.0/8"] })],
      live: wireKey("one", { cidrsAllow: ["10.0.0.0/8"] }),
      heldBack: 0,
    },
    {
      name: "keeps the version before where an edit adds the field and takes nothing else away",
      before: former,
      edits: [{ ...former, maxInFlight }],
      live: former,
      heldBack: 1,
    },
    {
      name: "keeps it where the edit grants more besides: neither half of the edit is in force",
      before: former,
      edits: [{ ...former, maxInFlight, modelsAllow: ["a", "b", "c"] }],
      live: former,
      heldBack: 1,
    },
    {
      name: "withdraws the key at once where the edit suspends it",
      before: former,
      edits: [{ ...former, maxInFlight, state: "Suspended" }],
      live: undefined,
      heldBack: 1,
      atOnce: dead,
    },
    {
      name: "withdraws it at once where the edit removes a credential",
      before: former,
      edits: [{ ...former, maxInFlight, credentials: [{ name: "next", sha256: sha256Of("sk-next") }] }],
      live: undefined,
      heldBack: 1,
      atOnce: dead,
    },
    {
      name: "withdraws it at once where the edit narrows what all proxies know",
      before: former,
      edits: [{ ...former, maxInFlight, modelsAllow: ["a"] }],
      live: undefined,
      heldBack: 1,
      atOnce: dead,
    },
    {
      name: "withdraws it where the narrowing comes after the field",
      before: former,
      edits: [
        { ...former, maxInFlight },
        { ...former, maxInFlight, expiresAt: 1_000 },
      ],
      live: undefined,
      heldBack: 1,
      atOnce: dead,
    },
    {
      name: "does not bring back what was withdrawn when the narrowing is undone",
      before: former,
      edits: [
        { ...former, maxInFlight, modelsAllow: ["a"] },
        { ...former, maxInFlight },
      ],
      live: undefined,
      heldBack: 1,
    },
    {
      name: "sends the next version that does without the field",
      before: former,
      edits: [
        { ...former, maxInFlight },
        { ...former, modelsAllow: ["b"] },
      ],
      live: { ...former, modelsAllow: ["b"] },
      heldBack: 0,
    },
    {
      name: "forgets the version held back when the edit is undone",
      before: former,
      edits: [{ ...former, maxInFlight }, former],
      live: former,
      heldBack: 0,
    },
    {
      name: "sends edits of a key that went out with the field before: old proxies deny it already",
      before: { ...former, maxInFlight },
      edits: [{ ...former, maxInFlight: 2 }],
      live: { ...former, maxInFlight: 2 },
      heldBack: 0,
    },
  ];
  for (const row of rows) {
    it(row.name, () => {
      begin(...(row.before === undefined ? [] : [row.before]));
      for (const edit of row.edits) change(edit);
      if (row.atOnce !== undefined) {
        const { revokedKeys, revokedCredentials } = published.at(-1) ?? {};
        assert.deepEqual({ revokedKeys, revokedCredentials }, row.atOnce);
      }
      timers.advance(1_000);
      assert.deepEqual(live(), row.live);
      assert.equal(publisher.heldBackCount, row.heldBack);
      assert.deepEqual(publisher.latest(id), row.edits.at(-1), "what is wanted is known in any case");
    });
  }

  it("sends what it held back at once when no connected proxy lacks it any more, together with the whole version", () => {
    begin(former);
    const wanted: Key = { ...former, maxInFlight, modelsAllow: ["b", "c"] };
    change(wanted);
    publisher.setLacked(new Set());
    assert.deepEqual(live(), wanted);
    assert.equal(published.length, 2, "withdrawn, then sent");
    assert.equal(publisher.heldBackCount, 0);
  });

  it("holds nothing back of what it refuses, and nothing of an object that is gone", () => {
    begin(former);
    change({ ...former, maxInFlight });
    change({ ...former, maxInFlight, cidrsAllow: ["all"] });
    assert.equal(publisher.heldBackCount, 0);
    assert.equal(live(), undefined, "denied, as every key that cannot be understood");
    change({ ...former, maxInFlight });
    publisher.publish(new Map());
    publisher.setLacked(new Set());
    assert.equal(publisher.heldBackCount, 0);
    assert.equal(live(), undefined);
  });

  it("removes a key at once of which a version is held back", () => {
    begin(former);
    change({ ...former, maxInFlight });
    publisher.publishChanges({ upserts: [], removes: [id] });
    assert.deepEqual(published.at(-1)?.revokedKeys, [id]);
    assert.deepEqual([live(), publisher.heldBackCount], [undefined, 0]);
  });

  const channel = wireChannel("one");
  const quirky = wireChannel("one", { quirks: "Mistral" });
  for (const row of [
    { name: "does not send a new channel that needs it", edits: [quirky], live: undefined, heldBack: 1 },
    {
      name: "keeps the version of a channel from before",
      before: channel,
      edits: [quirky],
      live: channel,
      heldBack: 1,
    },
    {
      name: "withdraws a channel where the edit disables it: old proxies must not go on calling it",
      before: channel,
      edits: [{ ...quirky, state: "Disabled" as const }],
      live: undefined,
      heldBack: 1,
    },
    {
      name: "sends a channel that went out with the field before",
      before: quirky,
      edits: [{ ...quirky, maxInFlight }],
      live: { ...quirky, maxInFlight },
      heldBack: 0,
    },
  ]) {
    it(row.name, () => {
      publisher.publish(byId(...(row.before === undefined ? [] : [row.before])));
      publisher.setLacked(new Set(["channel.quirks"]));
      change(...row.edits);
      timers.advance(1_000);
      assert.deepEqual(publisher.snapshot.held("channel/team-a/one")?.object, row.live);
      assert.equal(publisher.heldBackCount, row.heldBack);
    });
  }

  it("takes nothing back that is out: an old proxy that comes later denies it, the others serve it", () => {
    publisher.publish(byId(wireKey("one", { maxInFlight })));
    publisher.setLacked(lacking);
    timers.advance(1_000);
    assert.deepEqual(live(), wireKey("one", { maxInFlight }));
  });

  it("tells once for all versions that a pass holds back", () => {
    let told = 0;
    publisher.onHeldBack(() => {
      told += 1;
    });
    begin();
    change(wireKey("one", { maxInFlight }), wireKey("two", { maxInFlight }));
    assert.equal(told, 1);
    change(wireKey("one", { maxInFlight }));
    assert.equal(told, 1, "the same again");
  });

  it("has sums as if nothing were held back, whatever stands in its place", () => {
    begin(former, wireKey("two"));
    change({ ...former, maxInFlight }, wireKey("three", { maxInFlight }));
    const other = new Publisher({ timers });
    other.publish(byId({ ...former, maxInFlight }, wireKey("two"), wireKey("three", { maxInFlight })));
    assert.deepEqual(publisher.wantedSums, other.wantedSums);
    assert.notDeepEqual(publisher.snapshot.sums, other.snapshot.sums);
    assert.deepEqual(publisher.asWanted(publisher.snapshot.sums), other.snapshot.sums);
  });

  it("may learn of a proxy's upgrade while many changes are put together", async () => {
    begin(former);
    change({ ...former, maxInFlight });
    const many = Array.from({ length: 600 }, (_, index) => wireKey(`key-${index}`));
    const passing = publisher.publishChangesInSlices({ upserts: upgradeAfter(300, byId(...many)), removes: [] });
    await passing;
    assert.deepEqual(live(), { ...former, maxInFlight });
    assert.equal(publisher.snapshot.keyCount, 601);
  });

  function* upgradeAfter(count: number, changes: ReadonlyMap<string, WireObject>) {
    let told = 0;
    for (const entry of changes) {
      told += 1;
      if (told === count) publisher.setLacked(new Set());
      yield entry;
    }
  }
});
