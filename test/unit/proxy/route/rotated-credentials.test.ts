import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { RotatedCredentials } from "#proxy/route/rotated-credentials";
import type { EjectedCredential } from "#proxy/snapshot/push/messages";
import type { Channel, Credential } from "#proxy/snapshot/types.gen";
import { wireChannel, wireCredential } from "#test/support/wire-objects";

const old = wireCredential("openai", "main", "old-secret");
const wrong = wireCredential("openai", "main", "wrong-secret");
const right = wireCredential("openai", "main", "right-secret");

function rotation() {
  const told: EjectedCredential[] = [];
  let nowMs = 1_000;
  const credentials = new RotatedCredentials({ now: () => nowMs, onRefused: (ejected) => told.push(ejected) });
  const configure = (credential: Credential | undefined, spec: Partial<Channel> = {}): void =>
    credentials.follow({
      channels: [wireChannel("openai", { credentials: [{ name: "main", weight: 1, state: "Active" }], ...spec })],
      credential: () => credential,
    });
  configure(old);
  return { credentials, configure, told, pass: (ms: number) => (nowMs += ms) };
}

describe("RotatedCredentials", () => {
  it("sends what is configured while nothing is refused, whatever it was before", () => {
    const { credentials, configure } = rotation();
    assert.equal(credentials.inUse(old, true), old);
    configure(right);
    assert.equal(credentials.inUse(right, true), right);
    credentials.accepted(right);
    assert.equal(credentials.refused(right, 401), false, "what was accepted forgot the former one");
    assert.equal(credentials.inUse(right, true), right);
  });

  it("goes back to the former secret when the new one is refused, and asks the new one again after half a minute", () => {
    const { credentials, configure, told, pass } = rotation();
    configure(wrong);
    assert.equal(credentials.refused(wrong, 401), true);
    assert.equal(credentials.inUse(wrong, true), old);
    credentials.accepted(old);
    assert.equal(credentials.inUse(wrong, true), old, "that the former one works says nothing of the new one");
    pass(30_000);
    assert.equal(credentials.inUse(wrong, true), wrong);
    assert.equal(credentials.refused(wrong, 401), true);
    assert.equal(credentials.inUse(wrong, true), old);
    assert.deepEqual(told, [{ channel: "team-a/openai", credential: "main", reason: "FormerInUse" }], "told once");
    assert.deepEqual(credentials.ejected(9), told);
  });

  it("keeps the secret that worked through a second wrong one, and forgets it with the first right one", () => {
    const { credentials, configure } = rotation();
    configure(wrong);
    credentials.refused(wrong, 401);
    const again = wireCredential("openai", "main", "wrong-again");
    configure(again);
    assert.equal(credentials.inUse(again, true), again);
    assert.equal(credentials.refused(again, 401), true);
    assert.equal(credentials.inUse(again, true), old);
    configure(right);
    assert.equal(credentials.inUse(right, true), right);
    credentials.accepted(right);
    assert.deepEqual(credentials.ejected(9), []);
    assert.equal(credentials.refused(right, 401), false);
    assert.equal(credentials.inUse(right, true), right);
  });

  it("keeps the secret that worked where the next one was replaced before anybody used it", () => {
    const { credentials, configure } = rotation();
    configure(wrong);
    const again = wireCredential("openai", "main", "wrong-again");
    configure(again);
    assert.equal(credentials.refused(again, 401), true);
    assert.equal(credentials.inUse(again, true), old);
  });

  it("forgets a former secret that is refused as well", () => {
    const { credentials, configure } = rotation();
    configure(wrong);
    credentials.refused(wrong, 401);
    assert.equal(credentials.refused(old, 401), false);
    assert.equal(credentials.inUse(wrong, true), wrong);
    assert.deepEqual(
      credentials.ejected(9).map(({ reason }) => reason),
      ["Refused"],
    );
  });

  it("forgets everything of a credential that leaves the configuration", () => {
    const { credentials, configure } = rotation();
    configure(wrong);
    credentials.refused(wrong, 401);
    configure(undefined);
    assert.deepEqual(credentials.ejected(9), []);
    configure(wrong);
    assert.equal(credentials.inUse(wrong, true), wrong, "the old one was removed with it");
    assert.equal(credentials.refused(wrong, 401), false);
  });

  it("has nothing to go back to where the old secret is given back", () => {
    const { credentials, configure } = rotation();
    configure(wrong);
    credentials.refused(wrong, 401);
    configure(old);
    assert.deepEqual(credentials.ejected(9), []);
    assert.equal(credentials.refused(old, 401), false);
  });

  it("learns nothing from a call that still ran with a secret that is configured no more", () => {
    const { credentials, configure } = rotation();
    configure(right);
    credentials.accepted(right);
    assert.equal(credentials.refused(old, 401), false);
    assert.deepEqual(credentials.ejected(9), []);
  });

  it("tells of what is refused without a former secret, until it is accepted", () => {
    const { credentials, told } = rotation();
    assert.equal(credentials.refused(old, 401), false);
    assert.equal(credentials.inUse(old, true), old);
    assert.deepEqual(told, [{ channel: "team-a/openai", credential: "main", reason: "Refused" }]);
    credentials.accepted(old);
    assert.deepEqual(credentials.ejected(9), []);
  });

  for (const order of ["together", "one after the other"]) {
    it(`never sends a former secret to another address, secret and address changed ${order}`, () => {
      const { credentials, configure } = rotation();
      const elsewhere = { baseURL: "https://other.example/v1" };
      if (order === "together") configure(wrong, elsewhere);
      else {
        configure(wrong);
        credentials.refused(wrong, 401);
        configure(wrong, elsewhere);
      }
      assert.equal(credentials.refused(wrong, 401), false);
      assert.equal(credentials.inUse(wrong, true), wrong);
      assert.equal(credentials.inUse(wrong, false), wrong);
    });
  }

  it("learns nothing from 403, which may be about the model or what the caller said", () => {
    const { credentials, configure, told } = rotation();
    configure(right);
    assert.equal(credentials.refused(right, 403), false);
    assert.equal(credentials.inUse(right, true), right);
    configure(wrong);
    credentials.refused(wrong, 401);
    assert.equal(credentials.refused(old, 403), false);
    assert.equal(credentials.inUse(wrong, true), old, "the former one is kept");
    assert.equal(told.length, 1);
  });

  it("sends the former one with what cannot be sent again, also when the new one is due to be tried", () => {
    const { credentials, configure, pass } = rotation();
    configure(wrong);
    credentials.refused(wrong, 401);
    pass(30_000);
    assert.equal(credentials.inUse(wrong, true), wrong);
    assert.equal(credentials.inUse(wrong, false), old);
  });

  it("forgets a former secret after a day", () => {
    const { credentials, configure, pass } = rotation();
    configure(wrong);
    pass(24 * 3_600_000);
    credentials.refused(wrong, 401);
    assert.equal(credentials.inUse(wrong, true), wrong);
  });

  it("forgets what is not used any more: a draining credential is asked nothing", () => {
    const { credentials, configure } = rotation();
    credentials.refused(old, 401);
    configure(old, { credentials: [{ name: "main", weight: 1, state: "Draining" }] });
    assert.deepEqual(credentials.ejected(9), []);
  });
});
