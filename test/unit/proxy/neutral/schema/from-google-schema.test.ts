import assert from "node:assert/strict";
import { fromGoogleSchema } from "#proxy/neutral/schema/from-google-schema";
import { toGoogleSchema } from "#proxy/neutral/schema/to-google-schema";

describe("fromGoogleSchema()", () => {
  for (const row of [
    {
      name: "writes types in lower case, at every depth",
      schema: { type: "OBJECT", properties: { a: { type: "ARRAY", items: { type: "STRING" } } }, required: ["a"] },
      want: { type: "object", properties: { a: { type: "array", items: { type: "string" } } }, required: ["a"] },
    },
    { name: "reads types that are numbers", schema: { type: 3 }, want: { type: "integer" } },
    { name: "drops an unspecified type", schema: { type: "TYPE_UNSPECIFIED" }, want: {} },
    { name: "makes nullable a type", schema: { type: "STRING", nullable: true }, want: { type: ["string", "null"] } },
    {
      name: "makes a nullable choice a choice of null too",
      schema: { anyOf: [{ type: "STRING" }], nullable: true },
      want: { anyOf: [{ type: "string" }, { type: "null" }] },
    },
    {
      name: "lets a nullable enum be null",
      schema: { type: "STRING", enum: ["a"], nullable: true },
      want: { type: ["string", "null"], enum: ["a", null] },
    },
    {
      name: "reads limits that are texts",
      schema: { type: "STRING", maxLength: "10" },
      want: { type: "string", maxLength: 10 },
    },
    {
      name: "orders properties as told",
      schema: { type: "OBJECT", properties: { a: {}, b: {}, c: {} }, propertyOrdering: ["c", "a"] },
      want: { type: "object", properties: { c: {}, a: {}, b: {} } },
    },
    {
      name: "gives an example as a list",
      schema: { type: "STRING", example: "x" },
      want: { type: "string", examples: ["x"] },
    },
    {
      name: "drops the format that only says enum",
      schema: { type: "STRING", format: "enum", enum: ["a"] },
      want: { type: "string", enum: ["a"] },
    },
    {
      name: "gives the values of an enum their type",
      schema: {
        properties: {
          apartment: { type: "INTEGER", format: "enum", enum: ["101", "-2"] },
          rate: { format: "enum", enum: ["1.5", "2"], type: "NUMBER" },
          open: { type: "BOOLEAN", enum: ["true"] },
          floor: { type: "INTEGER", enum: ["1"], nullable: true },
        },
      },
      want: {
        properties: {
          apartment: { type: "integer", enum: [101, -2] },
          rate: { enum: [1.5, 2], type: "number" },
          open: { type: "boolean", enum: [true] },
          floor: { type: ["integer", "null"], enum: [1, null] },
        },
      },
    },
    {
      name: "leaves out values that no value of the type can be",
      schema: {
        properties: {
          a: { type: "INTEGER", enum: ["1", "1.5", "one", ""] },
          b: { type: "BOOLEAN", enum: ["yes"] },
          c: { type: "NUMBER", enum: ["1e999", "0x10"] },
        },
      },
      want: { properties: { a: { type: "integer", enum: [1] }, b: { type: "boolean" }, c: { type: "number" } } },
    },
    {
      name: "orders properties as told in snake_case",
      schema: { properties: { a: {}, b: {} }, property_ordering: ["b"] },
      want: { properties: { b: {}, a: {} } },
    },
    {
      name: "reads snake_case, but never in names of properties",
      schema: { type: "OBJECT", properties: { min_items: { type: "ARRAY", min_items: 1 } } },
      want: { type: "object", properties: { min_items: { type: "array", minItems: 1 } } },
    },
    {
      name: "leaves real JSON Schema as it is",
      schema: { type: "object", properties: { type: { type: ["string", "null"] } }, additionalProperties: false },
      want: { type: "object", properties: { type: { type: ["string", "null"] } }, additionalProperties: false },
    },
  ]) {
    it(row.name, () => {
      const got = fromGoogleSchema(row.schema);
      assert.deepEqual(got, row.want);
      assert.equal(JSON.stringify(got), JSON.stringify(row.want));
    });
  }

  it("undoes what toGoogleSchema() did to a plain schema", () => {
    const schema = {
      type: "object",
      properties: { a: { type: ["string", "null"] }, b: { type: "array", items: { type: "integer", minimum: 1 } } },
      required: ["a"],
    };
    assert.deepEqual(fromGoogleSchema(toGoogleSchema(schema)), schema);
  });
});
