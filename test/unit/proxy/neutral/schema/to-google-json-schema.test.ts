import assert from "node:assert/strict";
import { toGoogleJsonSchema } from "#proxy/neutral/schema/to-google-json-schema";

describe("toGoogleJsonSchema()", () => {
  for (const row of [
    {
      name: "leaves a schema of the subset as it is",
      schema: {
        type: "object",
        properties: { x: { type: "integer", minimum: 0 }, y: { anyOf: [{ $ref: "#/$defs/Y" }, { type: "null" }] } },
        required: ["x"],
        additionalProperties: false,
        $defs: { Y: { type: ["string", "null"], enum: ["a", "b"] } },
      },
      want: undefined,
    },
    {
      name: "pitfall 67: drops unknown keywords and makes exclusive bounds inclusive",
      schema: {
        $schema: "s",
        type: "object",
        patternProperties: {},
        properties: { n: { type: "integer", exclusiveMinimum: 0, multipleOf: 2 }, c: { const: "k" } },
      },
      want: { type: "object", properties: { n: { type: "integer", minimum: 1 }, c: { enum: ["k"] } } },
    },
    {
      name: "pitfall 68: keeps properties named like keywords",
      schema: { type: "object", properties: { $schema: { type: "string" }, not: { type: "string" } } },
      want: undefined,
    },
    {
      name: "pitfall 71: keeps numeric enums",
      schema: { type: "integer", enum: [1, 2] },
      want: undefined,
    },
    {
      name: "pitfall 72: keeps references alone, and moves older definitions",
      schema: {
        type: "object",
        properties: { a: { $ref: "#/definitions/A", description: "d" } },
        definitions: { A: { type: "object", properties: { again: { $ref: "#/definitions/A" } } } },
      },
      want: {
        type: "object",
        properties: { a: { $ref: "#/$defs/A" } },
        $defs: { A: { type: "object", properties: { again: { $ref: "#/$defs/A" } } } },
      },
    },
    {
      name: "tells values in words that an enum cannot hold",
      schema: { enum: [true, false], description: "D" },
      want: { description: "D (one of true, false)" },
    },
    {
      name: "makes null among values a type",
      schema: { type: "string", enum: ["a", null] },
      want: { type: ["string", "null"], enum: ["a"] },
    },
    {
      name: "keeps null among values of no said type, and wherever the type stands",
      schema: {
        properties: {
          a: { enum: ["x", null] },
          b: { enum: [1, "x", null] },
          c: { enum: ["x", null], type: "string" },
          d: { const: null },
          e: { enum: [true, null] },
          f: { enum: [null], type: ["string", "number"] },
        },
      },
      want: {
        properties: {
          a: { enum: ["x"], type: ["string", "null"] },
          b: { enum: [1, "x"], type: ["number", "string", "null"] },
          c: { enum: ["x"], type: ["string", "null"] },
          d: { type: "null" },
          e: { description: "one of true, null" },
          f: { type: ["string", "number", "null"] },
        },
      },
    },
    {
      name: "keeps null beside alternatives",
      schema: { properties: { a: { nullable: true, anyOf: [{ type: "string" }, { type: "number" }] } } },
      want: { properties: { a: { anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] } } },
    },
    {
      name: "takes a lone reference in allOf for the reference",
      schema: {
        properties: { a: { allOf: [{ $ref: "#/$defs/A" }], description: "d" } },
        $defs: { A: { type: "string" } },
      },
      want: { properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { type: "string" } } },
    },
    {
      name: "joins the branches of allOf, references followed",
      schema: {
        allOf: [{ $ref: "#/$defs/A" }, { properties: { b: { type: "string" } } }],
        $defs: { A: { type: "object", properties: { a: { type: "string" } } } },
      },
      want: {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "string" } },
        $defs: { A: { type: "object", properties: { a: { type: "string" } } } },
      },
    },
    {
      name: "makes a list of items a tuple",
      schema: { type: "array", items: [{ type: "string" }, true] },
      want: { type: "array", prefixItems: [{ type: "string" }, {}] },
    },
    {
      name: "leaves out what cannot be",
      schema: { type: "object", properties: { never: false, any: true } },
      want: { type: "object", properties: { any: {} } },
    },
  ]) {
    it(row.name, () => assert.deepEqual(toGoogleJsonSchema(row.schema), row.want ?? row.schema));
  }

  it("joins any number of allOf beside each other", () => {
    const color = { type: "string", enum: ["red", "blue"] };
    const alone = { allOf: [{ $ref: "#/$defs/Color" }], description: "d", default: "red" };
    const joined = { allOf: [{ $ref: "#/$defs/Color" }, { description: "d" }] };
    const all = (value: object) => Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`c${index}`, value]));
    const shape = { type: "object", $defs: { Color: color } };
    assert.deepEqual(toGoogleJsonSchema({ ...shape, properties: all(alone) }), {
      ...shape,
      properties: all({ $ref: "#/$defs/Color" }),
    });
    assert.deepEqual(toGoogleJsonSchema({ ...shape, properties: all(joined) }), {
      ...shape,
      properties: all({ ...color, description: "d" }),
    });
  });

  it("joins what branches of allOf refer to behind several references", () => {
    const a = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
    const $defs = { Alias: { $ref: "#/$defs/A" }, A: a };
    const own = { properties: { b: { type: "string" } }, required: ["b"] };
    const { $defs: _, ...joined } = toGoogleJsonSchema({ allOf: [{ $ref: "#/$defs/Alias" }, own], $defs });
    const properties = { a: { type: "string" }, b: { type: "string" } };
    assert.deepEqual(joined, { type: "object", properties, required: ["a", "b"] });
  });

  it("ends joined definitions that hold themselves twice", () => {
    const again = { allOf: [{ $ref: "#/$defs/A" }, { title: "again" }] };
    const schema = { ...again, $defs: { A: { type: "object", properties: { l: again, r: again } } } };
    assert.ok(JSON.stringify(toGoogleJsonSchema(schema)).length < 5_000_000);
  });

  it("ends branches of allOf that refer to each other in a circle", () => {
    const circle = { allOf: [{ $ref: "#/$defs/A" }, {}], description: "D" };
    const schema = { ...circle, $defs: { A: { allOf: [{ $ref: "#/$defs/A" }, {}], type: "object" } } };
    assert.deepEqual(toGoogleJsonSchema(schema), {
      description: "D",
      type: "object",
      $defs: { A: { type: "object" } },
    });
  });
});
