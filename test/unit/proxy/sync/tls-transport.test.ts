import assert from "node:assert/strict";
import { pick } from "#proxy/sync/tls-transport";

describe("pick()", () => {
  for (const row of [
    { name: "takes the only address, also again", addresses: ["a"], last: "a", random: 0.9, want: "a" },
    { name: "takes another than the last", addresses: ["a", "b"], last: "a", random: 0, want: "b" },
    { name: "takes any at first", addresses: ["a", "b", "c"], last: undefined, random: 0.99, want: "c" },
    { name: "takes among the others at random", addresses: ["a", "b", "c"], last: "b", random: 0.6, want: "c" },
  ]) {
    it(row.name, () =>
      assert.equal(
        pick(row.addresses, row.last, () => row.random),
        row.want,
      ),
    );
  }

  it("fails where the name has no address", () => {
    assert.throws(() => pick([], "a", Math.random), /no address/);
  });
});
