import assert from "node:assert/strict";
import { usualNames } from "#proxy/json/usual-names";

describe("usual names", () => {
  it("hold no two spellings of one name: who is usual is not asked what is meant", () => {
    const names = [...usualNames.names];
    assert.equal(new Set(names.map((name) => name.normalize("NFKC").toLowerCase())).size, names.length);
    for (const name of names) assert.match(name, /^[A-Za-z_]+$/);
  });
});
