import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { RotatedCredentials } from "../../../../proxy/route/rotated-credentials.ts";
import type { EjectedCredential } from "../../../../proxy/snapshot/push/messages.ts";
import type { Credential } from "../../../../proxy/snapshot/types.gen.ts";
import { wireChannel, wireCredential } from "../../../support/wire-objects.ts";

const old = wireCredential("openai", "main", "old-secret");
const wrong = wireCredential("openai", "main", "wrong-secret");
const right = wireCredential("openai", "main", "right-secret");

function rotation() {
  const told: EjectedCredential[] = [];
  let nowMs = 1_000;
  const credentials = new RotatedCredentials({ now: () => nowMs, onRefused: (ejected) => told.push(ejected) });
  const configure = (credential: Credential | undefined): void =>
    credentials.follow({
      channels: [wireChannel("openai", { credentials: [{ name: "main", weight: 1, state: "Active" }] })],
      credential: () => credential,
    });
  configure(old);
  return { credentials, configure, told, pass: (ms: number) => (nowMs += ms) };
}

describe("RotatedCredentials", () => {
  it("sends what is configured while nothing is refused, whatever it was before", () => {
    const { credentials, configure } = rotation();
    assert.equal(credentials.inUse(old), old);
    configure(right);
    assert.equal(credentials.inUse(right), right);
    credentials.accepted(right);
    assert.equal(credentials.refused(right), false, "what was accepted forgot the former one");
    assert.equal(credentials.inUse(right), right);
  });

  it("goes back to the former secret when the new one is refused, and asks the new one again after half a minute", () => {
    const { credentials, configure, told, pass } = rotation();
    configure(wrong);
    assert.equal(credentials.refused(wrong), true);
    assert.equal(credentials.inUse(wrong), old);
    credentials.accepted(old);
    assert.equal(credentials.inUse(wrong), old, "that the former one works says nothing of the new one");
    pass(30_000);
    assert.equal(credentials.inUse(wrong), wrong);
    assert.equal(credentials.refused(wrong), true);
    assert.equal(credentials.inUse(wrong), old);
    assert.deepEqual(told, [{ channel: "team-a/openai", credential: "main", reason: "FormerInUse" }], "told once");
    assert.deepEqual(credentials.ejected(9), told);
  });

  it("keeps the secret that worked through a second wrong one, and forgets it with the first right one", () => {
    const { credentials, configure } = rotation();
    configure(wrong);
    credentials.refused(wrong);
    const again = wireCredential("openai", "main", "wrong-again");
    configure(again);
    assert.equal(credentials.inUse(again), again);
    assert.equal(credentials.refused(again), true);
    assert.equal(credentials.inUse(again), old);
    configure(right);
    assert.equal(credentials.inUse(right), right);
    credentials.accepted(right);
    assert.deepEqual(credentials.ejected(9), []);
    assert.equal(credentials.refused(right), false);
    assert.equal(credentials.inUse(right), right);
  });

  it("keeps the secret that worked where the next one was replaced before anybody used it", () => {
    const { credentials, configure } = rotation();
    configure(wrong);
    const again = wireCredential("openai", "main", "wrong-again");
    configure(again);
    assert.equal(credentials.refused(again), true);
    assert.equal(credentials.inUse(again), old);
  });

  it("forgets a former secret that is refused as well", () => {
    const { credentials, configure } = rotation();
    configure(wrong);
    credentials.refused(wrong);
    assert.equal(credentials.refused(old), false);
    assert.equal(credentials.inUse(wrong), wrong);
    assert.deepEqual(
      credentials.ejected(9).map(({ reason }) => reason),
      ["Refused"],
    );
  });

  it("forgets everything of a credential that leaves the configuration", () => {
    const { credentials, configure } = rotation();
    configure(wrong);
    credentials.refused(wrong);
    configure(undefined);
    assert.deepEqual(credentials.ejected(9), []);
    configure(wrong);
    assert.equal(credentials.inUse(wrong), wrong, "the old one was removed with it");
    assert.equal(credentials.refused(wrong), false);
  });

  it("has nothing to go back to where the old secret is given back", () => {
    const { credentials, configure } = rotation();
    configure(wrong);
    credentials.refused(wrong);
    configure(old);
    assert.deepEqual(credentials.ejected(9), []);
    assert.equal(credentials.refused(old), false);
  });

  it("learns nothing from a call that still ran with a secret that is configured no more", () => {
    const { credentials, configure } = rotation();
    configure(right);
    credentials.accepted(right);
    assert.equal(credentials.refused(old), false);
    assert.deepEqual(credentials.ejected(9), []);
  });

  it("tells of what is refused without a former secret, until it is accepted", () => {
    const { credentials, told } = rotation();
    assert.equal(credentials.refused(old), false);
    assert.equal(credentials.inUse(old), old);
    assert.deepEqual(told, [{ channel: "team-a/openai", credential: "main", reason: "Refused" }]);
    credentials.accepted(old);
    assert.deepEqual(credentials.ejected(9), []);
  });
});
