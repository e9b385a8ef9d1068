import assert from "node:assert/strict";
import { currentSchema } from "#proxy/neutral/schema/current-schema";

const text = { type: "string" };
const pair = { type: "array", items: [text, { type: "integer" }] };
const currentPair = { type: "array", prefixItems: [text, { type: "integer" }] };

describe("currentSchema()", () => {
  for (const row of [
    { name: "says items by their place as prefixItems", schema: pair, want: currentPair },
    {
      name: "says what may follow them as items",
      schema: { ...pair, additionalItems: false },
      want: { ...currentPair, items: false },
    },
    { name: "forgets that anything may follow", schema: { ...pair, additionalItems: true }, want: currentPair },
    {
      name: "makes flags beside bounds the bounds",
      schema: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: true },
      want: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 9 },
    },
    {
      name: "drops flags that say nothing",
      schema: { type: "number", minimum: 0, exclusiveMinimum: false, exclusiveMaximum: true },
      want: { type: "number", minimum: 0 },
    },
    {
      name: "does so wherever a schema stands",
      schema: {
        type: "object",
        properties: { a: pair },
        additionalProperties: pair,
        anyOf: [{ items: pair }],
        $defs: { A: pair },
      },
      want: {
        type: "object",
        properties: { a: currentPair },
        additionalProperties: currentPair,
        anyOf: [{ items: currentPair }],
        $defs: { A: currentPair },
      },
    },
  ]) {
    it(row.name, () => assert.deepEqual(currentSchema(row.schema), row.want));
  }

  it("gives back the same object when nothing is old, whatever values and names look like", () => {
    const schema = {
      type: "object",
      properties: { exclusiveMinimum: { type: "boolean" }, items: text },
      default: { exclusiveMinimum: true, items: [] },
      required: ["items"],
      minimum: 1,
      exclusiveMaximum: 5,
    };
    assert.equal(currentSchema(schema), schema);
  });
  it("does not take __proto__ for a prototype", () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"exclusiveMinimum":true,"minimum":1}}}');
    assert.equal(JSON.stringify(currentSchema(schema)), '{"properties":{"__proto__":{"exclusiveMinimum":1}}}');
  });
});
