import assert from "node:assert/strict";
import type { JsonObject } from "#proxy/json/json-value";
import type { Turn } from "#proxy/neutral/conversation";
import {
  call,
  contentsFor,
  openKeeper,
  result,
  user,
} from "#test/unit/proxy/formats/generate-content/translate/replay";

describe("writeRequest() of generateContent: signatures", () => {
  const sealed = (data: string) =>
    [{ type: "sealed", envelope: openKeeper.seal([{ kind: "thought-signature", data }]) }] as const;
  const partsOf = (parts: Turn["parts"], model = "gemini-3-pro"): unknown =>
    Reflect.get(Object(contentsFor([user, { role: "assistant", parts }], model)), 1).parts;

  it("pitfall 88: puts a call's signature beside it, not into it", () => {
    assert.deepEqual(partsOf([{ ...call("a", "f"), states: sealed("SIG") }]), [
      { functionCall: { name: "f", args: {} }, thoughtSignature: "SIG" },
    ]);
  });

  it("pitfall 87: leaves parallel calls behind the first unsigned", () => {
    assert.deepEqual(partsOf([{ ...call("a", "f"), states: sealed("SIG") }, call("b", "g")]), [
      { functionCall: { name: "f", args: {} }, thoughtSignature: "SIG" },
      { functionCall: { name: "g", args: {} } },
    ]);
  });

  it("puts a signature that stood on thinking onto the call that follows", () => {
    assert.deepEqual(partsOf([{ kind: "reasoning", text: "T", states: sealed("SIG") }, call("a", "f")]), [
      { functionCall: { name: "f", args: {} }, thoughtSignature: "SIG" },
    ]);
  });

  it("pitfall 89: keeps the signature of an empty text", () => {
    assert.deepEqual(
      partsOf([
        { kind: "text", text: "Hi" },
        { kind: "text", text: "", states: sealed("SIG") },
      ]),
      [{ text: "Hi" }, { text: "", thoughtSignature: "SIG" }],
    );
  });

  it("pitfall 90: signs the first call of each step of the current turn with what Google documents", () => {
    const contents = contentsFor(
      [
        user,
        { role: "assistant", parts: [call("old", "f")] },
        { role: "tool", parts: [result("old", "0")] },
        user,
        { role: "assistant", parts: [call("a", "f"), call("b", "g")] },
        { role: "tool", parts: [result("a", "1"), result("b", "2")] },
        { role: "assistant", parts: [call("c", "f")] },
        { role: "tool", parts: [result("c", "3")] },
      ],
      "gemini-3-pro",
    );
    const signatures = Object(contents)
      .filter(({ role }: JsonObject) => role === "model")
      .map(({ parts }: { parts: JsonObject[] }) => parts.map((part) => part["thoughtSignature"] ?? ""));
    const skip = "skip_thought_signature_validator";
    assert.deepEqual(signatures, [[""], [skip, ""], [skip]]);
  });

  it("leaves out a turn of which nothing is left", () => {
    const turns: Turn[] = [user, { role: "assistant", parts: [{ kind: "reasoning", text: "T" }] }, user];
    assert.deepEqual(contentsFor(turns), [{ role: "user", parts: [{ text: "hi" }, { text: "hi" }] }]);
  });

  it("signs nothing for models that do not ask", () => {
    assert.deepEqual(partsOf([call("a", "f")], "gemini-2.5-pro"), [{ functionCall: { name: "f", args: {} } }]);
  });

  it("never sends thinking, nor a client's native state", () => {
    const states = [{ type: "native", state: { kind: "thought-signature", data: "X" } }] as const;
    assert.deepEqual(
      partsOf([
        { kind: "reasoning", text: "T", states },
        { kind: "text", text: "Hi" },
      ]),
      [{ text: "Hi" }],
    );
  });
});
