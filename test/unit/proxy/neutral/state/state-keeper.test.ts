import assert from "node:assert/strict";
import type { CallPart, ProviderState } from "#proxy/neutral/conversation";
import { CallStates } from "#proxy/neutral/state/call-states";
import { createStateKeeper, type StateScope } from "#proxy/neutral/state/state-keeper";

const signature: ProviderState = { kind: "thought-signature", data: "TSIG" };
const thinking: ProviderState = { kind: "thinking", text: "T", signature: "SIG" };
const scope: StateScope = {
  channel: "ns/gemini",
  secrets: () => ["one", "two"],
  format: "GenerateContent",
  key: "ns/app",
  mayRemember: true,
};

function setUp(): {
  keeper: (changes?: Partial<StateScope>) => ReturnType<typeof createStateKeeper>;
  pass: (ms: number) => void;
} {
  let nowMs = 0;
  const callStates = new CallStates({ entriesMax: 3, bytesMax: 1_600, idleMsMax: 1_000, clock: () => nowMs });
  return {
    keeper: (changes = {}) => createStateKeeper({ ...scope, ...changes }, callStates),
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

function call(changes: Partial<CallPart> = {}): CallPart {
  return { kind: "call", id: "call_a", name: "f", tool: "function", arguments: "{}", ...changes };
}

function sealed(envelope: string): Partial<CallPart> {
  return { states: [{ type: "sealed", envelope }] };
}

describe("StateKeeper", () => {
  it("gives a channel its own state back", () => {
    const { keeper } = setUp();
    assert.deepEqual(keeper().recover(call(sealed(keeper().seal([signature])))), [signature]);
  });
  it("gives it back after a rotation, as long as the credential that sealed is there", () => {
    const { keeper } = setUp();
    const envelope = keeper({ secrets: () => ["old"] }).seal([signature]);
    assert.deepEqual(keeper({ secrets: () => ["new", "old"] }).recover(call(sealed(envelope))), [signature]);
    assert.deepEqual(keeper({ secrets: () => ["new"] }).recover(call(sealed(envelope))), []);
  });
  for (const row of [
    { name: "another channel", changes: { channel: "ns/other" } },
    { name: "another account of the provider", changes: { secrets: () => ["three"] } },
    { name: "another client's key", changes: { key: "ns/other" } },
    { name: "another vendor's format", changes: { format: "Messages" as const } },
  ]) {
    it(`gives ${row.name} nothing (pitfall 91)`, () => {
      const { keeper } = setUp();
      assert.deepEqual(keeper(row.changes).recover(call(sealed(keeper().seal([signature])))), []);
    });
  }
  it("gives no vendor another's state, though one envelope held both", () => {
    const { keeper } = setUp();
    assert.deepEqual(keeper().recover(call(sealed(keeper().seal([thinking, signature])))), [signature]);
  });
  it("never takes native state of the client's own format for the channel's (pitfall 134)", () => {
    const { keeper } = setUp();
    assert.deepEqual(keeper().recover(call({ states: [{ type: "native", state: signature }] })), []);
  });
  it("keeps channels without credentials apart from forgers", () => {
    const { keeper } = setUp();
    const open = keeper({ secrets: () => [] });
    assert.deepEqual(open.recover(call(sealed(open.seal([signature])))), [signature]);
  });

  it("remembers the state of a call for the key that made it", () => {
    const { keeper } = setUp();
    keeper().remember("call_a", [signature]);
    assert.deepEqual(keeper().recover(call()), [signature]);
    assert.deepEqual(keeper({ key: "ns/other" }).recover(call()), []);
    assert.deepEqual(keeper({ channel: "ns/other" }).recover(call()), []);
    assert.deepEqual(keeper().recover(call({ id: "call_b" })), []);
  });
  it("remembers nothing of a call that must not be stored", () => {
    const { keeper } = setUp();
    keeper({ mayRemember: false }).remember("call_a", [signature]);
    assert.deepEqual(keeper().recover(call()), []);
  });
  it("forgets what was not used for a while, and keeps what was", () => {
    const { keeper, pass } = setUp();
    keeper().remember("call_a", [signature]);
    pass(900);
    assert.deepEqual(keeper().recover(call()), [signature]);
    pass(900);
    assert.deepEqual(keeper().recover(call()), [signature]);
    pass(1_100);
    assert.deepEqual(keeper().recover(call()), []);
  });
  it("lets the longest unused go when there are too many", () => {
    const { keeper } = setUp();
    for (const id of ["a", "b", "c"]) keeper().remember(id, [signature]);
    keeper().recover(call({ id: "a" }));
    keeper().remember("d", [signature]);
    assert.deepEqual(
      ["a", "b", "c", "d"].filter((id) => keeper().recover(call({ id })).length > 0),
      ["a", "c", "d"],
    );
  });
  it("takes nothing that is too large for its memory", () => {
    const { keeper } = setUp();
    keeper().remember("call_a", [{ kind: "thought-signature", data: "x".repeat(200) }]);
    assert.deepEqual(keeper().recover(call()), []);
  });
});
