/** A proxy that refuses more objects than it may name: nobody knows of those that it does not. */
import assert from "node:assert/strict";
import { ProxyConnection } from "#operator/push/connection";
import { Fleet } from "#operator/push/fleet";
import { Publisher } from "#operator/push/publisher";
import { PeerSummaries } from "#operator/push/replicas/peer-summaries";
import { readSummary, writeSummary } from "#operator/push/replicas/summary";
import type { Acknowledgement } from "#proxy/snapshot/push/messages";
import { ManualTimers } from "#test/support/manual-timers";
import { byId } from "#test/support/push-rig";
import { wireKey } from "#test/support/wire-objects";

describe("Fleet, of a proxy that refuses more objects than it names", () => {
  const timers = new ManualTimers();
  const publisher = new Publisher({ timers });
  const fleet = new Fleet(publisher, { timers });
  const hello = {
    type: "hello",
    protocols: [1],
    proxy: "proxy-1",
    build: "1",
    zone: "",
    capabilities: ["key.maxInFlight"],
    epoch: 0,
    revision: 0,
    digest: "",
    sums: "",
    rejects: [],
    versions: {},
  } as const;
  const sink = { write: () => true, drained: async () => undefined, end: () => undefined };
  const stateOf = (view: Fleet, name: string) => view.acknowledgementOf(`key/team-a/${name}`).state;

  it("calls none of the others programmed, here and where a follower tells of it", () => {
    publisher.publish(byId(wireKey("one"), wireKey("two")));
    const options = {
      id: "stream",
      operator: "operator",
      epoch: 1,
      hello,
      sink,
      timers,
      heartbeatMs: 1e4,
      deadMs: 3e4,
    };
    const connection = new ProxyConnection({ ...options, onChange: (it) => fleet.update(it) }, publisher.snapshot);
    fleet.join(connection);
    connection.start();
    const acknowledge = (rejects: Acknowledgement["rejects"], rejectCount: number) => {
      const { revision, digest } = publisher.snapshot;
      connection.receive({ type: "acknowledgement", revision, digest, applyMs: 1, rejects, rejectCount });
    };
    const refused = { id: "key/team-a/one", severity: "denied", code: "invalid_object", message: "/state" } as const;
    acknowledge([refused], 2);

    const peers = new PeerSummaries(30_000, timers);
    peers.accept("follower", readSummary(JSON.parse(writeSummary(fleet.summary("run-1")))));
    const leader = new Fleet(publisher, { peers, timers });
    for (const view of [fleet, leader]) {
      assert.equal(stateOf(view, "one"), "Rejected");
      assert.equal(stateOf(view, "two"), "Pending");
      const { missing } = view.acknowledgementOf("key/team-a/two");
      assert.deepEqual(missing, ["proxy-1 (which refuses more objects than it names)"]);
    }

    publisher.publishChanges({ upserts: byId(wireKey("three")), removes: [] });
    timers.advance(100);
    acknowledge([refused], 1);
    assert.equal(stateOf(fleet, "one"), "Rejected");
    assert.equal(stateOf(fleet, "two"), "Programmed");
  });
});
