import assert from "node:assert/strict";
import type { ProviderState } from "#proxy/neutral/conversation";
import { CallStates, callStatesDefaults } from "#proxy/neutral/state/call-states";

const words = (text: string): ProviderState => ({ kind: "reasoning-text", member: "reasoning_content", text });
const signature: ProviderState = { kind: "thought-signature", data: "S" };

describe("pitfall 153: thinking kept under the id of a call", () => {
  let states: CallStates;
  beforeEach(() => {
    states = new CallStates({ ...callStatesDefaults, clock: () => 0 });
  });

  it("is given back, also where it was kept twice", () => {
    states.remember("o", "call_1", [words("R")]);
    states.remember("o", "call_1", [words("R")]);
    assert.deepEqual(states.recall("o", "call_1"), [words("R")]);
    assert.deepEqual(states.recall("other", "call_1"), []);
  });

  it("is nobody's once another call has the same id, and stays so", () => {
    states.remember("o", "functions.f:0", [words("A")]);
    states.remember("o", "functions.f:0", [words("B"), signature]);
    assert.deepEqual(states.recall("o", "functions.f:0"), [signature]);
    states.remember("o", "functions.f:0", [words("B")]);
    assert.deepEqual(states.recall("o", "functions.f:0"), []);
  });

  it("is forgotten once a call without thinking has the same id", () => {
    states.remember("o", "functions.f:0", [words("A")]);
    states.remember("o", "functions.f:0", []);
    assert.deepEqual(states.recall("o", "functions.f:0"), []);
  });
});
