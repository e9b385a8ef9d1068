import assert from "node:assert/strict";
import { refusal } from "#test/support/scan-json";

describe("scanJsonObject, limits", () => {
  for (const levels of [64, 65, 1_000, 5_000, 1_000_000]) {
    const verdict = levels > 64 ? "refuses" : "accepts";
    it(`${verdict} ${levels} levels, of arrays and of objects`, () => {
      const arrays = `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
      const objects = `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
      for (const text of [arrays, objects]) {
        if (levels > 64) assert.match(refusal(text) ?? "", /more than 64 levels/);
        else assert.equal(refusal(text), undefined);
      }
    });
  }

  it("counts keys of all objects together", () => {
    const keys = (count: number): string => `{"a":[${Array.from({ length: count - 1 }, () => '{"b":1}').join(",")}]}`;
    assert.equal(refusal(keys(50_000)), undefined);
    assert.match(refusal(keys(50_001)) ?? "", /more than 50000 keys/);
  });

  it("bounds the members of the object it keeps", () => {
    const members = (count: number): string =>
      `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;
    assert.equal(refusal(members(4_096)), undefined);
    assert.match(refusal(members(4_097)) ?? "", /more than 4096 members/);
  });

  it("judges the costliest megabytes in a few milliseconds each", () => {
    const megabytes = 8;
    const fill = (text: string): string => text.repeat(Math.floor((megabytes << 20) / text.length));
    const costly = ["0,", "[],", '"",', '{"b":1},'].map((item) => `{"a":[${fill(item)}0]}`);
    costly.push(...["\\n", "\\nx", "\\u00e9", "\\ud83d\\ude00"].map((escaped) => `{"a":"${fill(escaped)}"}`));
    costly.push(`{${fill(" ")}}`, `{"a":${fill("1")}}`, `{"a":"${fill("é")}`, `${fill("[")}`, `{"a":${fill("[")}`);
    for (const text of costly) {
      const bytes = Buffer.from(text);
      // The best of three: other programs on the machine make caches cold.
      const tries = [1, 2, 3].map(() => {
        const start = process.cpuUsage();
        refusal(bytes);
        return process.cpuUsage(start).user;
      });
      const user = Math.min(...tries);
      // Measured: at most 3 ms a megabyte. The bound is loose for slow machines and tight enough for anything quadratic.
      assert.ok(user / 1_000 < 25 * megabytes, `${user / 1_000} ms for ${text.slice(0, 20)}`);
    }
  });

  it("counts items of all arrays together", () => {
    assert.equal(refusal(`{"a":[${"0,".repeat(250_000)}0],"b":[${"0,".repeat(250_000)}0]}`), undefined);
    assert.match(refusal(`{"a":[${"0,".repeat(1_000_000)}0]}`) ?? "", /more than 500000 array items/);
  });

  it("takes a string of ten megabytes", () => assert.equal(refusal(`{"a":"${"x".repeat(10_000_000)}"}`), undefined));
});
