import assert from "node:assert/strict";
import { BodiesUnderWay } from "#proxy/http/bodies-under-way";

const eve = { namespace: "default", name: "eve" };
const other = { namespace: "default", name: "other" };

describe("BodiesUnderWay", () => {
  it("lets one key hold a quarter of all places, and the others go on", async () => {
    const bodies = new BodiesUnderWay(8);
    const first = Promise.withResolvers<string>();
    const second = Promise.withResolvers<string>();
    const waiting = [first, second].map(({ promise }) => {
      bodies.checkRoom(eve);
      return bodies.waitFor(eve, promise);
    });
    assert.equal(bodies.count, 2);
    assert.throws(() => bodies.checkRoom(eve), { code: "overloaded" });
    bodies.checkRoom(other);
    first.resolve("whole");
    assert.equal(await waiting[0], "whole");
    bodies.checkRoom(eve);
    second.reject(new Error("refused"));
    await assert.rejects(waiting[1] ?? Promise.resolve(), /refused/);
    assert.equal(bodies.count, 0);
  });

  it("leaves each key one, however few there are", () => {
    const bodies = new BodiesUnderWay(1);
    bodies.checkRoom(eve);
    const never = new Promise<void>(() => undefined);
    bodies.waitFor(eve, never);
    assert.throws(() => bodies.checkRoom(eve), { code: "overloaded" });
    bodies.checkRoom(other);
  });
});
