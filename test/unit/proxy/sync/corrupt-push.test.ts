/** docs/design/reliability.md J6: whatever arrives, the last good snapshot stays and the reason is known. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { emptySnapshot } from "#proxy/snapshot/build-index";
import { Interner } from "#proxy/snapshot/index/intern";
import { MessageError, parseDownMessage } from "#proxy/snapshot/push/parse-message";
import { FrameTooLargeError, LineSplitter } from "#proxy/snapshot/push/split-lines";
import { systemTimers } from "#proxy/snapshot/push/timers";
import type { Key } from "#proxy/snapshot/types.gen";
import { ChangeApplier, type ChangeMessage, RefusalError } from "#proxy/sync/apply-changes";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { linesBetween, snapshotOf } from "#test/support/transactions";
import { fullKey, sha256Of, wireKey, wireRoute } from "#test/support/wire-objects";

const good = snapshotOf([wireKey("one"), wireRoute("small")]);
const next = snapshotOf([wireKey("one", { metadata: { a: "b" } }), wireKey("two")], good);
const [line = ""] = linesBetween(good, next);

async function apply(store: SnapshotStore, ...lines: readonly string[]): Promise<void> {
  const applier = new ChangeApplier(store, new Interner(), systemTimers);
  for (const text of lines) await applier.apply(asChange(text));
}

function asChange(text: string): ChangeMessage {
  const message = parseDownMessage(text);
  assert.ok(["transaction", "begin", "part", "commit"].includes(message.type), "for this test only");
  return message as ChangeMessage;
}

async function storeWithGood(): Promise<SnapshotStore> {
  const store = new SnapshotStore();
  await apply(store, ...linesBetween(emptySnapshot, good));
  assert.equal(store.live.digest, good.digest);
  return store;
}

function edited(edit: (message: Record<string, unknown>) => void): string {
  const message: Record<string, unknown> = JSON.parse(line);
  edit(message);
  return JSON.stringify(message);
}

function deep(levels: number): string {
  return `${"[".repeat(levels)}${"]".repeat(levels)}`;
}

describe("corrupt push", () => {
  it("the transaction that the rows damage is a good one", async () => {
    const store = await storeWithGood();
    await apply(store, line);
    assert.equal(store.live.digest, next.digest);
    assert.notEqual(store.pin().findKey(sha256Of("sk-two")), undefined);
  });

  for (const row of [
    { name: "an empty line", lines: [""], code: "bad_frame" },
    { name: "half a line", lines: [line.slice(0, line.length / 2)], code: "bad_frame" },
    { name: "trailing bytes", lines: [`${line}}`], code: "bad_frame" },
    { name: "an array", lines: ["[]"], code: "bad_frame" },
    { name: "an unknown type", lines: ['{"type":"replace"}'], code: "bad_frame" },
    {
      name: "a negative revision",
      lines: [
        edited((message) => {
          message["revision"] = -1;
        }),
      ],
      code: "bad_frame",
    },
    {
      name: "a bucket that does not exist",
      lines: [
        edited((message) => {
          message["buckets"] = [256];
        }),
      ],
      code: "bad_frame",
    },
    {
      name: "upserts that are no array",
      lines: [
        edited((message) => {
          message["upserts"] = { length: 1e9 };
        }),
      ],
      code: "bad_frame",
    },
    {
      name: "a wrong base",
      lines: [
        edited((message) => {
          message["base"] = next.digest;
        }),
      ],
      code: "wrong_base",
    },
    {
      name: "a wrong digest",
      lines: [
        edited((message) => {
          message["digest"] = good.digest;
        }),
      ],
      code: "wrong_digest",
    },
    {
      name: "a missing object",
      lines: [
        edited((message) => {
          message["upserts"] = [];
        }),
      ],
      code: "wrong_digest",
    },
    {
      name: "an old revision",
      lines: [
        edited((message) => {
          message["revision"] = 0;
        }),
      ],
      code: "stale_revision",
    },
    {
      name: "an id twice",
      lines: [
        edited((message) => {
          message["removes"] = ["key/team-a/two"];
        }),
      ],
      code: "duplicate_id",
    },
    {
      name: "an object nested 10,000 deep",
      lines: [edited(() => {}).replace('"metadata":{"a":"b"}', `"metadata":${deep(10_000)}`)],
      code: "bad_frame",
    },
    {
      name: "a part without a begin",
      lines: ['{"type":"part","revision":2,"index":0,"upserts":[],"removes":[]}'],
      code: "unexpected_message",
    },
    {
      name: "a commit without a begin",
      lines: ['{"type":"commit","revision":2,"parts":0}'],
      code: "unexpected_message",
    },
    {
      name: "a part out of order",
      lines: [begin(), '{"type":"part","revision":2,"index":1,"upserts":[],"removes":[]}'],
      code: "unexpected_message",
    },
    {
      name: "a part of another revision",
      lines: [begin(), '{"type":"part","revision":3,"index":0,"upserts":[],"removes":[]}'],
      code: "unexpected_message",
    },
    {
      name: "a commit that misses parts",
      lines: [begin(), '{"type":"commit","revision":2,"parts":1}'],
      code: "unexpected_message",
    },
    { name: "a begin inside a transaction", lines: [begin(), begin()], code: "unexpected_message" },
  ]) {
    it(`refuses ${row.name} and keeps the last good snapshot`, async () => {
      const store = await storeWithGood();
      const before = store.live;
      await assert.rejects(apply(store, ...row.lines), { code: row.code });
      assert.equal(store.live, before);
    });
  }

  for (const row of [
    { name: "an unknown field", changes: { colour: "red" } },
    { name: "an unknown value of a restricting field", changes: { protocols: ["Carrier"] } },
    { name: "100,000 patterns", changes: { modelsAllow: Array.from({ length: 100_000 }, (_, index) => `m${index}`) } },
  ]) {
    it(`denies a key with ${row.name}, names it, and lets the rest go live`, async () => {
      const store = await storeWithGood();
      const odd: Key = JSON.parse(JSON.stringify({ ...wireKey("one"), ...row.changes }));
      // An operator of a newer version: its digest covers the object that this proxy cannot take.
      const newer = snapshotOf([odd, wireKey("two")], good);
      await apply(store, ...linesBetween(good, newer));
      assert.equal(store.live.digest, newer.digest);
      assert.equal(store.pin().findKey(sha256Of("sk-one")), undefined);
      assert.notEqual(store.pin().findKey(sha256Of("sk-two")), undefined);
      assert.deepEqual(
        store.rejects.map(({ id, severity }) => ({ id, severity })),
        [{ id: "key/team-a/one", severity: "denied" }],
      );
      await apply(store, ...linesBetween(newer, snapshotOf([wireKey("one")], newer)));
      assert.notEqual(store.pin().findKey(sha256Of("sk-one")), undefined);
      assert.deepEqual(store.rejects, []);
    });
  }

  it("keeps the last good version of a route that it cannot take", async () => {
    const store = await storeWithGood();
    const newer = snapshotOf([{ ...wireRoute("small", { visibility: "Unlisted" }), ...{ colour: "red" } }], good);
    await apply(store, ...linesBetween(good, newer));
    assert.equal(store.pin().routesFor("small")[0]?.visibility, "Listed");
    assert.deepEqual(
      store.rejects.map(({ severity }) => severity),
      ["held"],
    );
  });

  it("applies a transaction in parts like one in a line", async () => {
    const target = snapshotOf(
      Array.from({ length: 1_500 }, (_, index) => fullKey(index)),
      good,
    );
    const lines = linesBetween(good, target);
    assert.ok(lines.length > 3);
    const store = await storeWithGood();
    await apply(store, ...lines);
    assert.equal(store.live.digest, target.digest);
    assert.equal(store.pin().keyCount, 1_501);
  });

  it("shows nothing of a transaction whose parts are not complete", async () => {
    const target = snapshotOf(
      Array.from({ length: 1_500 }, (_, index) => fullKey(index)),
      good,
    );
    const store = await storeWithGood();
    const before = store.live;
    await apply(store, ...linesBetween(good, target).slice(0, -1));
    assert.equal(store.live, before);
  });

  it("survives any flipped bit: refused, or the digest that the operator named", async () => {
    const bytes = Buffer.from(line);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length * 8 - 1), async (bit) => {
        const flipped = Buffer.from(bytes);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        await survive(flipped);
      }),
      { numRuns: 2_000 },
    );
  });

  it("survives any truncation and any splice", async () => {
    const bytes = Buffer.from(line);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length), fc.nat(bytes.length), async (end, start) => {
        await survive(Buffer.concat([bytes.subarray(0, end), bytes.subarray(start)]));
      }),
      { numRuns: 500 },
    );
  });

  it("reads lines whatever the pieces they arrive in", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), fc.integer({ min: 1, max: 7 }), (texts, size) => {
        const wanted = texts.map((text) => text.replaceAll("\n", " "));
        const bytes = Buffer.from(wanted.map((text) => `${text}\n`).join(""));
        const splitter = new LineSplitter();
        const lines: string[] = [];
        for (let start = 0; start < bytes.length; start += size)
          lines.push(...splitter.push(bytes.subarray(start, start + size)));
        assert.deepEqual(
          lines,
          wanted.map((text) => Buffer.from(text).toString()),
        );
      }),
    );
  });

  it("refuses an endless line before it costs more than a frame", () => {
    const splitter = new LineSplitter();
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    assert.throws(() => {
      for (let sent = 0; sent < 1024 ** 3; sent += chunk.length) {
        splitter.push(chunk).next();
        assert.ok(splitter.pendingBytes <= 1024 * 1024 + chunk.length);
      }
    }, FrameTooLargeError);
  });
});

function begin(): string {
  return JSON.stringify({ type: "begin", epoch: 1, revision: 2, base: good.digest, digest: next.digest, buckets: [] });
}

/** Applies damaged bytes; the store must hold the good digest or the one that the message named. */
async function survive(bytes: Buffer): Promise<void> {
  const store = new SnapshotStore();
  store.commit({ snapshot: good, epoch: 1, rejects: [], applyMs: 0 });
  try {
    const message = parseDownMessage(bytes.toString("utf8"));
    if (message.type !== "transaction") return;
    await new ChangeApplier(store, new Interner(), systemTimers).apply(message);
    assert.equal(store.live.digest, message.digest);
    assert.equal(message.digest, next.digest);
  } catch (cause) {
    if (!(cause instanceof MessageError) && !(cause instanceof RefusalError)) throw cause;
    assert.equal(store.live.digest, good.digest);
  }
}
