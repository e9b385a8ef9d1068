import assert from "node:assert/strict";
import { hasObjectRoot, objectRoot, wrapInObject } from "../../../../../proxy/translate/schema/object-root.ts";

describe("objectRoot()", () => {
  for (const row of [
    {
      name: "gives a tool without schema an empty object",
      schema: undefined,
      want: { type: "object", properties: {} },
    },
    { name: "gives an empty schema an empty object", schema: {}, want: { type: "object", properties: {} } },
    { name: "adds a missing type", schema: { properties: { a: {} } }, want: { properties: { a: {} }, type: "object" } },
    {
      name: "joins branches: all properties, required what all require",
      schema: {
        anyOf: [{ type: "object", properties: { a: {}, b: {} }, required: ["a", "b"] }, { $ref: "#/$defs/C" }],
        $defs: { C: { type: "object", properties: { a: {}, c: {} }, required: ["a"] } },
      },
      want: {
        $defs: { C: { type: "object", properties: { a: {}, c: {} }, required: ["a"] } },
        type: "object",
        properties: { a: {}, b: {}, c: {} },
        required: ["a"],
      },
    },
    {
      name: "joins allOf: required what any requires",
      schema: {
        allOf: [
          { properties: { a: {} }, required: ["a"] },
          { properties: { b: {} }, required: ["b"] },
        ],
      },
      want: { type: "object", properties: { a: {}, b: {} }, required: ["a", "b"] },
    },
  ]) {
    it(row.name, () => assert.deepEqual(objectRoot(row.schema), row.want));
  }

  it("returns an object's schema itself", () => {
    const schema = { type: "object", properties: { a: {} } };
    assert.equal(objectRoot(schema), schema);
  });
});

describe("wrapInObject()", () => {
  it("puts the schema behind one member and moves definitions to the root", () => {
    const wrapped = wrapInObject({ type: "array", items: { $ref: "#/$defs/A" }, $defs: { A: {} } });
    assert.deepEqual(wrapped, {
      type: "object",
      properties: { value: { type: "array", items: { $ref: "#/$defs/A" } } },
      required: ["value"],
      additionalProperties: false,
      $defs: { A: {} },
    });
    assert.ok(hasObjectRoot(wrapped));
  });
});
