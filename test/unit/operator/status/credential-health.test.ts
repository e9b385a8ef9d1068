import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { CredentialHealth, forgottenAfterMs } from "#operator/status/credential-health";

const main = { channel: "a/openai", credential: "main", reason: "Refused" };
const spare = { channel: "a/openai", credential: "spare", reason: "FormerInUse" };

function book() {
  let nowMs = 5_000;
  return { book: new CredentialHealth(() => nowMs), pass: (ms: number) => (nowMs += ms) };
}

describe("CredentialHealth", () => {
  it("tells a channel's refused credentials, and those that a former secret stands in for everywhere", () => {
    const { book: ejected } = book();
    assert.equal(ejected.healthOf("channel/a/openai"), undefined);
    assert.deepEqual(ejected.acceptReport("one", { ejected: [spare, main] }), ["channel/a/openai"]);
    assert.deepEqual(ejected.healthOf("channel/a/openai"), { ejected: ["main", "spare"], formerInUse: ["spare"] });
    ejected.acceptReport("two", { ejected: [{ ...spare, reason: "Refused" }] });
    assert.deepEqual(ejected.healthOf("channel/a/openai"), { ejected: ["main", "spare"], formerInUse: [] });
    assert.equal(ejected.healthOf("channel/a/other"), undefined);
  });

  it("names only channels of which a proxy says something else than before", () => {
    const { book: ejected } = book();
    const other = { ...main, channel: "a/other" };
    assert.deepEqual(ejected.acceptReport("one", { ejected: [main, other] }), ["channel/a/openai", "channel/a/other"]);
    assert.deepEqual(ejected.acceptReport("one", { ejected: [main, other] }), []);
    assert.deepEqual(ejected.acceptReport("one", { ejected: [main, { ...other, reason: "FormerInUse" }] }), [
      "channel/a/other",
    ]);
    assert.deepEqual(ejected.acceptReport("one", { ejected: [] }), []);
  });

  it("forgets what was not said for a while, and not before", () => {
    const { book: ejected, pass } = book();
    ejected.acceptReport("one", { ejected: [main, { ...main, channel: "a/other" }] });
    pass(forgottenAfterMs - 1);
    ejected.acceptReport("one", { ejected: [main] });
    assert.deepEqual(ejected.due(), []);
    pass(1);
    assert.deepEqual(ejected.due(), ["channel/a/other"]);
    assert.notEqual(ejected.healthOf("channel/a/openai"), undefined);
    pass(forgottenAfterMs);
    assert.deepEqual(ejected.due(), ["channel/a/openai"]);
    assert.equal(ejected.healthOf("channel/a/openai"), undefined);
  });

  it("is settled when every proxy has had the time to tell", () => {
    const { book: ejected, pass } = book();
    assert.equal(ejected.isComplete, false);
    pass(forgottenAfterMs);
    assert.equal(ejected.isComplete, true);
    ejected.clear();
    assert.equal(ejected.isComplete, false);
  });
});
