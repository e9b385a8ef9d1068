import assert from "node:assert/strict";
import fc from "fast-check";
import {
  customArguments,
  customText,
  customToolAsFunction,
  functionArguments,
} from "#proxy/neutral/tools/custom-tools";

describe("custom tools", () => {
  for (const row of [
    { name: "a text tool becomes a function with one text", format: { type: "text" }, hint: undefined },
    {
      name: "a grammar of chat completions becomes words",
      format: { type: "grammar", grammar: { syntax: "lark", definition: "start: A" } },
      hint: "Text that follows this lark grammar:\nstart: A",
    },
    {
      name: "a grammar of responses becomes words",
      format: { type: "grammar", syntax: "regex", definition: "a+" },
      hint: "Text that follows this regex grammar:\na+",
    },
  ]) {
    it(row.name, () => {
      const tool = customToolAsFunction({ kind: "custom", name: "sql", description: "D", format: row.format });
      assert.deepEqual(tool.schema, {
        type: "object",
        properties: { input: { type: "string", ...(row.hint === undefined ? {} : { description: row.hint }) } },
        required: ["input"],
        additionalProperties: false,
      });
      assert.equal(tool.description, "D");
    });
  }

  it("gives back the text that it wrapped", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => assert.equal(customText(customArguments(text)), text)),
    );
  });

  it("leaves arguments of another shape as they are", () => {
    for (const text of ['{"other":1}', "no json", '{"input":1}', "[]"]) assert.equal(customText(text), text);
  });

  it("wraps a custom call and leaves a function's arguments alone", () => {
    assert.equal(functionArguments({ tool: "custom", arguments: "SELECT 1" }), '{"input":"SELECT 1"}');
    assert.equal(functionArguments({ tool: "function", arguments: "{}" }), "{}");
  });
});
