/** No one is shown a bare regular expression: every pattern of the schemas has its words. */
import assert from "node:assert/strict";
import { builtinKinds } from "#operator/schema/builtin-kinds";
import { customKinds } from "#operator/schema/custom-kinds.gen";
import { formOf, patternForms } from "#operator/schema/pattern-forms";
import { validateResource } from "#operator/schema/validate-resource";

function patternsOf(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([member, value]) =>
    member === "pattern" && typeof value === "string" ? [value] : patternsOf(value),
  );
}

const patterns = new Set([...customKinds, ...builtinKinds].flatMap(({ schema }) => patternsOf(schema)));

describe("the words of patterns", () => {
  it("are there for every pattern of the schemas", () => {
    assert.ok(patterns.size > 20);
    assert.deepEqual(
      [...patterns].filter((pattern) => formOf(pattern) === undefined),
      [],
    );
  });

  it("give examples that their pattern takes", () => {
    for (const [pattern, { examples }] of patternForms)
      for (const example of examples) assert.match(example, new RegExp(pattern));
  });

  for (const { name, spec, field, wanted } of [
    { name: "a date", spec: { expiresAt: "2026-12-31" }, field: "spec.expiresAt", wanted: /2026-12-31T23:59:59Z/ },
    {
      name: "an amount",
      spec: { limits: [{ name: "a", unit: "Requests", limit: "1,000", period: "Day" }] },
      field: "spec.limits[0].limit",
      wanted: /an amount: digits.*; such as 250, 0\.15 or 200k/,
    },
  ]) {
    it(`are what a person reads of ${name}`, () => {
      const key = { apiVersion: "tollgate.dev/v1alpha1", kind: "ApiKey", metadata: { name: "k" } };
      const credentials = [{ name: "c", sha256: "ab".repeat(32) }];
      const [problem] = validateResource({ ...key, spec: { credentials, ...spec } }).problems;
      assert.equal(problem?.field, field);
      assert.match(problem.message, wanted);
      assert.doesNotMatch(problem.message, /\^|\[0-9\]/);
    });
  }
});
