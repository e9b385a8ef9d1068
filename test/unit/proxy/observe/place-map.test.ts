import assert from "node:assert/strict";
import { PlaceMap } from "#proxy/observe/place-map";

describe("PlaceMap", () => {
  it("tells places apart by every part, whatever the parts hold", () => {
    const map = new PlaceMap<number>();
    map.set("a", "b c", "d", 1);
    map.set("a b", "c", "d", 2);
    map.set("a", "b", "c d", 3);
    assert.equal(map.get("a", "b c", "d"), 1);
    assert.equal(map.get("a b", "c", "d"), 2);
    assert.equal(map.get("a", "b", "c d"), 3);
    assert.equal(map.get("a", "b", "d"), undefined);
    assert.deepEqual([...map.values()].sort(), [1, 2, 3]);
  });

  it("counts each place once and begins anew when cleared", () => {
    const map = new PlaceMap<number>();
    map.set("", "", "x", 1);
    map.set("", "", "x", 2);
    assert.equal(map.size, 1);
    assert.equal(map.get("", "", "x"), 2);
    map.clear();
    assert.equal(map.size, 0);
    assert.equal(map.get("", "", "x"), undefined);
  });
});
