/** Holds the project's own digest to the facts that came with the recorded replies. */
import assert from "node:assert/strict";
import { digest } from "#test/support/digest/digest";
import { explainAbsence, readRecorded } from "#test/support/digest/recorded";

const recorded = readRecorded();

describe("digest of recorded replies", () => {
  if (recorded === undefined) {
    it(explainAbsence("digest of recorded replies"));
    return;
  }
  for (const reply of recorded) {
    it(`states the facts of ${reply.id}`, () => {
      const actual = digest(reply.protocol, reply.bytes(), reply.httpStatus);
      const { expected } = reply;
      for (const fact of [
        "status",
        "text",
        "refusal",
        "reasoning",
        "tools",
        "server_tools",
        "finish",
        "media",
        "signatures",
        "choices",
        "citations",
        "warnings",
      ] as const) {
        assert.deepEqual(actual[fact], expected[fact], fact);
      }
      assert.equal(actual.error?.cls, classOf(expected["error"]), "error class");
      assert.deepEqual(actual.usage, withoutTotal(expected["usage"]), "usage");
    });
  }

  it("covers all recorded chat replies", () => assert.equal(recorded.length, 165));
});

function classOf(error: unknown): unknown {
  return typeof error === "object" && error !== null ? Reflect.get(error, "cls") : undefined;
}

function withoutTotal(usage: unknown): unknown {
  if (typeof usage !== "object" || usage === null) return null;
  return Object.fromEntries(Object.entries(usage).filter(([name]) => name !== "total"));
}
