import assert from "node:assert/strict";
import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { Conversation } from "#proxy/neutral/conversation";
import { endpoint } from "#test/unit/proxy/formats/generate-content/translate/replay";

const hi = { role: "user", parts: [{ text: "hi" }] };

function read(body: JsonObject): Conversation {
  return generateContentClientTranslator.readRequest(body, endpoint);
}

describe("readRequest() of generateContent: tools", () => {
  it("reads declarations, built-in tools and the choice", () => {
    const got = read({
      contents: [hi],
      tools: [
        {
          function_declarations: [
            { name: "f", description: "F" },
            { name: "g", parameters: { type: "OBJECT", properties: { snake_case: { type: "STRING" } } } },
            { name: "h", parametersJsonSchema: { type: "object", additionalProperties: false } },
          ],
        },
        { googleSearch: {} },
        { code_execution: {} },
        { urlContext: {} },
      ],
      tool_config: { function_calling_config: { mode: "ANY", allowed_function_names: ["f", "g"] } },
    });
    assert.deepEqual(got.tools, [
      { kind: "function", name: "f", description: "F", where: "tools[0].functionDeclarations[0]" },
      {
        kind: "function",
        name: "g",
        schema: { type: "object", properties: { snake_case: { type: "string" } } },
        where: "tools[0].functionDeclarations[1]",
      },
      {
        kind: "function",
        name: "h",
        schema: { type: "object", additionalProperties: false },
        where: "tools[0].functionDeclarations[2]",
      },
      { kind: "hosted", tool: "web-search", type: "googleSearch", where: "tools[1].googleSearch" },
      { kind: "hosted", tool: "code", type: "code_execution", where: "tools[2].code_execution" },
      { kind: "hosted", tool: "web-fetch", type: "urlContext", where: "tools[3].urlContext" },
    ]);
    assert.deepEqual(got.toolChoice, { type: "required", only: ["f", "g"] });
  });

  for (const row of [
    { name: "AUTO", calling: { mode: "AUTO" }, want: { type: "auto" } },
    { name: "NONE", calling: { mode: "NONE" }, want: { type: "none" } },
    { name: "ANY", calling: { mode: "ANY" }, want: { type: "required" } },
    {
      name: "ANY of one function",
      calling: { mode: "ANY", allowedFunctionNames: ["f"] },
      want: { type: "named", name: "f" },
    },
    {
      name: "VALIDATED of some",
      calling: { mode: "VALIDATED", allowedFunctionNames: ["f"] },
      want: { type: "auto", only: ["f"] },
    },
    { name: "a mode that is a number", calling: { mode: 2 }, want: { type: "required" } },
    { name: "no mode", calling: {}, want: undefined },
  ]) {
    it(`reads the choice: ${row.name}`, () => {
      const got = read({ contents: "hi", toolConfig: { functionCallingConfig: row.calling } });
      assert.deepEqual(got.toolChoice, row.want);
    });
  }

  it("makes functions strict where calls are validated, and only there", () => {
    const tools = { functionDeclarations: [{ name: "f" }] };
    const withMode = (mode: string): Conversation =>
      read({
        contents: "hi",
        tools,
        toolConfig: { functionCallingConfig: { mode, allowedFunctionNames: ["f"] } },
      });
    for (const mode of ["AUTO", "ANY", "NONE"]) assert.ok(!("strict" in (withMode(mode).tools[0] ?? {})), mode);
    const got = withMode("VALIDATED");
    assert.deepEqual(got.tools, [
      {
        kind: "function",
        name: "f",
        strict: true,
        strictWhere: "toolConfig.functionCallingConfig.mode",
        where: "tools.functionDeclarations[0]",
      },
    ]);
  });
});
