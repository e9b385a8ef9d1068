import assert from "node:assert/strict";
import type { ExpectedProxies } from "#operator/kubernetes/installation/expected-proxies";
import { type ConnectionOptions, ProxyConnection } from "#operator/push/connection";
import { Fleet } from "#operator/push/fleet";
import { Publisher } from "#operator/push/publisher";
import { PeerSummaries } from "#operator/push/replicas/peer-summaries";
import { emptySums, encodeSums } from "#proxy/snapshot/digest";
import { capabilityNames } from "#proxy/snapshot/push/capabilities";
import { ManualTimers } from "#test/support/manual-timers";
import { byId } from "#test/support/push-rig";
import { wireKey } from "#test/support/wire-objects";

const graceMs = 30_000;
const id = "key/team-a/one";
const former = wireKey("one");
const limited = wireKey("one", { maxInFlight: 4 });
const lacked = capabilityNames;

describe("Fleet, with proxies that are too old", () => {
  let timers: ManualTimers;
  let publisher: Publisher;
  let peers: PeerSummaries;
  let ready: Set<string> | undefined;
  let present: Set<string> | undefined;
  let tellExpected: () => void;
  let fleet: Fleet;
  let streams: number;

  beforeEach(() => {
    timers = new ManualTimers();
    publisher = new Publisher({ timers });
    peers = new PeerSummaries(graceMs, timers);
    ready = present = undefined;
    streams = 0;
    tellExpected = () => {};
    const expected: ExpectedProxies = {
      get ready() {
        return ready;
      },
      get present() {
        return present;
      },
      onChange(listener) {
        tellExpected = listener;
        return () => {};
      },
    };
    fleet = new Fleet(publisher, { timers, peers, expected, graceMs, stabiliseMs: 15_000 });
    publisher.publish(byId(former));
  });

  function connect(proxy: string, isOld = false): { readonly connection: ProxyConnection; readonly lines: string[] } {
    const lines: string[] = [];
    streams += 1;
    const options: ConnectionOptions = {
      id: `stream-${streams}`,
      operator: "operator-a",
      epoch: 1,
      hello: {
        type: "hello",
        protocols: [1],
        build: "test",
        proxy,
        capabilities: isOld ? [] : capabilityNames,
        epoch: 0,
        revision: 0,
        digest: "",
        sums: encodeSums(emptySums()),
        rejects: [],
        versions: {},
      },
      sink: { write: (line) => lines.push(line) > 0, drained: () => Promise.resolve(), end() {} },
      timers,
      heartbeatMs: 10_000,
      deadMs: 3_600_000,
      onChange: (changed) => fleet.update(changed),
    };
    const connection = new ProxyConnection(options, publisher.snapshot);
    fleet.join(connection);
    connection.start();
    return { connection, lines };
  }

  function edit(...keys: ReturnType<typeof wireKey>[]): void {
    publisher.publishChanges({ upserts: byId(...keys), removes: [] });
    timers.advance(1_000);
  }
  const live = () => publisher.snapshot.held(id)?.object;
  const state = () => fleet.acknowledgementOf(id);

  it("lets nothing go out when an old proxy opens another stream, and greets it with what is out", () => {
    connect("young");
    connect("old", true);
    edit(limited);
    const { lines } = connect("old", true);
    assert.deepEqual(live(), former);
    assert.match(lines[0] ?? "", new RegExp(`"digest":"${publisher.snapshot.digest}"`));
    assert.deepEqual([...fleet.lacked], lacked);
  });

  it("greets an upgraded proxy that replaces its own old stream with what its coming let out", () => {
    connect("young");
    connect("one", true);
    edit(limited);
    const { lines } = connect("one");
    assert.deepEqual(live(), limited);
    assert.match(lines[0] ?? "", new RegExp(`"digest":"${publisher.snapshot.digest}"`));
  });

  it("waits for an old proxy that was cut off, though others are connected, and no longer than its grace", () => {
    connect("young");
    const { connection } = connect("old", true);
    edit(limited);
    connection.close("cut");
    timers.advance(graceMs / 2);
    assert.deepEqual([live(), ...fleet.lacked], [former, ...lacked]);
    const back = connect("old", true);
    timers.advance(graceMs);
    assert.deepEqual(live(), former);
    back.connection.close("gone");
    timers.advance(graceMs + 1);
    assert.deepEqual(live(), limited);
  });

  it("does not wait for an old proxy whose pod is gone", () => {
    ready = present = new Set(["young", "old"]);
    connect("young");
    const { connection } = connect("old", true);
    edit(limited);
    connection.close("cut");
    assert.deepEqual(live(), former);
    ready = new Set(["young"]);
    tellExpected();
    assert.deepEqual(live(), former, "its container may be starting again");
    present = ready;
    tellExpected();
    assert.deepEqual(live(), limited);
  });

  it("holds back what the leader names also while nobody is connected here", () => {
    fleet.setLackedElsewhere(lacked);
    edit(limited);
    assert.deepEqual(live(), former);
    fleet.setLackedElsewhere([]);
    edit(limited);
    assert.deepEqual(live(), former, "whoever comes first may be the old one");
    connect("young");
    assert.deepEqual(live(), limited);
  });

  for (const { name, before, inForce } of [
    { name: "an edit", before: [former], inForce: "before" },
    { name: "a new key", before: [], inForce: "nowhere" },
  ]) {
    it(`never calls ${name} programmed that is held back on the word of the leader before`, () => {
      publisher.publish(byId(...before));
      ready = new Set(["young"]);
      fleet.setLackedElsewhere(lacked);
      const { connection } = connect("young");
      edit(limited);
      fleet.stabilise();
      const { snapshot } = publisher;
      connection.receive({
        type: "acknowledgement",
        revision: snapshot.revision,
        digest: snapshot.digest,
        applyMs: 0,
        rejects: [],
        rejectCount: 0,
      });
      assert.deepEqual([state().state, state().tooOld?.inForce], ["ProxyTooOld", inForce]);
      timers.advance(15_000);
      assert.deepEqual(live(), limited);
    });
  }
});
