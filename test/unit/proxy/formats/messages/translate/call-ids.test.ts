import assert from "node:assert/strict";
import fc from "fast-check";
import { CallIds, validCallId } from "#proxy/formats/messages/translate/call-ids";

const valid = /^[a-zA-Z0-9_-]+$/;

describe("call ids of messages", () => {
  it("keeps a valid id", () => assert.equal(validCallId("toolu_01-a"), "toolu_01-a"));
  it("pitfall 57: makes functions.Bash:0 an id that the vendor takes", () => {
    const id = validCallId("functions.Bash:0");
    assert.match(id, /^functions_Bash_0_[0-9a-f]{8}$/);
    assert.equal(validCallId("functions.Bash:0"), id);
  });
  it("pitfall 58: keeps a:b and a.b apart", () => assert.notEqual(validCallId("a:b"), validCallId("a.b")));
  it("pitfall 59: gives an empty id one, and a second call of an id its own", () => {
    const ids = new CallIds();
    const given = [ids.assign(""), ids.assign(""), ids.assign("a"), ids.assign("a"), ids.assign("a_2")];
    assert.equal(new Set(given).size, given.length);
    assert.ok(given.every((id) => valid.test(id)));
  });
  it("gives only valid ids, each once", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom("a", "a_2", "a:b"))), (texts) => {
        const ids = new CallIds();
        const given = texts.map((text) => ids.assign(text));
        assert.ok(given.every((id) => valid.test(id)));
        assert.equal(new Set(given).size, given.length);
      }),
    );
  });
});
