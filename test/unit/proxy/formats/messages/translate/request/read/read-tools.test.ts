import assert from "node:assert/strict";
import { readBody, refusalOf } from "#test/support/translation/messages-exchange";

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

describe("messages: readRequest, tools", () => {
  for (const row of [
    {
      name: "reads a tool",
      tool: {
        name: "f",
        description: "F",
        input_schema: { type: "object" },
        strict: true,
        cache_control: { type: "ephemeral" },
      },
      want: {
        kind: "function",
        name: "f",
        description: "F",
        schema: { type: "object" },
        strict: true,
        cache: {},
        where: "tools.0",
      },
    },
    {
      name: "pitfall 79: reads a tool that says its type, and one without schema",
      tool: { type: "custom", name: "f" },
      want: { kind: "function", name: "f", where: "tools.0" },
    },
    {
      name: "reads a search with its limits",
      tool: {
        type: "web_search_20250305",
        name: "web_search",
        max_uses: 3,
        allowed_domains: ["a.example"],
        blocked_domains: null,
        user_location: { type: "approximate", city: "Bern" },
      },
      want: {
        kind: "hosted",
        tool: "web-search",
        type: "web_search_20250305",
        where: "tools.0",
        search: { allowedDomains: ["a.example"], maxUses: 3, userLocation: { city: "Bern" } },
      },
    },
    {
      name: "reads the vendor's code tool",
      tool: { type: "code_execution_20260521", name: "code_execution" },
      want: { kind: "hosted", tool: "code", type: "code_execution_20260521", where: "tools.0" },
    },
  ]) {
    it(row.name, () => assert.deepEqual(plain(readBody({ tools: [row.tool] }).tools[0]), row.want));
  }

  for (const type of ["bash_20250124", "text_editor_20250728", "memory_20250818"]) {
    it(`gives ${type}, which the client runs, the schema that is not in the request`, () => {
      const [tool] = readBody({ tools: [{ type, name: "own_name" }] }).tools;
      assert.equal(tool?.kind, "function");
      assert.ok(tool.kind === "function" && tool.name === "own_name");
      assert.ok(Object.hasOwn(Object(tool.schema?.["properties"]), "command"));
    });
  }

  it("names hints of tools that other formats have no word for, and not those that say what is usual", () => {
    const tools = [
      { name: "f", defer_loading: true, input_examples: [{ x: 1 }], allowed_callers: ["direct"] },
      { name: "g", eager_input_streaming: false, input_examples: [], allowed_callers: ["code_execution_20260521"] },
    ];
    assert.deepEqual(readBody({ tools }).unmapped, [
      "tools.0.defer_loading",
      "tools.0.input_examples",
      "tools.1.allowed_callers",
    ]);
  });

  for (const row of [
    { choice: { type: "auto" }, want: { toolChoice: { type: "auto" } } },
    { choice: { type: "any" }, want: { toolChoice: { type: "required" } } },
    { choice: { type: "none" }, want: { toolChoice: { type: "none" } } },
    { choice: { type: "tool", name: "f" }, want: { toolChoice: { type: "named", name: "f" } } },
    {
      choice: { type: "auto", disable_parallel_tool_use: true },
      want: { toolChoice: { type: "auto" }, parallelTools: false },
    },
    {
      choice: { type: "auto", disable_parallel_tool_use: false },
      want: { toolChoice: { type: "auto" } },
    },
    { choice: null, want: {} },
  ]) {
    it(`pitfall 77: reads the choice ${JSON.stringify(row.choice)}`, () => {
      const { toolChoice, parallelTools } = readBody({ tools: [{ name: "f" }], tool_choice: row.choice });
      assert.deepEqual(plain({ toolChoice, parallelTools }), row.want);
    });
  }

  for (const row of [
    { name: "a tool without name", body: { tools: [{}] }, want: "invalid_type tools.0.name" },
    { name: "a tool of empty name", body: { tools: [{ name: "" }] }, want: "invalid_value tools.0.name" },
    { name: "a tool of unknown type", body: { tools: [{ type: "hologram_1" }] }, want: "invalid_value tools.0.type" },
    {
      name: "a schema that is text",
      body: { tools: [{ name: "f", input_schema: "x" }] },
      want: "invalid_type tools.0.input_schema",
    },
    { name: "an unknown choice", body: { tool_choice: { type: "maybe" } }, want: "invalid_value tool_choice.type" },
    { name: "a choice of no tool", body: { tool_choice: { type: "tool" } }, want: "invalid_type tool_choice.name" },
  ]) {
    it(`refuses ${row.name}`, () =>
      assert.equal(
        refusalOf(() => readBody(row.body)),
        row.want,
      ));
  }
});
