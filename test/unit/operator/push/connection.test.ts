import assert from "node:assert/strict";
import { type ConnectionOptions, type LineSink, ProxyConnection } from "#operator/push/connection";
import { Fleet } from "#operator/push/fleet";
import { Publisher } from "#operator/push/publisher";
import { ResourceUids } from "#operator/push/versions/resource-uids";
import { SourceProgress } from "#operator/push/versions/source-progress";
import { MutableResourceSet } from "#operator/resources/mutable-resource-set";
import { encodeSums } from "#proxy/snapshot/digest";
import type { Acknowledgement, DownMessage, Hello } from "#proxy/snapshot/push/messages";
import { frameBytesMax, partBytesMax } from "#proxy/snapshot/push/messages";
import { parseDownMessage } from "#proxy/snapshot/push/parse-message";
import type { WireObject } from "#proxy/snapshot/types.gen";
import { ManualTimers } from "#test/support/manual-timers";
import { byId, eventually } from "#test/support/push-rig";
import { fullKey, sha256Of, wireKey } from "#test/support/wire-objects";

/** A peer that reads as fast or as slowly as the test says. */
class FakeSink implements LineSink {
  readonly lines: string[] = [];
  isEnded = false;
  isFull = false;
  #release = () => {};

  write(line: string): boolean {
    this.lines.push(line);
    return !this.isFull;
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  drain(): void {
    this.isFull = false;
    this.#release();
  }

  end(): void {
    this.isEnded = true;
  }

  get messages(): DownMessage[] {
    return this.lines.map((line) => parseDownMessage(line));
  }
}

const nothingHeld: Hello = {
  type: "hello",
  protocols: [1],
  build: "test",
  proxy: "proxy-1",
  capabilities: [],
  epoch: 0,
  revision: 0,
  digest: "",
  sums: "",
  rejects: [],
  versions: {},
};

describe("ProxyConnection", () => {
  let timers: ManualTimers;
  let publisher: Publisher;
  let fleet: Fleet;

  beforeEach(() => {
    timers = new ManualTimers();
    publisher = new Publisher({ timers });
    fleet = new Fleet(publisher);
  });

  function connect(hello: Partial<Hello> = {}, more: Partial<ConnectionOptions> = {}) {
    const sink = new FakeSink();
    const connection = new ProxyConnection(
      {
        id: `stream-${hello.proxy ?? "1"}`,
        operator: "operator",
        epoch: 1,
        hello: { ...nothingHeld, ...hello },
        sink,
        timers,
        heartbeatMs: 10_000,
        deadMs: 30_000,
        onChange: (changed) => fleet.update(changed),
        ...more,
      },
      publisher.snapshot,
    );
    fleet.join(connection);
    connection.start();
    return { sink, connection };
  }

  function acknowledge(connection: ProxyConnection, changes: Partial<Acknowledgement> = {}): void {
    const { revision, digest } = publisher.snapshot;
    connection.receive({
      type: "acknowledgement",
      revision,
      digest,
      applyMs: 1,
      rejects: [],
      rejectCount: 0,
      ...changes,
    });
  }

  function change(...objects: WireObject[]): void {
    publisher.publishChanges({ upserts: byId(...objects), removes: [] });
    timers.advance(100);
  }

  it("greets a proxy that holds nothing and sends everything as one transaction", () => {
    publisher.publish(byId(wireKey("one")));
    const { sink } = connect();
    const [welcome, transaction] = sink.messages;
    assert.ok(welcome?.type === "welcome" && welcome.sync === "full");
    assert.ok(transaction?.type === "transaction");
    assert.deepEqual(transaction.upserts, [{ id: "key/team-a/one", object: wireKey("one") }]);
    assert.equal(transaction.buckets.length, 256);
    assert.equal(transaction.digest, publisher.snapshot.digest);
  });

  it("sends nothing to a proxy that holds the same digest", () => {
    publisher.publish(byId(wireKey("one")));
    const { digest, sums } = publisher.snapshot;
    const { sink, connection } = connect({ digest, sums: encodeSums(sums) });
    assert.deepEqual(
      sink.messages.map(({ type }) => type),
      ["welcome"],
    );
    acknowledge(connection);
    assert.equal(fleet.acknowledgementOf("key/team-a/one").state, "Programmed");
  });

  it("tells once how far the source has come, with what carries it", () => {
    let seen: Record<string, string> = { ApiKey: "10" };
    const progress = new SourceProgress(() => ({ seen, complete: { ApiKey: "12" } }));
    progress.beginPass()();
    publisher.publish(byId(wireKey("one")));
    const { sink, connection } = connect({}, { progress });
    acknowledge(connection);
    seen = { ApiKey: "15", Channel: "14" };
    change(wireKey("two"));
    seen = { ApiKey: "16", Channel: "14" };
    change(wireKey("two", { state: "Suspended" }));
    const { digest, sums } = publisher.snapshot;
    const equal = connect({ proxy: "proxy-2", digest, sums: encodeSums(sums) }, { progress });
    const told = [...sink.messages, ...equal.sink.messages].map((message) => {
      return "versions" in message ? [message.type, message.versions] : [message.type];
    });
    assert.deepEqual(told, [
      ["welcome", {}],
      ["transaction", { ApiKey: "10" }],
      ["transaction", { ApiKey: "15", Channel: "14" }],
      ["revoke", { ApiKey: "16" }],
      ["welcome", { ApiKey: "16", Channel: "14" }],
    ]);
    const [welcome] = sink.messages;
    assert.deepEqual(welcome?.type === "welcome" && welcome.complete, { ApiKey: "12" });
  });

  it("names the uids of resources and those that were deleted, each once", () => {
    const resources = new MutableResourceSet();
    const uids = new ResourceUids(resources);
    const change = { kind: "ApiKey", namespace: "team-a", name: "one" } as const;
    const resource = (uid: string) =>
      ({ kind: "ApiKey", metadata: { namespace: "team-a", name: "one", labels: {}, generation: 1, uid } }) as const;
    resources.set(resource("uid-1"));
    uids.observe(change, 0);
    publisher.publish(byId(wireKey("one")));
    const { sink, connection } = connect({}, { uids });
    acknowledge(connection);
    resources.set(resource("uid-2"));
    uids.observe(change, 0);
    publisher.publishChanges({ upserts: byId(wireKey("one", { metadata: { a: "b" } })), removes: [] });
    timers.advance(100);
    const told = sink.messages.flatMap((message) =>
      message.type === "transaction" ? [[message.upserts.map(({ uid }) => uid), message.removedUids]] : [],
    );
    assert.deepEqual(told, [
      [["uid-1"], []],
      [["uid-2"], ["uid-1"]],
    ]);
  });

  it("sends only the buckets that differ to a proxy that comes back", () => {
    publisher.publish(
      new Map(Array.from({ length: 600 }, (_, index) => [`key/team-a/key-${index}`, wireKey(`key-${index}`)])),
    );
    const { digest, sums } = publisher.snapshot;
    change(wireKey("key-9", { metadata: { a: "b" } }));
    const { sink } = connect({ digest, sums: encodeSums(sums) });
    const transaction = sink.messages[1];
    assert.ok(transaction?.type === "transaction");
    assert.equal(transaction.buckets.length, 1);
    assert.ok(transaction.upserts.length < 20);
    assert.ok(transaction.upserts.some(({ id }) => id === "key/team-a/key-9"));
  });

  it("keeps one transaction unacknowledged and merges what changes meanwhile", () => {
    publisher.publish(new Map());
    const { sink, connection } = connect();
    for (let round = 0; round < 100; round += 1) {
      change(wireKey("one", { metadata: { round: `${round}` } }), wireKey(`key-${round % 3}`));
    }
    assert.equal(sink.messages.filter(({ type }) => type === "transaction").length, 1);
    assert.equal(connection.backlog, 4);
    acknowledge(connection, { revision: 1, digest: sinkDigest(sink) });
    const last = sink.messages.at(-1);
    assert.ok(last?.type === "transaction");
    assert.deepEqual(last.upserts.map(({ id }) => id).sort(), [
      "key/team-a/key-0",
      "key/team-a/key-1",
      "key/team-a/key-2",
      "key/team-a/one",
    ]);
    assert.equal(last.base, sinkDigest(sink));
    assert.equal(last.digest, publisher.snapshot.digest);
    assert.equal(connection.backlog, 0);
  });

  it("lets a revocation overtake the unacknowledged transaction", () => {
    publisher.publish(byId(wireKey("one"), wireKey("two")));
    const { sink } = connect();
    change(wireKey("one", { state: "Suspended" }), wireKey("two", { credentials: [] }));
    const last = sink.messages.at(-1);
    assert.deepEqual(last, {
      type: "revoke",
      revision: publisher.snapshot.revision,
      keys: ["key/team-a/one"],
      credentials: [sha256Of("sk-two")],
      versions: {},
    });
  });

  it("revokes many at once in frames that a proxy takes", () => {
    const names = Array.from({ length: 7_001 }, (_, index) => `${index}-${"n".repeat(245)}`);
    publisher.publish(byId(...names.map((name) => wireKey(name))));
    const { sink } = connect();
    const before = sink.lines.length;
    publisher.publishChanges({ upserts: [], removes: names.map((name) => `key/team-a/${name}`) });
    const lines = sink.lines.slice(before);
    for (const line of lines) assert.ok(Buffer.byteLength(line) <= frameBytesMax);
    const revoked = lines
      .map((line) => parseDownMessage(line))
      .flatMap((message) => {
        assert.ok(message.type === "revoke");
        return message.keys;
      });
    assert.deepEqual(revoked.sort(), names.map((name) => `key/team-a/${name}`).sort());
  });

  it("sends a revocation as the transaction itself when none is under way", () => {
    publisher.publish(byId(wireKey("one")));
    const { sink, connection } = connect();
    acknowledge(connection);
    change(wireKey("one", { state: "Suspended" }));
    assert.deepEqual(
      sink.messages.map(({ type }) => type),
      ["welcome", "transaction", "transaction"],
    );
  });

  it("cuts a large transaction into parts, each when the one before has drained, and lets a revocation in between", async () => {
    const objects = Array.from({ length: 2_000 }, (_, index) => fullKey(index));
    publisher.publish(byId(...objects));
    const sink = new FakeSink();
    sink.isFull = true;
    const connection = new ProxyConnection(
      {
        id: "s",
        operator: "o",
        epoch: 1,
        hello: nothingHeld,
        sink,
        timers,
        heartbeatMs: 10_000,
        deadMs: 30_000,
        onChange: () => {},
      },
      publisher.snapshot,
    );
    publisher.onPublish((publication) => connection.offer(publication));
    connection.start();
    assert.deepEqual(
      sink.messages.map(({ type }) => type),
      ["welcome", "begin"],
    );
    publisher.publishChanges({ upserts: [], removes: ["key/team-a/key-3"] });
    await eventually("the revocation is written", () => sink.messages.at(-1)?.type === "revoke");
    sink.drain();
    await eventually("the rest is written", () => sink.messages.at(-1)?.type === "commit");
    const types = sink.messages.map(({ type }) => type);
    const parts = types.filter((type) => type === "part").length;
    assert.ok(parts > 3);
    assert.deepEqual(sink.messages.at(-1), { type: "commit", revision: 1, parts });
    for (const line of sink.lines)
      assert.ok(Buffer.byteLength(line) <= partBytesMax + 4096 && partBytesMax < frameBytesMax);
  });

  it("ends a stream whose proxy is silent, and pings one that is not", () => {
    publisher.publish(new Map());
    const { sink, connection } = connect();
    timers.advance(10_000);
    assert.equal(sink.messages.at(-1)?.type, "ping");
    connection.receive({ type: "pong", at: 0 });
    timers.advance(20_000);
    assert.equal(connection.isOpen, true);
    timers.advance(20_000);
    assert.equal(connection.isOpen, false);
    assert.equal(sink.isEnded, true);
    assert.deepEqual(fleet.view(), []);
  });

  it("ends the stream of a proxy that acknowledges another digest or refuses", () => {
    publisher.publish(byId(wireKey("one")));
    const one = connect();
    acknowledge(one.connection, { digest: "0000000000000000" });
    assert.equal(one.connection.isOpen, false);
    const two = connect({ proxy: "proxy-2" });
    acknowledge(two.connection, { refused: { code: "wrong_digest", message: "the digest does not match" } });
    assert.equal(two.connection.isOpen, false);
    assert.equal(fleet.refusals, 1);
  });

  it("programs an object when every ready proxy has acknowledged it, and not before", () => {
    publisher.publish(byId(wireKey("one"), wireKey("two")));
    assert.equal(fleet.acknowledgementOf("key/team-a/one").state, "NoProxies");
    const first = connect();
    acknowledge(first.connection);
    assert.equal(fleet.acknowledgementOf("key/team-a/one").state, "Programmed");
    const second = connect({ proxy: "proxy-2" });
    assert.equal(fleet.acknowledgementOf("key/team-a/one").state, "Programmed", "a proxy not ready does not count");
    acknowledge(second.connection);
    change(wireKey("one", { metadata: { a: "b" } }));
    assert.equal(fleet.acknowledgementOf("key/team-a/one").state, "Pending");
    assert.equal(fleet.acknowledgementOf("key/team-a/two").state, "Programmed");
    acknowledge(first.connection);
    assert.deepEqual(fleet.acknowledgementOf("key/team-a/one"), {
      state: "Pending",
      readyProxies: 2,
      acknowledgedBy: 1,
      rejects: [],
      missing: ["proxy-2"],
    });
    acknowledge(second.connection, {
      rejects: [{ id: "key/team-a/one", severity: "denied", code: "invalid_object", message: "/metadata" }],
      rejectCount: 1,
    });
    assert.deepEqual(fleet.acknowledgementOf("key/team-a/one").rejects, [{ by: "proxy-2", why: "/metadata" }]);
    assert.equal(fleet.acknowledgementOf("key/team-a/one").state, "Rejected");
  });

  it("says neither of a change that still waits for company nor of one it refused that it is programmed", () => {
    publisher.publish(byId(wireKey("one"), wireKey("two")));
    acknowledge(connect().connection);
    publisher.publishChanges({ upserts: byId(wireKey("one", { metadata: { a: "b" } })), removes: [] });
    assert.equal(fleet.acknowledgementOf("key/team-a/one").state, "Pending");
    assert.equal(fleet.acknowledgementOf("key/team-a/two").state, "Programmed");
    publisher.publishChanges({ upserts: byId(wireKey("two", { cidrsAllow: ["all"] })), removes: [] });
    const { state, rejects } = fleet.acknowledgementOf("key/team-a/two");
    assert.equal(state, "Rejected");
    assert.equal(rejects[0]?.by, "the operator");
    assert.match(rejects[0]?.why ?? "", /^\/cidrsAllow\/0 /);
  });

  it("replaces the old stream of a proxy that opens a new one", () => {
    publisher.publish(new Map());
    const old = connect();
    const sinkOfNew = new FakeSink();
    const renewed = new ProxyConnection(
      {
        id: "new",
        operator: "o",
        epoch: 1,
        hello: nothingHeld,
        sink: sinkOfNew,
        timers,
        heartbeatMs: 10_000,
        deadMs: 30_000,
        onChange: () => {},
      },
      publisher.snapshot,
    );
    fleet.join(renewed);
    assert.equal(old.connection.isOpen, false);
    assert.equal(fleet.view().length, 1);
  });
});

function sinkDigest(sink: FakeSink): string {
  const first = sink.messages.find((message) => message.type === "transaction");
  return first?.type === "transaction" ? first.digest : "";
}
