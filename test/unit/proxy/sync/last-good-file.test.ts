/** docs/design/reliability.md K4: a restart with the operator down, with every kind of file. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { followStore } from "#proxy/sync/follow-store";
import { readLastGood, readLastGoodKey, writeLastGood } from "#proxy/sync/last-good-file";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { startLastGood } from "#proxy/sync/start-last-good";
import { ManualTimers } from "#test/support/manual-timers";
import { eventually } from "#test/support/push-rig";
import { snapshotOf } from "#test/support/transactions";
import { fullKey, sha256Of, wireChannel, wireCredential, wireKey } from "#test/support/wire-objects";

const key = randomBytes(32);
const snapshot = snapshotOf([fullKey(1), wireChannel("main"), wireCredential("main", "main", "canary-secret")]);

describe("last good file", () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-last-good-"));
    file = join(folder, "last-good.bin");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("gives back what was written, readable by its owner alone, and shows no secret", async () => {
    await writeLastGood(file, key, snapshot);
    const read = await readLastGood(file, key);
    assert.equal(read.snapshot?.digest, snapshot.digest);
    assert.equal(read.snapshot?.revision, snapshot.revision);
    assert.notEqual(read.snapshot?.findKey(sha256Of("sk-key-1")), undefined);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await readFile(file)).includes("canary-secret"), false);
    assert.deepEqual(await readdir(folder), ["last-good.bin"]);
  });

  it("keeps many objects over many pieces", async () => {
    const large = snapshotOf(Array.from({ length: 3_000 }, (_, index) => fullKey(index)));
    await writeLastGood(file, key, large);
    assert.equal((await readLastGood(file, key)).snapshot?.digest, large.digest);
  });

  for (const row of [
    { name: "torn", damage: (bytes: Buffer) => bytes.subarray(0, bytes.length - 7) },
    { name: "cut to its first line", damage: (bytes: Buffer) => bytes.subarray(0, 21) },
    { name: "empty", damage: () => Buffer.alloc(0) },
    { name: "flipped in its content", damage: (bytes: Buffer) => flip(bytes, 60) },
    { name: "flipped in its nonce", damage: (bytes: Buffer) => flip(bytes, 25) },
    { name: "flipped in its tag", damage: (bytes: Buffer) => flip(bytes, bytes.length - 1) },
    {
      name: "from a newer version",
      damage: (bytes: Buffer) => Buffer.concat([Buffer.from("tollgate-last-good 2\n"), bytes.subarray(21)]),
    },
    { name: "longer than it was", damage: (bytes: Buffer) => Buffer.concat([bytes, Buffer.from("x")]) },
    { name: "something else", damage: () => Buffer.from("kind: ApiKey\n") },
  ]) {
    it(`ignores a file that is ${row.name}, and says so`, async () => {
      await writeLastGood(file, key, snapshot);
      await writeFile(file, row.damage(await readFile(file)));
      const read = await readLastGood(file, key);
      assert.equal(read.snapshot, undefined);
      assert.ok((read.problem ?? "").length > 10);
    });
  }

  it("ignores a file that is absent or was written with another key", async () => {
    assert.match((await readLastGood(file, key)).problem ?? "", /ENOENT/);
    await writeLastGood(file, key, snapshot);
    assert.match((await readLastGood(file, randomBytes(32))).problem ?? "", /another key/);
  });

  it("leaves out objects that this version does not understand", async () => {
    const odd = { ...wireKey("odd"), colour: "red" };
    await writeLastGood(file, key, snapshotOf([wireKey("one"), odd]));
    const read = await readLastGood(file, key);
    assert.equal(read.snapshot?.keyCount, 1);
    assert.equal(read.skipped, 1);
  });

  it("leaves the old file as it was when a write fails", async () => {
    await writeLastGood(file, key, snapshot);
    await assert.rejects(writeLastGood(join(folder, "missing", "file"), key, snapshot));
    await assert.rejects(writeLastGood(file, Buffer.alloc(5), snapshotOf([wireKey("one")])));
    assert.equal((await readLastGood(file, key)).snapshot?.digest, snapshot.digest);
    assert.deepEqual(await readdir(folder), ["last-good.bin"]);
  });

  it("reads its key raw, in hex and in base64, and refuses anything else", async () => {
    const keyFile = join(folder, "key");
    for (const content of [key, `${key.toString("hex")}\n`, `${key.toString("base64")}\n`]) {
      await writeFile(keyFile, content);
      assert.deepEqual(await readLastGoodKey(keyFile), key);
    }
    await writeFile(keyFile, "short");
    await assert.rejects(readLastGoodKey(keyFile), { code: "last_good_key" });
  });

  it("makes a store ready and stale until an operator confirms it", async () => {
    const store = new SnapshotStore();
    store.restore(snapshot);
    assert.deepEqual([store.isReady, store.isStale], [true, true]);
    store.confirm(5, 1);
    assert.deepEqual([store.isReady, store.isStale], [true, false]);
    store.restore(snapshotOf([]));
    assert.equal(store.live.digest, snapshot.digest, "a file never replaces what an operator sent");
  });

  it("lets a proxy serve at once after a restart without an operator, and tells why when it cannot", async () => {
    const keyFile = join(folder, "key");
    await writeFile(keyFile, key);
    const lines: string[] = [];
    const log = { info: (line: string) => lines.push(line), warn: (line: string) => lines.push(`warning: ${line}`) };
    const first = new SnapshotStore();
    const writing = await startLastGood({ file, keyFile, store: first, log });
    assert.equal(first.isReady, false);
    assert.match(lines[0] ?? "", /^there is no last good file .* yet/, "the first start of all is nothing to warn of");
    first.commit({ snapshot, epoch: 1, rejects: [], applyMs: 0 });
    await writing.close();
    const second = new SnapshotStore();
    await (await startLastGood({ file, keyFile, store: second, log })).close();
    assert.deepEqual([second.isReady, second.isStale], [true, true]);
    assert.notEqual(second.pin().findKey(sha256Of("sk-key-1")), undefined);
    await writeFile(file, "something else");
    await (await startLastGood({ file, keyFile, store: new SnapshotStore(), log })).close();
    assert.match(lines.at(-1) ?? "", /^warning: starting without the last good file/);
    await writeFile(keyFile, "no key");
    await assert.rejects(startLastGood({ file, keyFile, store: second, log }), { code: "last_good_key" });
  });

  it("follows the store, one write at a time with a rest between, and writes the last state when it closes", async () => {
    const store = new SnapshotStore();
    const timers = new ManualTimers();
    const failures: unknown[] = [];
    const follower = followStore({ store, file, key, timers, onFailure: (cause) => failures.push(cause) });
    const commit = (name: string) =>
      store.commit({ snapshot: snapshotOf([wireKey(name)], store.live), epoch: 1, rejects: [], applyMs: 0 });
    const written = async () => (await readLastGood(file, key)).snapshot?.keyCount;
    commit("one");
    await eventually("the first state is written", () => timers.waiting === 1);
    commit("two");
    commit("three");
    timers.advance(5_000);
    commit("four");
    await follower.close();
    assert.equal(await written(), 4);
    assert.deepEqual(failures, []);
  });

  it("never writes what was revoked, and rewrites at once after a revocation", async () => {
    const store = new SnapshotStore();
    const timers = new ManualTimers();
    const several = snapshotOf([fullKey(1), fullKey(2), wireChannel("main")]);
    const follower = followStore({ store, file, key, timers, onFailure: (cause) => assert.fail(String(cause)) });
    store.commit({ snapshot: several, epoch: 1, rejects: [], applyMs: 0 });
    store.revoke({ revision: several.revision + 1, keys: ["key/team-a/key-1"], credentials: [sha256Of("sk-key-2")] });
    await follower.close();
    const { snapshot: read } = await readLastGood(file, key);
    assert.equal(read?.findKey(sha256Of("sk-key-1")), undefined);
    assert.equal(read?.findKey(sha256Of("sk-key-2")), undefined);
    assert.notEqual(read?.channel("team-a/main"), undefined);
  });

  it("tells that a file cannot be written and tries again", async () => {
    const store = new SnapshotStore();
    const failures: unknown[] = [];
    const follower = followStore({
      store,
      file: join(folder, "missing", "last-good.bin"),
      key,
      restMs: 1,
      onFailure: (cause) => failures.push(cause),
    });
    store.commit({ snapshot, epoch: 1, rejects: [], applyMs: 0 });
    await eventually("tried again", () => failures.length >= 2);
    await follower.close();
  });
});

function flip(bytes: Buffer, index: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[index] = (flipped[index] ?? 0) ^ 1;
  return flipped;
}
