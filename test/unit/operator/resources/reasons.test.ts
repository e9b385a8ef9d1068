import assert from "node:assert/strict";
import { refused } from "#operator/compile/result";
import {
  type ConditionType,
  conditionReasons,
  hasReason,
  isVerdict,
  type ReasonRow,
  type Verdict,
} from "#operator/resources/reasons";

const message = "Why.";

describe("reasons of conditions", () => {
  it("compile only where the table has them; the types gate holds each of these errors", () => {
    const right: Verdict<"Accepted"> = refused("Invalid", message);
    // @ts-expect-error a reason that is misspelt
    refused("Invaild", message);
    // @ts-expect-error a reason of another condition
    const ofAnother: Verdict<"Accepted"> = refused("SecretNotFound", message);
    // @ts-expect-error a reason that goes with another status
    refused("Valid", message);
    // @ts-expect-error a reason that has this status for another condition alone
    const ofOther: Verdict<"ResolvedRefs"> = refused("Pending", message);
    // @ts-expect-error a status that the reason does not go with
    const unknown: Verdict<"Accepted"> = { status: "Unknown", reason: "Valid", message };
    const condition = { type: "Programmed", status: "False", reason: "Pending", message } as const;
    // @ts-expect-error a comparison with a reason that the condition never has
    assert.equal(hasReason(condition, "Programmed", "SecretNotFound"), false);
    assert.deepEqual(
      [right, ofAnother, ofOther, unknown].map(({ reason }) => reason),
      ["Invalid", "SecretNotFound", "Pending", "Valid"],
    );
  });

  it("are words that the API server takes for a reason, each with a status and a meaning", () => {
    for (const reasons of Object.values<{ readonly [reason: string]: ReasonRow }>(conditionReasons))
      for (const [reason, { statuses, means }] of Object.entries(reasons)) {
        assert.match(reason, /^[A-Z][A-Za-z]+$/);
        assert.ok(statuses.length > 0 && new Set(statuses).size === statuses.length, reason);
        assert.match(means, /^[^|\n]+$/, "it stands in a cell of a table");
      }
  });

  it("each condition has one reason or more for which all is well", () => {
    for (const [type, reasons] of Object.entries<{ readonly [reason: string]: ReasonRow }>(conditionReasons))
      assert.ok(
        Object.values(reasons).some(({ statuses }) => statuses.includes("True")),
        type,
      );
  });

  for (const { name, condition, type, isOurs } of [
    { name: "one that we give", condition: { status: "Unknown", reason: "NoTraffic" }, type: "Healthy", isOurs: true },
    { name: "another status", condition: { status: "True", reason: "NoTraffic" }, type: "Healthy", isOurs: false },
    { name: "an unknown reason", condition: { status: "False", reason: "Tired" }, type: "Healthy", isOurs: false },
    {
      name: "a name of every object",
      condition: { status: "True", reason: "toString" },
      type: "Healthy",
      isOurs: false,
    },
    { name: "another type", condition: { status: "Unknown", reason: "NoTraffic" }, type: "Active", isOurs: false },
  ] as const satisfies readonly { readonly type: ConditionType; readonly [member: string]: unknown }[])
    it(`are told apart from what others wrote: ${name}`, () => {
      assert.equal(isVerdict({ type: "Healthy", message, ...condition }, type), isOurs);
    });
});
