import assert from "node:assert/strict";
import { hasObjectRoot, objectRoot, wrapInObject } from "#proxy/neutral/schema/object-root";

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
      name: "puts what a reference means in its place, with the definitions that it needs",
      schema: {
        $ref: "#/$defs/A",
        description: "D",
        $defs: { A: { $ref: "#/$defs/B" }, B: { type: "object", properties: { b: { $ref: "#/$defs/B" } } } },
      },
      want: {
        type: "object",
        properties: { b: { $ref: "#/$defs/B" } },
        description: "D",
        $defs: { A: { $ref: "#/$defs/B" }, B: { type: "object", properties: { b: { $ref: "#/$defs/B" } } } },
      },
    },
    {
      name: "joins what a reference means with what stands beside it",
      schema: {
        $ref: "#/definitions/A",
        properties: { b: {} },
        required: ["b"],
        definitions: { A: { properties: { a: {} }, required: ["a"] } },
      },
      want: {
        definitions: { A: { properties: { a: {} }, required: ["a"] } },
        type: "object",
        properties: { a: {}, b: {} },
        required: ["b", "a"],
      },
    },
    {
      name: "leaves a reference that leads nowhere",
      schema: { $ref: "#/$defs/A", $defs: { A: { $ref: "#/$defs/A" } } },
      want: { $ref: "#/$defs/A", $defs: { A: { $ref: "#/$defs/A" } }, type: "object" },
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
    {
      name: "lets a property be what any branch says, as with the kinds of a union",
      schema: {
        anyOf: [
          { properties: { kind: { const: "a" }, x: { type: "number" } }, required: ["kind", "x"] },
          { properties: { kind: { const: "b" }, x: { type: "string" } }, required: ["kind", "x"] },
          { properties: { kind: { const: "c" }, x: { type: "number" } }, required: ["kind", "x"] },
        ],
      },
      want: {
        type: "object",
        properties: {
          kind: { anyOf: [{ const: "a" }, { const: "b" }, { const: "c" }] },
          x: { anyOf: [{ type: "number" }, { type: "string" }] },
        },
        required: ["kind", "x"],
      },
    },
    {
      name: "lets a property be only what all of allOf say, and the object itself",
      schema: {
        properties: { a: { minLength: 1 } },
        allOf: [{ properties: { a: { type: "string" } } }, { properties: { a: { maxLength: 9 } } }],
      },
      want: {
        type: "object",
        properties: { a: { allOf: [{ allOf: [{ type: "string" }, { maxLength: 9 }] }, { minLength: 1 }] } },
      },
    },
    {
      name: "takes what branches of branches say",
      schema: {
        oneOf: [{ $ref: "#/$defs/A" }, { anyOf: [{ properties: { y: {} } }, { properties: { z: {} } }] }],
        $defs: {
          A: { allOf: [{ $ref: "#/$defs/Base" }], properties: { x: {} } },
          Base: { properties: { id: {} }, required: ["id"] },
        },
      },
      want: {
        type: "object",
        properties: { id: {}, x: {}, y: {}, z: {} },
        $defs: {
          A: { allOf: [{ $ref: "#/$defs/Base" }], properties: { x: {} } },
          Base: { properties: { id: {} }, required: ["id"] },
        },
      },
    },
    {
      name: "leaves out branches that no arguments can be",
      schema: { anyOf: [{ type: "object", properties: { a: {} }, required: ["a"] }, { type: "null" }] },
      want: { type: "object", properties: { a: {} }, required: ["a"] },
    },
    {
      name: "ends a union that is made of itself",
      schema: { anyOf: [{ $ref: "#" }, { properties: { a: {} } }] },
      want: { type: "object", properties: { a: {} } },
    },
  ]) {
    it(row.name, () => assert.deepEqual(objectRoot(row.schema), row.want));
  }

  it("does not hang on unions that hold each other twice", () => {
    const defs: Record<string, object> = { A0: { properties: { a: {} } } };
    for (let index = 1; index < 40; index += 1) {
      const before = { $ref: `#/$defs/A${index - 1}` };
      defs[`A${index}`] = { anyOf: [{ anyOf: [before] }, { anyOf: [before] }] };
    }
    assert.equal(objectRoot({ anyOf: [{ $ref: "#/$defs/A39" }], $defs: defs })["type"], "object");
  });

  it("returns an object's schema itself", () => {
    const schema = { type: "object", properties: { a: {} } };
    assert.equal(objectRoot(schema), schema);
  });

  it("hears branches behind several references, and ends those that lead in a circle", () => {
    const $defs = {
      Shape: { $ref: "#/$defs/Circle" },
      Circle: { type: "object", properties: { radius: { type: "number" } }, required: ["radius"] },
      A: { $ref: "#/$defs/B" },
      B: { $ref: "#/$defs/A" },
    };
    const anyOf = [
      { $ref: "#/$defs/Shape" },
      { properties: { radius: { type: "number" }, unit: {} }, required: ["radius"] },
    ];
    const { properties, required } = objectRoot({ anyOf, $defs });
    assert.deepEqual(
      { properties, required },
      {
        properties: { radius: { type: "number" }, unit: {} },
        required: ["radius"],
      },
    );
    assert.deepEqual(objectRoot({ anyOf: [{ $ref: "#/$defs/A" }], $defs })["properties"], {});
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

  it("lets references to the root go on meaning the schema", () => {
    const again = { anyOf: [{ $ref: "#" }, { $ref: "#/anyOf/0" }, { $ref: "#/$defs/value" }] };
    const wrapped = wrapInObject({ anyOf: [{ type: "string" }, again], $defs: { value: { items: { $ref: "#" } } } });
    const moved = {
      anyOf: [{ $ref: "#/$defs/value_" }, { $ref: "#/$defs/value_/anyOf/0" }, { $ref: "#/$defs/value" }],
    };
    assert.deepEqual(wrapped["properties"], { value: { $ref: "#/$defs/value_" } });
    assert.deepEqual(wrapped["$defs"], {
      value: { items: { $ref: "#/$defs/value_" } },
      value_: { anyOf: [{ type: "string" }, moved] },
    });
  });
});
