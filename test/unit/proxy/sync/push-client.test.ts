import assert from "node:assert/strict";
import { emptySnapshot, type IndexedSnapshot } from "#proxy/snapshot/build-index";
import type { DownMessage, Hello, UpMessage, Welcome } from "#proxy/snapshot/push/messages";
import { PushClient, type PushClientEvent } from "#proxy/sync/push-client";
import type { PushStream, PushTransport } from "#proxy/sync/push-transport";
import { SnapshotStore } from "#proxy/sync/snapshot-store";
import { ManualTimers } from "#test/support/manual-timers";
import { eventually } from "#test/support/push-rig";
import { linesBetween, snapshotOf } from "#test/support/transactions";
import { sha256Of, wireKey } from "#test/support/wire-objects";

/** An operator whose lines the test writes. */
class ScriptedOperator implements PushTransport {
  readonly hellos: Hello[] = [];
  readonly received: UpMessage[] = [];
  isDown = false;
  #lines: string[] = [];
  #isEnded = false;
  #wake = () => {};

  async open(hello: Hello): Promise<PushStream> {
    this.hellos.push(hello);
    if (this.isDown) throw new Error("connection refused");
    this.#lines = [];
    this.#isEnded = false;
    return {
      lines: this.#read(),
      send: async (_stream, message) => void this.received.push(message),
      close: () => this.end(),
    };
  }

  write(...lines: readonly (string | DownMessage)[]): void {
    this.#lines.push(...lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))));
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *#read(): AsyncGenerator<string> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) yield line;
      else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

function welcome(snapshot: IndexedSnapshot, changes: Partial<Welcome> = {}): Welcome {
  const { revision, digest } = snapshot;
  return {
    type: "welcome",
    protocol: 1,
    operator: "operator",
    stream: "s",
    epoch: 1,
    revision,
    digest,
    sync: "full",
    complete: {},
    versions: {},
    ...changes,
  };
}

const one = snapshotOf([wireKey("one")]);
const suspended = snapshotOf([wireKey("one", { state: "Suspended" })], one);

describe("PushClient", () => {
  let operator: ScriptedOperator;
  let timers: ManualTimers;
  let store: SnapshotStore;
  let client: PushClient;
  let events: PushClientEvent[];

  beforeEach(() => {
    operator = new ScriptedOperator();
    timers = new ManualTimers();
    store = new SnapshotStore();
    events = [];
    client = new PushClient({
      transport: operator,
      store,
      proxy: "proxy-1",
      build: "test",
      heartbeatMs: 10_000,
      deadMs: 30_000,
      timers,
      random: () => 0.5,
      onEvent: (event) => events.push(event),
    });
    client.start();
  });
  afterEach(() => client.close());

  async function synchronise(): Promise<void> {
    await eventually("hello", () => operator.hellos.length === 1);
    operator.write(welcome(one), ...linesBetween(emptySnapshot, one));
    await eventually("ready", () => store.isReady);
  }

  async function reconnect(): Promise<void> {
    const before = operator.hellos.length;
    await eventually("disconnected", () => events.at(-1)?.type === "disconnected" && timers.waiting > 0);
    timers.advance(5_000);
    await eventually("another hello", () => operator.hellos.length === before + 1);
  }

  it("is not ready before the first snapshot and acknowledges it with its digest", async () => {
    assert.equal(store.isReady, false);
    await synchronise();
    assert.equal(operator.hellos[0]?.sums, "");
    const [acknowledgement] = operator.received;
    assert.ok(acknowledgement?.type === "acknowledgement");
    assert.equal(acknowledgement.digest, one.digest);
    assert.equal(acknowledgement.revision, 1);
  });

  it("names what it holds when it comes back, and serves on in between", async () => {
    await synchronise();
    operator.end();
    await reconnect();
    assert.equal(operator.hellos[1]?.digest, one.digest);
    assert.notEqual(operator.hellos[1]?.sums, "");
    assert.notEqual(store.pin().findKey(sha256Of("sk-one")), undefined);
    assert.equal(store.isReady, true);
  });

  it("confirms to an operator that holds the same", async () => {
    await synchronise();
    operator.end();
    await reconnect();
    operator.write(welcome(one, { operator: "another", revision: 70, sync: "none" }));
    await eventually("acknowledged", () => operator.received.length === 2);
    assert.equal(store.live.revision, 70);
  });

  it("asks for everything after a transaction that it refused, and says why", async () => {
    await synchronise();
    operator.write(linesBetween(emptySnapshot, suspended)[0] ?? "");
    await reconnect();
    const refusal = operator.received.at(-1);
    assert.ok(refusal?.type === "acknowledgement" && refusal.refused?.code === "wrong_base");
    assert.equal(operator.hellos[1]?.sums, "");
    assert.deepEqual(events.filter(({ type }) => type === "refused").length, 1);
    const buckets = Array.from({ length: 256 }, (_, index) => index);
    const [line = ""] = linesBetween(emptySnapshot, suspended);
    operator.write(welcome(suspended), JSON.stringify({ ...JSON.parse(line), base: one.digest, buckets }));
    await eventually("in step again", () => store.live.digest === suspended.digest);
  });

  it("refuses lines that are damaged and keeps what it has", async () => {
    await synchronise();
    operator.write("{");
    await reconnect();
    assert.equal(store.live.digest, one.digest);
    assert.equal(operator.hellos[1]?.sums, "");
  });

  it("takes a revoked key out at once, through a transaction from before, until the one that contains it", async () => {
    await synchronise();
    const later = snapshotOf([wireKey("two")], one);
    operator.write({ type: "revoke", revision: 3, keys: ["key/team-a/one"], credentials: [], versions: {} });
    await eventually("revoked", () => store.pin().findKey(sha256Of("sk-one")) === undefined);
    operator.write(...linesBetween(one, later));
    await eventually("applied", () => store.live.revision === 2);
    assert.equal(
      store.pin().findKey(sha256Of("sk-one")),
      undefined,
      "a transaction from before does not bring it back",
    );
    const containing = snapshotOf([wireKey("one", { metadata: { a: "b" } })], later);
    operator.write(...linesBetween(later, containing));
    await eventually("applied", () => store.live.revision === 3);
    assert.notEqual(store.pin().findKey(sha256Of("sk-one")), undefined);
  });

  describe("no time travel", () => {
    const deleted = snapshotOf([], snapshotOf([]));

    it("tells the next operator what it has seen, and keeps the highest of each watch", async () => {
      await eventually("hello", () => operator.hellos.length === 1);
      assert.deepEqual(operator.hellos[0]?.versions, {});
      operator.write(welcome(one, { versions: { ApiKey: "99", Channel: "7" } }));
      operator.write(...linesBetween(emptySnapshot, one, { versions: { ApiKey: "100" } }));
      operator.write(...linesBetween(one, suspended, { versions: { ApiKey: "98" } }));
      await eventually("applied", () => store.live.revision === suspended.revision);
      operator.write({ type: "revoke", revision: 9, keys: [], credentials: [], versions: { Channel: "8" } });
      operator.write({ type: "ping", at: 1 });
      await eventually("pong", () => operator.received.at(-1)?.type === "pong");
      operator.end();
      await reconnect();
      assert.deepEqual(operator.hellos[1]?.versions, { ApiKey: "100", Channel: "8" });
      assert.equal(operator.hellos[1]?.epoch, 1);
    });

    for (const row of [
      { name: "has seen less of a watch", changes: { complete: { ApiKey: "99" } } },
      { name: "is of an older epoch", changes: { epoch: 0, complete: { ApiKey: "200" } } },
    ]) {
      it(`takes nothing from an operator that ${row.name}, and serves on`, async () => {
        await eventually("hello", () => operator.hellos.length === 1);
        operator.write(welcome(one), ...linesBetween(emptySnapshot, one, { versions: { ApiKey: "100" } }));
        await eventually("ready", () => store.isReady);
        operator.end();
        await reconnect();
        operator.write(welcome(deleted, { operator: "another", ...row.changes }), ...linesBetween(one, deleted));
        await eventually("refused", () => events.some((event) => event.type === "refused"));
        const refusal = events.find((event) => event.type === "refused");
        assert.equal(refusal?.code, "stale_operator");
        assert.equal(store.live.digest, one.digest);
      });
    }

    it("forgets what it has seen when the epoch is raised, and takes an older source", async () => {
      await eventually("hello", () => operator.hellos.length === 1);
      const told = { versions: { ApiKey: "100" }, removedUids: ["uid-1"] };
      operator.write(welcome(one), ...linesBetween(emptySnapshot, one, told));
      await eventually("ready", () => store.isReady);
      operator.end();
      await reconnect();
      const restored = snapshotOf([wireKey("two")], one);
      const lines = linesBetween(one, restored, { epoch: 2, versions: { ApiKey: "50" }, uidOf: () => "uid-1" });
      operator.write(welcome(restored, { operator: "another", epoch: 2, complete: { ApiKey: "50" } }), ...lines);
      await eventually("applied", () => store.pin().findKey(sha256Of("sk-two")) !== undefined);
      assert.deepEqual(store.versions, { ApiKey: "50" });
    });

    it("goes elsewhere when an operator says so instead of welcoming", async () => {
      await eventually("hello", () => operator.hellos.length === 1);
      operator.write({ type: "goaway", withinMs: 2_000, reason: "behind" });
      await eventually("disconnected", () => events.at(-1)?.type === "disconnected");
      const event = events.at(-1);
      assert.ok(event?.type === "disconnected" && event.retryInMs === 1_000);
      assert.ok(!events.some(({ type }) => type === "refused"));
      await reconnect();
    });

    it("keeps a revocation that an operator without versions does not contain, until the key changes", async () => {
      await synchronise();
      operator.write({ type: "revoke", revision: 2, keys: ["key/team-a/one"], credentials: [], versions: {} });
      await eventually("revoked", () => store.pin().findKey(sha256Of("sk-one")) === undefined);
      operator.end();
      await reconnect();
      operator.write(welcome(one, { operator: "another", sync: "none" }));
      await eventually("confirmed", () => operator.received.at(-1)?.type === "acknowledgement" && client.isConnected);
      assert.equal(store.pin().findKey(sha256Of("sk-one")), undefined, "it lags behind the one that revoked");
      const changed = snapshotOf([wireKey("one", { metadata: { a: "b" } })], one);
      operator.write(...linesBetween(one, changed));
      await eventually("applied", () => store.pin().findKey(sha256Of("sk-one")) !== undefined);
    });

    it("ends a revocation by the first word of an operator that has seen as much", async () => {
      await synchronise();
      const versions = { ApiKey: "101" };
      operator.write({ type: "revoke", revision: 2, keys: [], credentials: [sha256Of("sk-one")], versions });
      await eventually("revoked", () => store.pin().findKey(sha256Of("sk-one")) === undefined);
      operator.end();
      await reconnect();
      assert.deepEqual(operator.hellos[1]?.versions, versions);
      operator.write(welcome(one, { operator: "another", sync: "none", complete: { ApiKey: "102" } }));
      await eventually("live", () => store.pin().findKey(sha256Of("sk-one")) !== undefined);
    });

    it("denies for an hour what was deleted, whoever sends it", async () => {
      await synchronise();
      operator.write(...linesBetween(one, deleted, { removedUids: ["uid-1"] }));
      await eventually("deleted", () => store.pin().findKey(sha256Of("sk-one")) === undefined);
      const back = snapshotOf([wireKey("one")], deleted);
      operator.write(...linesBetween(deleted, back, { uidOf: () => "uid-1" }));
      await eventually("replied", () => store.live.revision === back.revision);
      assert.equal(store.pin().findKey(sha256Of("sk-one")), undefined);
      const acknowledgement = operator.received.at(-1);
      assert.ok(acknowledgement?.type === "acknowledgement");
      assert.deepEqual(
        acknowledgement.rejects.map(({ id, severity, code }) => ({ id, severity, code })),
        [{ id: "key/team-a/one", severity: "denied", code: "removed" }],
      );
      operator.end();
      await reconnect();
      assert.equal(operator.hellos[1]?.sums, "", "it has to be sent again once it may live");
      const everything = linesBetween(emptySnapshot, back, { epoch: 2, base: back.digest, uidOf: () => "uid-1" });
      operator.write(welcome(back, { operator: "another", epoch: 2 }), ...everything);
      await eventually("live in the new epoch", () => store.pin().findKey(sha256Of("sk-one")) !== undefined);
      assert.deepEqual(store.rejects, []);
    });

    it("forgets a deletion after an hour", async () => {
      await synchronise();
      operator.write(...linesBetween(one, deleted, { removedUids: ["uid-1"] }));
      await eventually("deleted", () => store.pin().findKey(sha256Of("sk-one")) === undefined);
      assert.equal(store.tombstones.has("uid-1", timers.now() + 3_599_999), true);
      assert.equal(store.tombstones.has("uid-1", timers.now() + 3_600_000), false);
    });

    it("takes a key that was deleted and made anew", async () => {
      await synchronise();
      operator.write(...linesBetween(one, deleted, { removedUids: ["uid-1"] }));
      const anew = snapshotOf([wireKey("one")], deleted);
      operator.write(...linesBetween(deleted, anew, { uidOf: () => "uid-2" }));
      await eventually("live", () => store.live.revision === anew.revision);
      assert.notEqual(store.pin().findKey(sha256Of("sk-one")), undefined);
    });
  });

  it("replies to pings and closes a stream that went silent", async () => {
    await synchronise();
    operator.write({ type: "ping", at: 1 });
    await eventually("pong", () => operator.received.at(-1)?.type === "pong");
    for (let beats = 0; beats < 3; beats += 1) timers.advance(10_000);
    await eventually("disconnected", () => events.at(-1)?.type === "disconnected");
    assert.ok(client.silentForMs >= 30_000);
    assert.equal(store.isReady, true);
  });

  it("waits longer after each failure, at most five seconds, and jitters", async () => {
    operator.isDown = true;
    await eventually("hello", () => operator.hellos.length === 1);
    operator.end();
    for (let attempt = 0; attempt < 9; attempt += 1) await reconnect();
    const delays = events.flatMap((event) => (event.type === "disconnected" ? [event.retryInMs] : []));
    assert.deepEqual(delays.slice(0, 9), [38, 75, 150, 300, 600, 1200, 2400, 3750, 3750]);
  });

  it("comes back within the time that a goaway names", async () => {
    await synchronise();
    operator.write({ type: "goaway", withinMs: 1_000, reason: "restart" });
    await eventually("disconnected", () => events.at(-1)?.type === "disconnected");
    const last = events.at(-1);
    assert.ok(last?.type === "disconnected" && last.retryInMs === 500);
  });

  it("refuses an operator that does not begin with welcome, or with a version it does not speak", async () => {
    await eventually("hello", () => operator.hellos.length === 1);
    operator.write({ type: "ping", at: 1 });
    await reconnect();
    operator.write(welcome(one, { protocol: 2 }));
    await eventually("refused twice", () => events.filter(({ type }) => type === "refused").length === 2);
    assert.equal(store.isReady, false);
  });
});
