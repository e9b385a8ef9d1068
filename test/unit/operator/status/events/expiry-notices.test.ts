import assert from "node:assert/strict";
import type { KeyResult } from "#operator/compile/result";
import { valid } from "#operator/compile/result";
import { ExpiryNotices } from "#operator/status/events/expiry-notices";

const nowMs = Date.UTC(2026, 10, 21);
const dayMs = 24 * 3_600_000;

function key(changes: Partial<KeyResult> = {}): KeyResult {
  return {
    id: "key/a/one",
    kind: "ApiKey",
    namespace: "a",
    name: "one",
    generation: 1,
    accepted: valid,
    wireIds: ["key/a/one"],
    state: "Active",
    accountRequired: false,
    credentials: [{ name: "current", usable: true }],
    ...changes,
  };
}
const credential = (name: string, notAfterMs?: number, usable = true) => ({
  name,
  usable,
  ...(notAfterMs !== undefined && { notAfterMs }),
});

describe("ExpiryNotices", () => {
  for (const { name, result, told } of [
    { name: "a key that ends within a week", result: key({ expiresAtMs: nowMs + 6 * dayMs }), told: 1 },
    { name: "not one that ends later", result: key({ expiresAtMs: nowMs + 8 * dayMs }), told: 0 },
    { name: "not one that has ended", result: key({ expiresAtMs: nowMs - 1 }), told: 0 },
    { name: "not one that never ends", result: key(), told: 0 },
    { name: "not one that is suspended", result: key({ expiresAtMs: nowMs + dayMs, state: "Suspended" }), told: 0 },
    { name: "not one that serves nobody", result: key({ expiresAtMs: nowMs + dayMs, wireIds: [] }), told: 0 },
    {
      name: "a key whose last credential ends",
      result: key({ credentials: [credential("old", nowMs + dayMs), credential("older", nowMs)] }),
      told: 1,
    },
    {
      name: "not one with a credential that goes on",
      result: key({ credentials: [credential("old", nowMs + dayMs), credential("next")] }),
      told: 0,
    },
    {
      name: "a key whose next credential is of no use",
      result: key({ credentials: [credential("old", nowMs + dayMs), credential("next", undefined, false)] }),
      told: 1,
    },
  ]) {
    it(`tells of ${name}`, async () => {
      const notes: string[] = [];
      const notices = new ExpiryNotices({
        results: () => new Map([[result.id, result]]),
        tell: (_key, { note }) => notes.push(note),
        isLeader: () => true,
        now: () => nowMs,
      });
      await notices.reconcileAll();
      notices.reconcile(result.id, result);
      assert.equal(notes.length, told);
      notices.close();
    });
  }

  for (const { name, result, advice } of [
    {
      name: "the key's own end, which no credential outlives",
      result: key({ expiresAtMs: nowMs + dayMs, credentials: [credential("old", nowMs + 2 * dayMs)] }),
      advice: /Move spec\.expiresAt; no credential outlives it\.$/,
    },
    {
      name: "the last credential's end",
      result: key({ credentials: [credential("old", nowMs + dayMs)] }),
      advice: /Add a credential that lives longer, or move its notAfter\.$/,
    },
    {
      name: "both at once",
      result: key({ expiresAtMs: nowMs + dayMs, credentials: [credential("old", nowMs + dayMs)] }),
      advice: /Move spec\.expiresAt, and add a credential that lives longer\.$/,
    },
  ]) {
    it(`says what helps against ${name}`, () => {
      const notes: string[] = [];
      const notices = new ExpiryNotices({
        results: () => new Map(),
        tell: (_key, { note }) => notes.push(note),
        isLeader: () => true,
        now: () => nowMs,
      });
      notices.reconcile(result.id, result);
      assert.match(notes.join(), advice);
      notices.close();
    });
  }

  it("tells again of another end, and nothing where another operator leads", () => {
    const notes: string[] = [];
    let isLeader = true;
    const notices = new ExpiryNotices({
      results: () => new Map(),
      tell: (_key, { note }) => notes.push(note),
      isLeader: () => isLeader,
      now: () => nowMs,
    });
    notices.reconcile("key/a/one", key({ expiresAtMs: nowMs + dayMs }));
    notices.reconcile("key/a/one", key({ expiresAtMs: nowMs + 2 * dayMs }));
    assert.match(notes[1] ?? "", /2026-11-23T00:00:00Z/);
    isLeader = false;
    notices.reconcile("key/a/one", key({ expiresAtMs: nowMs + 3 * dayMs }));
    assert.equal(notes.length, 2);
    notices.close();
  });
});
