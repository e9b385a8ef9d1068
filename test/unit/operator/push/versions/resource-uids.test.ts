import assert from "node:assert/strict";
import { ResourceUids } from "#operator/push/versions/resource-uids";
import { MutableResourceSet } from "#operator/resources/mutable-resource-set";
import type { AnyResource, ResourceChange } from "#operator/resources/resource";

const hourMs = 3_600_000;

describe("ResourceUids", () => {
  const change: ResourceChange = { kind: "ApiKey", namespace: "team-a", name: "a" };
  let resources: MutableResourceSet;
  let uids: ResourceUids;
  let returns: number;

  beforeEach(() => {
    resources = new MutableResourceSet();
    uids = new ResourceUids(resources);
    returns = 0;
    uids.onReturn(() => {
      returns += 1;
    });
  });

  const put = (uid: string, now: number, name = "a") => {
    const metadata = { namespace: "team-a", name, uid };
    resources.set({ kind: "ApiKey", metadata, spec: {} } as unknown as AnyResource);
    uids.observe({ ...change, name }, now);
  };
  const remove = (now: number, name = "a") => {
    resources.delete({ ...change, name });
    uids.observe({ ...change, name }, now);
  };

  it("tells that a uid came back which was removed, once", () => {
    put("one", 0);
    remove(1);
    put("one", 2);
    assert.equal(returns, 1);
    uids.observe(change, 3);
    assert.equal(returns, 1);
    assert.equal(uids.uidOf("key/team-a/a"), "one");
    assert.deepEqual(uids.resourceOf("key/team-a/a"), { ...change, uid: "one" });
    assert.equal(uids.resourceOf("key/team-a/b"), undefined);
  });

  it("tells nothing of an object that was made anew under its name, be it in one step", () => {
    put("one", 0);
    remove(1);
    put("two", 2);
    put("three", 3);
    assert.equal(returns, 0);
    assert.deepEqual(uids.removedSince(0), ["two", "one"]);
  });

  it("knows an object that was replaced and comes back", () => {
    put("one", 0);
    put("two", 1);
    put("one", 2);
    assert.equal(returns, 1);
  });

  it("names nothing as removed that has come back", () => {
    put("one", 0);
    remove(1);
    put("two", 2);
    remove(3);
    assert.deepEqual(uids.removedSince(0), ["two", "one"]);
    put("one", 4);
    assert.deepEqual(uids.removedSince(0), ["two"]);
  });

  it("begins a new epoch without removals, as what they were of may be there again", () => {
    put("one", 0);
    remove(1);
    uids.beginEpoch();
    assert.deepEqual(uids.removedSince(0), []);
    put("one", 2);
    assert.equal(returns, 0, "the epoch has begun already");
    remove(3);
    assert.deepEqual(uids.removedSince(0), ["one"]);
  });

  it("takes nothing that came back for removed again when it forgets the oldest", () => {
    for (const name of ["a", "old", "last"]) put(`uid-${name}`, 0, name);
    remove(0, "old");
    remove(1.5 * hourMs);
    put("uid-a", 1.6 * hourMs);
    remove(2.1 * hourMs, "last");
    assert.deepEqual(uids.removedSince(0), ["uid-last"]);
    assert.equal(returns, 1);
  });

  it("forgets as the proxies do", () => {
    put("one", 0);
    remove(1);
    put("two", 3 * hourMs);
    remove(3 * hourMs);
    put("one", 3 * hourMs);
    assert.equal(returns, 0);
  });
});
