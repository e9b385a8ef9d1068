import assert from "node:assert/strict";
import { closeSchema } from "#proxy/formats/messages/translate/request/write/closed-schema";
import type { JsonObject } from "#proxy/json/json-value";

const text = { type: "string" };

function object(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: "object", properties, ...more };
}
function closed(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { ...object(properties, more), additionalProperties: false };
}

describe("closeSchema()", () => {
  for (const row of [
    {
      name: "closes every object",
      schema: object({ a: object({ b: text }) }),
      want: closed({ a: closed({ b: text }) }),
    },
    {
      name: "tells limits in words",
      schema: object({
        n: { type: "integer", minimum: 0, description: "N" },
        s: { ...text, maxLength: 3, pattern: "^a" },
      }),
      want: closed({
        n: { type: "integer", description: "N {minimum: 0}" },
        s: { ...text, description: '{maxLength: 3} {pattern: "^a"}' },
      }),
    },
    {
      name: "keeps the formats and counts that it may, and tells the others",
      schema: object({
        day: { ...text, format: "date" },
        hue: { ...text, format: "color" },
        one: { type: "array", items: text, minItems: 1 },
        two: { type: "array", items: text, minItems: 2 },
      }),
      want: closed({
        day: { ...text, format: "date" },
        hue: { ...text, description: '{format: "color"}' },
        one: { type: "array", items: text, minItems: 1 },
        two: { type: "array", items: text, description: "{minItems: 2}" },
      }),
    },
    {
      name: "says oneOf as anyOf and keeps allOf",
      schema: object({ a: { oneOf: [text, { type: "null" }] }, b: { allOf: [object({ c: text })] } }),
      want: closed({ a: { anyOf: [text, { type: "null" }] }, b: { allOf: [closed({ c: text })] } }),
    },
    {
      name: "joins objects that must hold at once",
      schema: object({
        pet: {
          allOf: [object({ name: text }, { required: ["name"] }), object({ age: text }, { required: ["age"] })],
          description: "P",
        },
      }),
      want: closed({
        pet: closed({ name: text, age: text }, { description: "P", required: ["name", "age"] }),
      }),
    },
    {
      name: "joins what references and further branches lead to, and both schemas of one property",
      schema: object(
        { a: { properties: { kind: text }, allOf: [{ $ref: "#/$defs/B" }] } },
        {
          $defs: {
            B: { allOf: [object({ kind: { const: "b" } }), { $ref: "#/$defs/C" }] },
            C: object({ c: text }),
          },
        },
      ),
      want: closed(
        { a: closed({ kind: { allOf: [text, { const: "b" }] }, c: text }) },
        { $defs: { B: closed({ kind: { const: "b" }, c: text }), C: closed({ c: text }) } },
      ),
    },
    {
      name: "keeps conditions on the properties of one object",
      schema: object({ a: object({ b: text, c: text }, { anyOf: [{ required: ["b"] }, { required: ["c"] }] }) }),
      want: closed({ a: closed({ b: text, c: text }, { anyOf: [{ required: ["b"] }, { required: ["c"] }] }) }),
    },
    {
      name: "keeps alternatives that are whole objects",
      schema: object({ a: { anyOf: [object({ b: text }), object({ c: text })] } }),
      want: closed({ a: { anyOf: [closed({ b: text }), closed({ c: text })] } }),
    },
    {
      name: "says several types as alternatives",
      schema: object({
        a: { type: ["string", "null"], description: "A" },
        b: { type: ["null", "object"], properties: { c: text } },
      }),
      want: closed({
        a: { description: "A", anyOf: [text, { type: "null" }] },
        b: { anyOf: [{ type: "null" }, closed({ c: text })] },
      }),
    },
    {
      name: "lets an enumeration speak for its types",
      schema: object({ a: { type: ["string", "null"], enum: ["x", null] } }),
      want: closed({ a: { enum: ["x", null] } }),
    },
    {
      name: "keeps references alone, and closes what they refer to",
      schema: object({ a: { $ref: "#/$defs/A", description: "gone" } }, { $defs: { A: object({ b: text }) } }),
      want: closed({ a: { $ref: "#/$defs/A" } }, { $defs: { A: closed({ b: text }) } }),
    },
    {
      name: "drops what is said to tools only, and objects as constants",
      schema: object(
        { a: { const: { b: 1 } }, c: { const: "x" } },
        { $schema: "s", $id: "i", $comment: "c", examples: [] },
      ),
      want: closed({ a: { description: '{const: {"b":1}}' }, c: { const: "x" } }),
    },
    {
      name: "pitfall 68: takes properties named like keywords for properties",
      schema: object({ $id: text, format: text, minimum: { type: "integer" } }),
      want: closed({ $id: text, format: text, minimum: { type: "integer" } }),
    },
    {
      name: "keeps values as they are",
      schema: object({ a: { ...text, default: { minimum: 1 }, enum: ["minimum"] } }),
      want: closed({ a: { ...text, default: { minimum: 1 }, enum: ["minimum"] } }),
    },
    { name: "keeps an object that is always empty", schema: closed({}), want: closed({}) },
    { name: "lets anything be where true stands", schema: object({ a: true }), want: closed({ a: {} }) },
  ]) {
    it(row.name, () => assert.deepEqual(closeSchema(row.schema), row.want));
  }

  for (const row of [
    { name: "objects of open names", schema: object({ a: { type: "object", additionalProperties: text } }) },
    { name: "objects of which nothing is said", schema: object({ a: { type: "object" } }) },
    { name: "further members of no said type", schema: object({ a: { additionalProperties: text } }) },
    {
      name: "alternatives beside an object's own properties",
      schema: object(
        { a: object({ b: text }, { anyOf: [{ properties: { x: text } }, { $ref: "#/$defs/Y" }] }) },
        {
          $defs: { Y: object({ y: text }) },
        },
      ),
    },
    {
      name: "alternatives that a branch brings to properties",
      schema: object({ a: { allOf: [{ anyOf: [object({ x: text }), object({ y: text })] }, object({ b: text })] } }),
    },
    {
      name: "names by pattern",
      schema: object({ a: { type: "object", patternProperties: { "^x": text }, additionalProperties: false } }),
    },
    {
      name: "two lists of alternatives",
      schema: object({ a: { anyOf: [text], oneOf: [text] } }),
    },
    {
      name: "joined objects that contradict each other",
      schema: object({
        a: { allOf: [object({ b: text }, { minProperties: 1 }), object({ c: text }, { minProperties: 2 })] },
      }),
    },
    { name: "recursion", schema: object({ child: { $ref: "#" } }) },
    {
      name: "recursion in definitions",
      schema: object({ a: { $ref: "#/$defs/A" } }, { $defs: { A: object({ a: { $ref: "#/$defs/A" } }) } }),
    },
  ]) {
    it(`cannot say ${row.name}`, () => assert.equal(closeSchema(row.schema), undefined));
  }

  it("does not hang on many references to one place", () => {
    const defs: Record<string, JsonObject> = { A0: text };
    for (let index = 1; index < 40; index += 1) {
      defs[`A${index}`] = object({ l: { $ref: `#/$defs/A${index - 1}` }, r: { $ref: `#/$defs/A${index - 1}` } });
    }
    assert.notEqual(closeSchema(object({ a: { $ref: "#/$defs/A39" } }, { $defs: defs })), undefined);
  });
  it("does not hang on definitions that are joined twice each", () => {
    const defs: Record<string, JsonObject> = { A0: object({ a: text }) };
    for (let index = 1; index < 40; index += 1) {
      const joined = { allOf: [{ $ref: `#/$defs/A${index - 1}` }, object({ b: text })] };
      defs[`A${index}`] = object({ l: joined, r: joined });
    }
    assert.equal(closeSchema(object({ a: { $ref: "#/$defs/A39" } }, { $defs: defs })), undefined);
  });
  it("does not take __proto__ for a prototype", () => {
    const properties = JSON.parse('{"__proto__":{"type":"string"}}');
    assert.deepEqual(Object.keys(Object(closeSchema(object(properties))?.["properties"])), ["__proto__"]);
  });
});
