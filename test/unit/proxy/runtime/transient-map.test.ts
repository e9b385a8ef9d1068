import assert from "node:assert/strict";
import { TransientMap } from "#proxy/runtime/transient-map";

describe("TransientMap", () => {
  it("holds what was added and not deleted, however often it moves on to a new table", () => {
    const map = new TransientMap<string, number>();
    for (let index = 0; index < 10_000; index += 1) {
      map.set(`key ${index}`, index);
      if (index >= 10) assert.equal(map.delete(`key ${index - 10}`), true);
    }
    assert.deepEqual([...map.values()], [9_990, 9_991, 9_992, 9_993, 9_994, 9_995, 9_996, 9_997, 9_998, 9_999]);
    assert.equal(map.size, 10);
    assert.equal(map.get("key 9990"), 9_990);
    assert.equal(map.get("key 0"), undefined);
    assert.equal(map.delete("key 0"), false);
  });

  it("keeps the order in which entries were added; one that is set again keeps its place", () => {
    const map = new TransientMap<string, number>();
    for (const name of ["first", "second", "third"]) map.set(name, 1);
    for (let index = 0; index < 1_000; index += 1) map.set("second", index);
    assert.deepEqual([...map.keys()], ["first", "second", "third"]);
  });

  it("lets entries be deleted while it is walked", () => {
    const map = new TransientMap<number, string>();
    for (let index = 0; index < 1_000; index += 1) map.set(index, "value");
    for (const index of map.keys()) map.delete(index);
    assert.equal(map.size, 0);
  });
});
