import assert from "node:assert/strict";
import { findKey } from "#proxy/authenticate/find-key";
import { GatewayError } from "#proxy/errors";
import { snapshotWith } from "#test/support/snapshot-of";
import { sha256Of, wireAccount, wireKey } from "#test/support/wire-objects";

const nowMs = 1_800_000_000_000;

describe("findKey", () => {
  const snapshot = snapshotWith(
    wireAccount("paused", { state: "Suspended" }),
    wireAccount("open"),
    wireKey("live", { account: "open" }),
    wireKey("off", { state: "Suspended" }),
    wireKey("paused", { account: "paused" }),
    wireKey("ends", { expiresAt: nowMs }),
    wireKey("rotating", {
      credentials: [
        { name: "old", sha256: sha256Of("sk-old"), notAfter: nowMs },
        { name: "new", sha256: sha256Of("sk-new"), notBefore: nowMs },
      ],
    }),
  );
  const rows: { name: string; secret: string; atMs?: number; want: string }[] = [
    { name: "finds a live key", secret: "sk-live", want: "live" },
    { name: "does not know another", secret: "sk-nobody", want: "unknown_key" },
    { name: "does not know a key with one bit changed", secret: "sk-livd", want: "unknown_key" },
    { name: "does not know a truncated key", secret: "sk-liv", want: "unknown_key" },
    { name: "does not know an extended key", secret: "sk-livee", want: "unknown_key" },
    { name: "does not know a digest presented as a key", secret: sha256Of("sk-live"), want: "unknown_key" },
    { name: "refuses a suspended key", secret: "sk-off", want: "key_suspended" },
    { name: "refuses a key of a suspended account", secret: "sk-paused", want: "key_suspended" },
    { name: "opens a millisecond before expiry", secret: "sk-ends", atMs: nowMs - 1, want: "ends" },
    { name: "refuses at expiry", secret: "sk-ends", want: "key_expired" },
    { name: "refuses a millisecond after", secret: "sk-ends", atMs: nowMs + 1, want: "key_expired" },
    { name: "opens the old credential before its notAfter", secret: "sk-old", atMs: nowMs - 1, want: "rotating" },
    { name: "refuses the old credential at its notAfter", secret: "sk-old", want: "key_expired" },
    {
      name: "refuses the new credential before its notBefore",
      secret: "sk-new",
      atMs: nowMs - 1,
      want: "key_not_yet_valid",
    },
    { name: "opens the new credential at its notBefore", secret: "sk-new", want: "rotating" },
  ];
  const outcome = (secret: string, atMs = nowMs): { name: string; message?: string } => {
    try {
      return { name: findKey(secret, snapshot, atMs).key.name };
    } catch (error) {
      assert.ok(error instanceof GatewayError);
      return { name: error.code, message: error.message };
    }
  };
  for (const { name, secret, atMs, want } of rows) {
    it(name, () => assert.equal(outcome(secret, atMs).name, want));
  }

  it("words every refusal alike", () => {
    const messages = rows.map(({ secret, atMs }) => outcome(secret, atMs).message).filter((text) => text !== undefined);
    assert.equal(messages.length, 11);
    assert.equal(new Set(messages).size, 1);
  });

  it("opens nothing without a snapshot's keys", () => {
    assert.throws(() => findKey("sk-live", snapshotWith(), nowMs), { code: "unknown_key" });
  });
});
