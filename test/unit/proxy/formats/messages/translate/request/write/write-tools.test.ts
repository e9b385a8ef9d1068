import assert from "node:assert/strict";
import type { Conversation, FunctionTool, HostedTool, ToolChoice } from "#proxy/neutral/conversation";
import {
  assistant,
  call,
  conversation,
  refusalOf,
  result,
  type TargetChanges,
  text,
  tool,
  user,
  writeBody,
} from "#test/support/translation/messages-exchange";

const f: FunctionTool = { kind: "function", name: "f" };
const g: FunctionTool = { kind: "function", name: "g" };
const search: HostedTool = { kind: "hosted", tool: "web-search", type: "web_search", where: "tools[1]" };
const empty = { type: "object", properties: {} };

function written(changes: Partial<Conversation>, target: TargetChanges = {}) {
  const { body, adaptation, dropped } = writeBody(conversation(changes), target);
  return { tools: body["tools"], choice: body["tool_choice"], adaptation, dropped };
}

describe("messages: writeRequest, tools", () => {
  for (const row of [
    { name: "gives a tool without schema an empty one", tools: [f], want: [{ name: "f", input_schema: empty }] },
    {
      name: "keeps the description and a schema of its own",
      tools: [{ ...f, description: "F", schema: { type: "object", minProperties: 1 } }],
      want: [{ name: "f", description: "F", input_schema: { type: "object", minProperties: 1 } }],
    },
    {
      name: "says a schema in the draft that the vendor checks",
      tools: [{ ...f, schema: { type: "object", properties: { n: { minimum: 0, exclusiveMinimum: true } } } }],
      want: [{ name: "f", input_schema: { type: "object", properties: { n: { exclusiveMinimum: 0 } } } }],
    },
    {
      name: "makes the root of a schema an object without alternatives",
      tools: [{ ...f, schema: { anyOf: [{ type: "object", properties: { a: { type: "string" } } }] } }],
      want: [{ name: "f", input_schema: { type: "object", properties: { a: { type: "string" } } } }],
    },
    {
      name: "keeps the last of two tools of one name",
      tools: [{ ...f, description: "first" }, g, { ...f, description: "last" }],
      want: [
        { name: "g", input_schema: empty },
        { name: "f", description: "last", input_schema: empty },
      ],
    },
    {
      name: "pitfall 106: keeps the cache mark of a tool",
      tools: [{ ...f, cache: { ttl: "1h" } }],
      want: [{ name: "f", input_schema: empty, cache_control: { type: "ephemeral", ttl: "1h" } }],
    },
    {
      name: "pitfall 81: carries strict, with a schema that is closed",
      tools: [{ ...f, strict: true, schema: { type: "object", properties: { n: { type: "integer", minimum: 0 } } } }],
      want: [
        {
          name: "f",
          input_schema: {
            type: "object",
            properties: { n: { type: "integer", description: "{minimum: 0}" } },
            additionalProperties: false,
          },
          strict: true,
        },
      ],
    },
    {
      name: "says of a strict tool that its arguments are an object, though its schema is a reference",
      tools: [
        {
          ...f,
          strict: true,
          schema: { $ref: "#/$defs/A", $defs: { A: { type: "object", properties: { n: { type: "integer" } } } } },
        },
      ],
      want: [
        {
          name: "f",
          input_schema: {
            type: "object",
            properties: { n: { type: "integer" } },
            additionalProperties: false,
            $defs: { A: { type: "object", properties: { n: { type: "integer" } }, additionalProperties: false } },
          },
          strict: true,
        },
      ],
    },
  ]) {
    it(row.name, () => assert.deepEqual(written({ tools: row.tools }).tools, row.want));
  }

  it("declares a strict tool that the model only hears of", () => {
    const tools = [{ ...f, strict: true, where: "tools[0]" }];
    assert.deepEqual(written({ tools }, { provider: "AnthropicCompatible" }).dropped, ["tools[0].strict"]);
    assert.deepEqual(written({ tools: [{ ...f, strict: false }] }).dropped, []);
  });

  it("changes names that the vendor refuses everywhere, and says so for the way back", () => {
    const turns = [user(text("hi")), assistant(call("a", { name: "my.tool" })), tool(result("a"))];
    const { body, adaptation } = writeBody(
      conversation({
        turns,
        tools: [{ ...f, name: "my.tool" }],
        toolChoice: { type: "named", name: "my.tool" },
      }),
    );
    assert.deepEqual(body["tools"], [{ name: "my_tool", input_schema: empty }]);
    assert.deepEqual(body["tool_choice"], { type: "tool", name: "my_tool" });
    assert.equal(Object(body["messages"])[1].content[0].name, "my_tool");
    assert.deepEqual([...(adaptation.toolNames ?? [])], [["my_tool", "my.tool"]]);
  });

  it("wraps custom tools and names them for the way back", () => {
    const { tools, adaptation } = written({ tools: [{ kind: "custom", name: "sql" }] });
    assert.deepEqual(Object(tools)[0].input_schema.required, ["input"]);
    assert.deepEqual([...(adaptation.customTools ?? [])], ["sql"]);
  });

  it("pitfall 76: declares the tools of a history without tools, and lets none be called", () => {
    const turns = [user(text("hi")), assistant(call("a"), call("b", { name: "g" })), tool(result("a"), result("b"))];
    const { tools, choice } = written({ turns });
    assert.deepEqual(tools, [
      { name: "f", input_schema: { type: "object" } },
      { name: "g", input_schema: { type: "object" } },
    ]);
    assert.deepEqual(choice, { type: "none" });
  });

  for (const row of [
    { choice: undefined, parallel: undefined, want: undefined },
    { choice: { type: "auto" }, parallel: undefined, want: { type: "auto" } },
    { choice: { type: "none" }, parallel: false, want: { type: "none" } },
    { choice: { type: "required" }, parallel: undefined, want: { type: "any" } },
    { choice: { type: "named", name: "f" }, parallel: undefined, want: { type: "tool", name: "f" } },
    { choice: undefined, parallel: false, want: { type: "auto", disable_parallel_tool_use: true } },
    { choice: undefined, parallel: true, want: undefined },
    { choice: { type: "required" }, parallel: false, want: { type: "any", disable_parallel_tool_use: true } },
  ] satisfies { choice: ToolChoice | undefined; parallel: boolean | undefined; want: object | undefined }[]) {
    it(`pitfall 77: says the choice ${JSON.stringify(row.choice)} with parallel ${row.parallel}`, () =>
      assert.deepEqual(written({ tools: [f], toolChoice: row.choice, parallelTools: row.parallel }).choice, row.want));
  }

  it("sends only the tools that may be called", () => {
    const { tools, choice } = written({ tools: [f, g], toolChoice: { type: "required", only: ["g"] } });
    assert.deepEqual(tools, [{ name: "g", input_schema: empty }]);
    assert.deepEqual(choice, { type: "any" });
  });

  it("pitfall 78: leaves tools and choice out where there are none", () => {
    const { body } = writeBody(conversation({ tools: [], toolChoice: { type: "auto" }, parallelTools: false }));
    assert.equal(Object.hasOwn(body, "tools"), false);
    assert.equal(Object.hasOwn(body, "tool_choice"), false);
  });

  describe("tools of the provider", () => {
    it("writes a search as the vendor's own", () => {
      const details = {
        allowedDomains: ["a.example"],
        blockedDomains: ["b.example"],
        maxUses: 2,
        userLocation: { city: "Bern" },
      };
      assert.deepEqual(written({ tools: [{ ...search, search: details }] }).tools, [
        {
          type: "web_search_20250305",
          name: "web_search",
          max_uses: 2,
          allowed_domains: ["a.example"],
          user_location: { type: "approximate", city: "Bern" },
        },
      ]);
    });
    it("asks for one search, the last that the client wrote, and declares the other", () => {
      const { tools, dropped } = written({
        tools: [
          { ...search, where: "tools[0]" },
          { ...search, search: { maxUses: 2 } },
        ],
      });
      assert.deepEqual(tools, [{ type: "web_search_20250305", name: "web_search", max_uses: 2 }]);
      assert.deepEqual(dropped, ["tools[0]"]);
    });

    for (const name of ["web_search", "web.search"]) {
      it(`gives the client's own ${name} another name beside it, and takes that back`, () => {
        const turns = [user(text("hi")), assistant(call("a", { name })), tool(result("a"))];
        const { body, adaptation } = writeBody(
          conversation({ turns, tools: [{ ...f, name }, search], toolChoice: { type: "named", name } }),
        );
        const [own, hosted] = Object(body["tools"]);
        assert.equal(hosted.name, "web_search");
        assert.match(own.name, /^web_search_[0-9a-f]{8}$/);
        assert.deepEqual(body["tool_choice"], { type: "tool", name: own.name });
        assert.equal(Object(body["messages"])[1].content[0].name, own.name);
        assert.deepEqual([...(adaptation.toolNames ?? [])], [[own.name, name]]);
      });
    }

    it("leaves the client's own web_search its name where no search is kept", () => {
      const { tools, adaptation } = written(
        { tools: [{ ...f, name: "web_search" }, search] },
        { provider: "AnthropicCompatible" },
      );
      assert.deepEqual(tools, [{ name: "web_search", input_schema: empty }]);
      assert.equal(adaptation.toolNames?.size, 0);
    });

    it("names the search itself where the client chose it", () => {
      const choice: ToolChoice = { type: "named", name: "web_search" };
      const turns = [user(text("hi")), assistant(call("a", { name: "web_search" })), tool(result("a"))];
      assert.deepEqual(written({ turns, tools: [f, search], toolChoice: choice }).choice, {
        type: "tool",
        name: "web_search",
      });
    });

    it("pitfall 80: refuses one that nobody there can run, and names it", () => {
      const code: HostedTool = { kind: "hosted", tool: "code", type: "code_interpreter", where: "tools[0]" };
      assert.equal(
        refusalOf(() => written({ tools: [code] })),
        "unsupported_parameter tools[0]",
      );
      assert.equal(
        refusalOf(() => written({ tools: [search] }, { provider: "AnthropicCompatible" })),
        "unsupported_parameter tools[1]",
      );
    });
    it("drops it beside tools of the client's own, declared", () => {
      const { tools, dropped } = written({ tools: [f, search] }, { provider: "AnthropicCompatible" });
      assert.deepEqual(tools, [{ name: "f", input_schema: empty }]);
      assert.deepEqual(dropped, ["tools[1]"]);
    });
  });
});
