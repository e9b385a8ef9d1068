/** A cache of client packages loses what nobody has used for long, and nothing that is not its own. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "mocha";
import { removeUnused } from "#test/support/clients/remove-unused";

const weekMs = 7 * 24 * 3_600_000;
const nowMs = Date.UTC(2026, 0, 31);
const rows = [
  { name: "node-0123456789abcdef", ageMs: weekMs, stays: true },
  { name: "node-1123456789abcdef", ageMs: weekMs + 1, stays: false },
  { name: "python-2123456789abcdef", ageMs: 2 * weekMs, stays: false },
  { name: "node-3123456789abcdef.Ab12Cd", ageMs: 2 * weekMs, stays: false },
  { name: "node-4123456789abcdef.Ab12Cd", ageMs: 0, stays: true },
  { name: "node-projects", ageMs: 2 * weekMs, stays: true },
  { name: "notes", ageMs: 2 * weekMs, stays: true },
];

describe("the cache of client packages", () => {
  let cache = "";
  beforeEach(() => {
    cache = mkdtempSync(join(tmpdir(), "tollgate-cache-"));
  });
  afterEach(() => rmSync(cache, { recursive: true, force: true }));

  it("loses what nobody has used for a week, and keeps what is not its own", () => {
    for (const { name, ageMs } of rows) {
      mkdirSync(join(cache, name));
      writeFileSync(join(cache, name, "a"), "");
      utimesSync(join(cache, name), new Date(nowMs - ageMs), new Date(nowMs - ageMs));
    }
    removeUnused(cache, weekMs, nowMs);
    const kept = rows.filter(({ stays }) => stays).map(({ name }) => name);
    assert.deepEqual(readdirSync(cache).sort(), kept.sort());
  });
});
