import assert from "node:assert/strict";
import { createSecretKey } from "node:crypto";
import type { ProviderState } from "#proxy/neutral/conversation";
import { isEnvelope, openEnvelope, sealEnvelope } from "#proxy/neutral/state/envelope";

const key = createSecretKey(Buffer.alloc(32, 1));
const states: readonly ProviderState[] = [
  { kind: "thinking", text: "hm é", signature: "sig" },
  { kind: "redacted-thinking", data: "r" },
  { kind: "thought-signature", data: "t" },
  { kind: "encrypted-reasoning", id: "rs_1", data: "e", summary: ["a", "b"] },
];

describe("sealEnvelope() and openEnvelope()", () => {
  it("give back every kind of state", () => assert.deepEqual(openEnvelope(sealEnvelope(states, key), key), states));
  it("give back nothing of an empty envelope, which still is one", () => {
    assert.deepEqual(openEnvelope(sealEnvelope([], key), key), []);
  });
  it("mark what is an envelope", () => {
    assert.equal(isEnvelope(sealEnvelope(states, key)), true);
    assert.equal(isEnvelope("EqQBCkYIBRgCKkA"), false);
  });

  const sealed = sealEnvelope(states, key);
  for (const row of [
    { name: "another channel's", envelope: sealEnvelope(states, createSecretKey(Buffer.alloc(32, 2))) },
    { name: "a provider's own signature", envelope: "EqQBCkYIBRgCKkA" },
    { name: "one whose content was changed", envelope: sealed.replace("tg1.W", "tg1.X") },
    { name: "one without its MAC", envelope: sealed.slice(0, sealed.lastIndexOf(".")) },
    { name: "one with half a MAC", envelope: sealed.slice(0, -4) },
    { name: "an empty text", envelope: "" },
    { name: "the mark alone", envelope: "tg1." },
  ]) {
    it(`do not open ${row.name}`, () => assert.equal(openEnvelope(row.envelope, key), undefined));
  }
});
