import assert from "node:assert/strict";
import { isStrictSchema } from "#proxy/neutral/schema/strict-schema";

const closed = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };

describe("isStrictSchema()", () => {
  for (const row of [
    { name: "takes a closed object with all properties required", schema: closed, want: true },
    { name: "refuses an open object", schema: { ...closed, additionalProperties: true }, want: false },
    { name: "refuses an optional property", schema: { ...closed, required: [] }, want: false },
    { name: "refuses a root that is no object", schema: { type: "array", items: closed }, want: false },
    {
      name: "looks into properties, items and branches",
      schema: { ...closed, properties: { a: { anyOf: [{ type: "array", items: { type: "object" } }, closed] } } },
      want: false,
    },
    {
      name: "takes references and looks at what they mean",
      schema: { ...closed, properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: closed } },
      want: true,
    },
    { name: "refuses a keyword that strict mode has not", schema: { ...closed, allOf: [] }, want: false },
    { name: "refuses a property of any kind", schema: { ...closed, properties: { a: {} } }, want: false },
    {
      name: "takes a property named like a keyword",
      schema: { ...closed, properties: { a: closed, not: { type: "string" } }, required: ["a", "not"] },
      want: true,
    },
  ]) {
    it(row.name, () => assert.equal(isStrictSchema(row.schema), row.want));
  }
});
