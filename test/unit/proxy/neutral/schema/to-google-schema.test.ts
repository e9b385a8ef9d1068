import assert from "node:assert/strict";
import fc from "fast-check";
import { toGoogleSchema } from "#proxy/neutral/schema/to-google-schema";

const string = { type: "STRING" };
const keywords = new Set(
  "type format title description nullable items minItems maxItems enum properties propertyOrdering required minProperties maxProperties minimum maximum minLength maxLength pattern anyOf default example".split(
    " ",
  ),
);

describe("toGoogleSchema()", () => {
  for (const row of [
    {
      name: "pitfall 67: drops unknown keywords and makes exclusive bounds inclusive",
      schema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        additionalProperties: false,
        patternProperties: { "^x": {} },
        propertyNames: { pattern: "a" },
        properties: { n: { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 9, multipleOf: 2 } },
        required: ["n"],
      },
      want: { type: "OBJECT", properties: { n: { type: "INTEGER", minimum: 1, maximum: 8 } }, required: ["n"] },
    },
    {
      name: "pitfall 68: keeps properties named like keywords",
      schema: {
        type: "object",
        properties: { $id: { type: "string" }, format: { type: "string" }, $ref: { type: "string" } },
      },
      want: { type: "OBJECT", properties: { $id: string, format: string, $ref: string } },
    },
    {
      name: "pitfall 69: drops uniqueItems",
      schema: { type: "array", items: { type: "string" }, uniqueItems: true },
      want: { type: "ARRAY", items: string },
    },
    {
      name: "pitfall 70: a null branch makes the other one nullable, with the outer description",
      schema: { description: "D", anyOf: [{ type: "string" }, { type: "null" }] },
      want: { type: "STRING", description: "D", nullable: true },
    },
    {
      name: "pitfall 70: a null in a type list makes it nullable",
      schema: { description: "D", type: ["string", "null"] },
      want: { type: "STRING", description: "D", nullable: true },
    },
    {
      name: "pitfall 71: tells numeric values in words and keeps the type",
      schema: { type: "integer", enum: [1, 2] },
      want: { type: "INTEGER", description: "one of 1, 2" },
    },
    {
      name: "pitfall 72: inlines references",
      schema: {
        type: "object",
        properties: { a: { $ref: "#/$defs/A", description: "mine" } },
        $defs: { A: { type: "object", description: "its", properties: { s: { type: "string" } } } },
      },
      want: {
        type: "OBJECT",
        properties: { a: { type: "OBJECT", description: "mine", properties: { s: string } } },
      },
    },
    {
      name: "pitfall 72: ends a reference to itself in a plain object",
      schema: {
        $ref: "#/$defs/Tree",
        $defs: { Tree: { type: "object", properties: { child: { $ref: "#/$defs/Tree" } } } },
      },
      want: {
        type: "OBJECT",
        properties: { child: { type: "OBJECT", description: "again of the kind Tree" } },
      },
    },
    {
      name: "pitfall 73: keeps a nested object without properties",
      schema: { type: "object", properties: { o: { type: "object", properties: {} } } },
      want: { type: "OBJECT", properties: { o: { type: "OBJECT" } } },
    },
    {
      name: "joins the branches of allOf",
      schema: {
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { b: { type: "string" } }, required: ["b"] },
        ],
      },
      want: { type: "OBJECT", properties: { a: string, b: string }, required: ["a", "b"] },
    },
    {
      name: "passes over references to nowhere in allOf",
      schema: { allOf: [{ $ref: "#/$defs/None" }, { $ref: "https://x.test/a" }, { type: "integer" }] },
      want: { type: "INTEGER" },
    },
    {
      name: "ends a reference to nowhere in a plain object",
      schema: { type: "object", properties: { a: { $ref: "#/$defs/None", description: "D" } } },
      want: { type: "OBJECT", properties: { a: { type: "OBJECT", description: "D" } } },
    },
    {
      name: "takes oneOf for anyOf",
      schema: { oneOf: [{ type: "string" }, { type: "integer" }] },
      want: { anyOf: [string, { type: "INTEGER" }] },
    },
    {
      name: "makes branches of several types, each with the keywords beside them",
      schema: { type: ["string", "integer", "null"], description: "D", minimum: 1 },
      want: {
        description: "D",
        anyOf: [
          { type: "STRING", minimum: 1 },
          { type: "INTEGER", minimum: 1 },
        ],
        nullable: true,
      },
    },
    {
      name: "ignores branches that only say which members go together",
      schema: {
        type: "object",
        properties: { a: { type: "string" } },
        anyOf: [{ required: ["a"] }, { required: ["b"] }],
      },
      want: { type: "OBJECT", properties: { a: string } },
    },
    {
      name: "keeps what is nullable",
      schema: { type: "string", nullable: true },
      want: { type: "STRING", nullable: true },
    },
    {
      name: "takes a null alone for a text that may be null",
      schema: { type: "null" },
      want: { type: "STRING", nullable: true },
    },
    { name: "makes a constant text an enum", schema: { const: "x" }, want: { type: "STRING", enum: ["x"] } },
    {
      name: "tells a constant number in words",
      schema: { const: 3 },
      want: { type: "INTEGER", description: "one of 3" },
    },
    {
      name: "leaves empty and null out of an enum",
      schema: { type: "string", enum: ["", "a", null] },
      want: { type: "STRING", nullable: true, enum: ["a"] },
    },
    {
      name: "requires only properties that exist",
      schema: { type: "object", properties: { a: { type: "string" } }, required: ["a", "b"] },
      want: { type: "OBJECT", properties: { a: string }, required: ["a"] },
    },
    { name: "gives a list without items texts", schema: { type: "array" }, want: { type: "ARRAY", items: string } },
    {
      name: "makes a tuple a choice of its entries",
      schema: { type: "array", items: [{ type: "string" }, { type: "number" }] },
      want: { type: "ARRAY", items: { anyOf: [string, { type: "NUMBER" }] } },
    },
    {
      name: "takes anything for a text and leaves what cannot be out",
      schema: { type: "object", properties: { any: true, never: false } },
      want: { type: "OBJECT", properties: { any: string } },
    },
    {
      name: "keeps formats of the type and drops others",
      schema: {
        type: "object",
        properties: { i: { type: "integer", format: "int64" }, u: { type: "string", format: "uri" } },
      },
      want: { type: "OBJECT", properties: { i: { type: "INTEGER", format: "int64" }, u: string } },
    },
    {
      name: "reads the older spelling of exclusive bounds",
      schema: { type: "integer", minimum: 0, exclusiveMinimum: true },
      want: { type: "INTEGER", minimum: 1 },
    },
  ]) {
    it(row.name, () => assert.deepEqual(toGoogleSchema(row.schema), row.want));
  }

  it("names the order of properties where asked", () => {
    const schema = { type: "object", properties: { b: { type: "string" }, a: { type: "string" } } };
    assert.deepEqual(toGoogleSchema(schema, { ordersProperties: true })["propertyOrdering"], ["b", "a"]);
  });

  it("ends definitions that grow beyond all use by referring to each other", () => {
    const $defs: Record<string, unknown> = { D0: { type: "string" } };
    for (let level = 1; level < 40; level += 1) {
      const reference = { $ref: `#/$defs/D${level - 1}` };
      $defs[`D${level}`] = { type: "object", properties: { a: reference, b: reference } };
    }
    const started = performance.now();
    toGoogleSchema({ $ref: "#/$defs/D39", $defs });
    assert.ok(performance.now() - started < 1000);
  });

  const $defs = {
    A: { type: "object", anyOf: [{ $ref: "#/$defs/B" }, { properties: { x: { type: "string" } } }] },
    B: { type: "object", anyOf: [{ $ref: "#/$defs/A" }, { properties: { y: { type: "string" } } }] },
  };
  for (const schema of [
    { anyOf: [{ $ref: "#", type: "object" }, {}] },
    { type: "object", anyOf: [{ $ref: "#" }, { required: ["a"], type: "object" }] },
    { type: "object", oneOf: [{ allOf: [{ $ref: "#" }] }, { properties: { x: {} } }] },
    { $ref: "#/$defs/A", $defs },
  ]) {
    it(`ends a union with itself among its branches: ${JSON.stringify(schema).slice(0, 60)}`, () => {
      const converted = JSON.stringify(toGoogleSchema(schema));
      assert.ok(converted.includes("anyOf"));
      assert.ok(converted.length < 10_000);
    });
  }

  it("gives nothing but keywords that Google knows, and never touches a prototype", () => {
    fc.assert(
      fc.property(anySchema(), (schema) => {
        for (const node of nodes(toGoogleSchema(schema))) {
          for (const keyword of Object.keys(node)) assert.ok(keywords.has(keyword), keyword);
        }
        assert.equal(Reflect.get({}, "polluted"), undefined);
      }),
    );
  });
});

function* nodes(schema: Readonly<Record<string, unknown>>): Generator<Readonly<Record<string, unknown>>> {
  yield schema;
  const inner = [schema["items"], ...list(schema["anyOf"]), ...Object.values(schema["properties"] ?? {})];
  for (const node of inner) if (typeof node === "object" && node !== null) yield* nodes({ ...node });
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Objects full of keywords with values of any kind, `__proto__` among the names. */
function anySchema(): fc.Arbitrary<Record<string, unknown>> {
  const names = fc.constantFrom(
    ...[
      "type",
      "properties",
      "items",
      "anyOf",
      "oneOf",
      "allOf",
      "$ref",
      "$defs",
      "enum",
      "const",
      "required",
      "nullable",
    ],
    ...["minimum", "exclusiveMinimum", "format", "description", "additionalProperties", "__proto__", "a"],
  );
  const { node } = fc.letrec<{ node: Record<string, unknown>; value: unknown }>((tie) => ({
    node: fc.dictionary(names, tie("value"), { maxKeys: 6, noNullPrototype: false }),
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>("object", "array", "string", "#/$defs/a", "#", true, false, null, 3, 1.5, [
        "string",
        "null",
      ]),
      tie("node"),
      fc.array(tie("node"), { maxLength: 3 }),
    ),
  }));
  return node;
}
