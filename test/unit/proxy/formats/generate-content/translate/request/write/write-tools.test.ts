import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import type { Tool, Turn } from "#proxy/neutral/conversation";
import { targetOf, writeFor } from "#test/unit/proxy/formats/generate-content/translate/replay";

const user: Turn = { role: "user", parts: [{ kind: "text", text: "hi" }] };

const f: Tool = { kind: "function", name: "f", description: "F" };

const g: Tool = {
  kind: "function",
  name: "g",
  schema: { type: "object", properties: { x: { type: "integer" } }, required: ["x"] },
};

const search: Tool = { kind: "hosted", tool: "web-search", type: "web_search", where: "tools[0]" };

function call(id: string, name: string, args = "{}"): Extract<Turn["parts"][number], { kind: "call" }> {
  return { kind: "call", id, name, tool: "function", arguments: args };
}

function result(callId: string, text: string): Extract<Turn["parts"][number], { kind: "result" }> {
  return { kind: "result", callId, content: [{ kind: "text", text }] };
}

describe("writeRequest() of generateContent: tools", () => {
  it("pitfall 78: says nothing of tools when there are none", () => {
    const { body } = writeFor({ tools: [], toolChoice: { type: "required" } });
    assert.deepEqual(Object.keys(body), ["contents"]);
  });

  it("declares all functions at once, those without arguments without parameters", () => {
    const { body } = writeFor({
      tools: [f, g, { kind: "function", name: "h", schema: { type: "object", properties: {} } }],
    });
    assert.deepEqual(body["tools"], [
      {
        functionDeclarations: [
          { name: "f", description: "F" },
          {
            name: "g",
            parametersJsonSchema: { type: "object", properties: { x: { type: "integer" } }, required: ["x"] },
          },
          { name: "h" },
        ],
      },
    ]);
  });

  it("pitfall 67: converts schemas for models that know no JSON Schema", () => {
    const { body } = writeFor({ tools: [g] }, targetOf("gemini-2.0-flash"));
    assert.deepEqual(body["tools"], [
      {
        functionDeclarations: [
          { name: "g", parameters: { type: "OBJECT", properties: { x: { type: "INTEGER" } }, required: ["x"] } },
        ],
      },
    ]);
  });

  it("keeps a map of names that nobody knows where the model takes one, else names no arguments", () => {
    const map: Tool = {
      kind: "function",
      name: "m",
      schema: { type: "object", additionalProperties: { type: "string" } },
    };
    const declared = (model: string): unknown => {
      const [tool] = Object(writeFor({ tools: [map] }, targetOf(model)).body["tools"]);
      return tool.functionDeclarations[0];
    };
    assert.deepEqual(declared("gemini-3-pro"), { name: "m", parametersJsonSchema: map.schema });
    assert.deepEqual(declared("gemini-2.0-flash"), { name: "m" });
  });

  for (const row of [
    { name: "pitfall 77: none", choice: { type: "none" }, want: { mode: "NONE" } },
    { name: "pitfall 77: auto", choice: { type: "auto" }, want: { mode: "AUTO" } },
    { name: "pitfall 77: required", choice: { type: "required" }, want: { mode: "ANY" } },
    {
      name: "pitfall 77: one function",
      choice: { type: "named", name: "f" },
      want: { mode: "ANY", allowedFunctionNames: ["f"] },
    },
    {
      name: "some functions",
      choice: { type: "required", only: ["f", "g"] },
      want: { mode: "ANY", allowedFunctionNames: ["f", "g"] },
    },
    {
      name: "perhaps some functions",
      choice: { type: "auto", only: ["f"] },
      want: { mode: "VALIDATED", allowedFunctionNames: ["f"] },
    },
    { name: "nothing", choice: undefined, want: undefined },
  ] as const) {
    it(`writes the choice: ${row.name}`, () => {
      const { body } = writeFor({ tools: [f, g], toolChoice: row.choice });
      assert.deepEqual(body["toolConfig"], row.want === undefined ? undefined : { functionCallingConfig: row.want });
    });
  }

  it("leaves other tools out where a model knows no VALIDATED", () => {
    const { body } = writeFor(
      { tools: [f, g], toolChoice: { type: "auto", only: ["f"] } },
      targetOf("gemini-2.0-flash"),
    );
    assert.deepEqual(body["tools"], [{ functionDeclarations: [{ name: "f", description: "F" }] }]);
    assert.deepEqual(body["toolConfig"], { functionCallingConfig: { mode: "AUTO" } });
  });

  it("pitfall 82: checks the calls of strict tools where the model can", () => {
    const strict = { ...g, strict: true } as const;
    const mode = (model: string): unknown =>
      writeFor({ tools: [strict], toolChoice: { type: "auto" } }, targetOf(model)).body["toolConfig"];
    assert.deepEqual(mode("gemini-3-pro"), { functionCallingConfig: { mode: "VALIDATED" } });
    assert.deepEqual(mode("gemini-2.0-flash"), { functionCallingConfig: { mode: "AUTO" } });
  });

  it("declares where calls of strict tools are not checked", () => {
    const tools = [{ ...g, strict: true, where: "tools[1]" } as const];
    assert.deepEqual(writeFor({ tools }, targetOf("gemini-2.0-flash")).dropped, ["tools[1].strict"]);
    assert.deepEqual(writeFor({ tools }, targetOf("gemini-3-pro")).dropped, []);
  });

  it("loses nothing that a client of the older functions never said", () => {
    assert.deepEqual(writeFor({ tools: [g], parallelTools: false, usesLegacyFunctions: true }).dropped, []);
    assert.deepEqual(writeFor({ tools: [g], parallelTools: false }).dropped, ["parallelTools"]);
  });

  it("pitfall 80: sends built-in tools that Google has, and refuses others", () => {
    assert.deepEqual(writeFor({ tools: [search] }).body["tools"], [{ googleSearch: {} }]);
    const fileSearch: Tool = { kind: "hosted", tool: "file-search", type: "file_search", where: "tools[0]" };
    assert.throws(
      () => writeFor({ tools: [fileSearch] }),
      (error) => error instanceof GatewayError && error.param === "tools[0]",
    );
    assert.deepEqual(writeFor({ tools: [f, fileSearch] }).dropped, ["tools[0]"]);
  });

  it("mixes built-in tools and functions only for models that can", () => {
    assert.deepEqual(writeFor({ tools: [f, search] }).body["tools"], [
      { functionDeclarations: [{ name: "f", description: "F" }] },
      { googleSearch: {} },
    ]);
    const older = writeFor({ tools: [f, search] }, targetOf("gemini-2.5-pro"));
    assert.deepEqual(older.body["tools"], [{ functionDeclarations: [{ name: "f", description: "F" }] }]);
    assert.deepEqual(older.dropped, ["tools[0]"]);
  });

  it("names no function in the choice that is not declared", () => {
    const written = writeFor({ tools: [f], toolChoice: { type: "named", name: "web_search" } });
    assert.equal(written.body["toolConfig"], undefined);
    assert.deepEqual(written.dropped, ["toolChoice"]);
    const { body } = writeFor({ tools: [f], toolChoice: { type: "required", only: ["f", "x"] } });
    assert.deepEqual(body["toolConfig"], { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } });
  });

  it("leaves built-in tools out where none may be used, and declares that it cannot ask for one", () => {
    const none = writeFor({ tools: [f, search], toolChoice: { type: "none" } });
    assert.deepEqual(none.body["tools"], [{ functionDeclarations: [{ name: "f", description: "F" }] }]);
    assert.deepEqual(writeFor({ tools: [search], toolChoice: { type: "required" } }).dropped, ["toolChoice"]);
  });

  it("keeps the last of several tools with one name, and declares the others", () => {
    const written = writeFor({ tools: [{ ...f, description: "old", where: "tools[0]" }, f] });
    assert.deepEqual(written.body["tools"], [{ functionDeclarations: [{ name: "f", description: "F" }] }]);
    assert.deepEqual(written.dropped, ["tools[0]"]);
  });

  it("asks for a search once, and declares what Google's knows not", () => {
    const limited: Tool = { ...search, search: { allowedDomains: ["a.test"], maxUses: 2 } };
    const written = writeFor({ tools: [limited, search] });
    assert.deepEqual(written.body["tools"], [{ googleSearch: {} }]);
    assert.deepEqual(written.dropped, ["tools[0].allowed_domains", "tools[0].max_uses"]);
  });

  it("gives tools names that Google takes, everywhere, and says how to undo it", () => {
    const written = writeFor({
      tools: [{ kind: "function", name: "2/x" }],
      toolChoice: { type: "named", name: "2/x" },
      turns: [user, { role: "assistant", parts: [call("a", "2/x")] }, { role: "tool", parts: [result("a", "1")] }],
    });
    assert.ok(!JSON.stringify(written.body).includes("2/x"));
    assert.deepEqual([...(written.adaptation.toolNames ?? [])], [["_2_x", "2/x"]]);
  });

  it("wraps custom tools and their calls", () => {
    const written = writeFor({
      tools: [{ kind: "custom", name: "sql" }],
      turns: [user, { role: "assistant", parts: [{ ...call("a", "sql", "SELECT 1"), tool: "custom" }] }],
    });
    assert.ok(JSON.stringify(written.body).includes('"args":{"input":"SELECT 1"}'));
    assert.deepEqual(written.adaptation.customTools, new Set(["sql"]));
  });
});
