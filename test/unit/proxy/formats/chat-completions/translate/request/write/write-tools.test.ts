import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import type { Conversation, Tool } from "#proxy/neutral/conversation";
import { conversationOf, type TargetChanges, writtenRequest } from "#test/support/translation/chat-exchange";

const compatible = { provider: "OpenAICompatible", baseURL: "http://models.internal:8000/v1" } as const;
const f: Tool = { kind: "function", name: "f" };
const g: Tool = {
  kind: "function",
  name: "g",
  description: "G",
  schema: { type: "object", properties: {}, additionalProperties: false },
  strict: true,
};
const sql: Tool = {
  kind: "custom",
  name: "sql",
  description: "S",
  format: { type: "grammar", syntax: "lark", definition: "D" },
};
const search: Tool = {
  kind: "hosted",
  tool: "web-search",
  type: "web_search",
  where: "tools[0]",
  search: { contextSize: "low" },
};

function written(conversation: Partial<Conversation>, target: TargetChanges = {}) {
  return writtenRequest({ ...conversationOf(), ...conversation }, target);
}

describe("writeTools(): definitions", () => {
  it("writes functions with what is known of them", () => {
    assert.deepEqual(written({ tools: [f, g] }).body["tools"], [
      { type: "function", function: { name: "f" } },
      {
        type: "function",
        function: { name: "g", description: "G", parameters: Object(g).schema, strict: true },
      },
    ]);
  });

  for (const row of [
    { name: "an optional property", schema: { type: "object", properties: { x: { type: "string" } } } },
    { name: "an open object", schema: { type: "object", additionalProperties: { type: "string" } } },
    { name: "an object of any members", schema: { type: "object" } },
  ]) {
    it(`does not ask for strictness that the provider refuses: ${row.name}`, () => {
      const tool: Tool = { kind: "function", name: "f", schema: row.schema, strict: true, where: "tools[3].function" };
      for (const target of [{}, compatible]) {
        const { body, dropped } = written({ tools: [tool] }, target);
        const [first] = Object(body["tools"]);
        assert.equal(first.function.strict, false);
        assert.deepEqual(dropped, ["tools[3].function.strict"]);
      }
    });
  }

  for (const schema of [undefined, {}, { type: "object", properties: {} }]) {
    it(`closes what a strict function without arguments takes: ${JSON.stringify(schema)}`, () => {
      const { body, dropped } = written({ tools: [{ kind: "function", name: "f", schema, strict: true }] });
      const parameters = { type: "object", properties: {}, additionalProperties: false };
      assert.deepEqual(Object(body["tools"])[0].function, { name: "f", parameters, strict: true });
      assert.deepEqual(dropped, []);
    });
  }

  it("gives parameters an object at their root", () => {
    const tool: Tool = { kind: "function", name: "f", schema: { properties: { x: { type: "integer" } } } };
    const [first] = Object(written({ tools: [tool] }).body["tools"]);
    assert.deepEqual(first.function.parameters, { type: "object", properties: { x: { type: "integer" } } });
  });

  it("pitfall 78: says nothing of tools where there are none", () => {
    const { body } = written({ tools: [], toolChoice: { type: "auto" }, parallelTools: false });
    assert.deepEqual(Object.keys(body), ["model", "messages"]);
  });

  it("keeps the last of several tools with one name, and says which it leaves out", () => {
    const { body, dropped } = written({
      tools: [{ ...f, description: "1", where: "tools[0]" }, g, { ...f, description: "2" }],
    });
    assert.deepEqual(dropped, ["tools[0]"]);
    const { tools } = body;
    assert.deepEqual(
      Object(tools).map((tool: { function: { name: string; description: string } }) => [
        tool.function.name,
        tool.function.description,
      ]),
      [
        ["g", "G"],
        ["f", "2"],
      ],
    );
  });

  it("changes names that are refused, everywhere the same, and gives the way back", () => {
    const { body, adaptation } = written({
      tools: [{ ...f, name: "do.it" }],
      toolChoice: { type: "named", name: "do.it" },
      turns: [
        { role: "user", parts: [{ kind: "text", text: "hi" }] },
        { role: "assistant", parts: [{ kind: "call", id: "a", name: "do.it", tool: "function", arguments: "{}" }] },
      ],
    });
    assert.deepEqual([...(adaptation.toolNames ?? [])], [["do_it", "do.it"]]);
    const text = JSON.stringify(body);
    assert.ok(!text.includes("do.it"));
    assert.equal(text.split('"do_it"').length - 1, 3);
  });

  it("writes custom tools to OpenAI, their grammar nested", () => {
    const { body, adaptation } = written({ tools: [sql], toolChoice: { type: "named", name: "sql" } });
    const format = { type: "grammar", grammar: { syntax: "lark", definition: "D" } };
    assert.deepEqual(body["tools"], [{ type: "custom", custom: { name: "sql", description: "S", format } }]);
    assert.deepEqual(body["tool_choice"], { type: "custom", custom: { name: "sql" } });
    assert.equal(adaptation.customTools, undefined);
  });

  for (const target of [compatible, { model: "gpt-4o" }, { model: "o3" }]) {
    it(`wraps custom tools as functions for ${JSON.stringify(target)}`, () => {
      const { body, adaptation } = written({ tools: [sql], toolChoice: { type: "named", name: "sql" } }, target);
      const [tool] = Object(body["tools"]);
      assert.equal(tool.type, "function");
      assert.deepEqual(tool.function.parameters.required, ["input"]);
      assert.match(JSON.stringify(tool.function), /lark/);
      assert.deepEqual(body["tool_choice"], { type: "function", function: { name: "sql" } });
      assert.deepEqual([...(adaptation.customTools ?? [])], ["sql"]);
    });
  }

  it("pitfall 106: marks tools for the cache of vendors that know such marks", () => {
    const tools = [{ ...f, cache: { ttl: "1h" } }];
    const [tool] = Object(
      written({ tools }, { provider: "OpenAICompatible", baseURL: "https://openrouter.ai/api/v1" }).body["tools"],
    );
    assert.deepEqual(tool.cache_control, { type: "ephemeral", ttl: "1h" });
    assert.ok(!JSON.stringify(written({ tools }).body).includes("cache_control"));
  });
});

describe("writeTools(): choice", () => {
  const both = [f, g];
  const fn = (name: string) => ({ type: "function", function: { name } });
  for (const row of [
    { name: "auto", choice: { type: "auto" } as const, want: "auto" },
    { name: "none", choice: { type: "none" } as const, want: "none" },
    { name: "required", choice: { type: "required" } as const, want: "required" },
    { name: "one tool", choice: { type: "named", name: "f" } as const, want: fn("f") },
    {
      name: "some tools",
      choice: { type: "required", only: ["g"] } as const,
      want: { type: "allowed_tools", allowed_tools: { mode: "required", tools: [fn("g")] } },
    },
    { name: "nothing said", choice: undefined, want: undefined },
  ]) {
    it(`pitfall 77: says ${row.name}`, () => {
      const { body } = written({ tools: both, toolChoice: row.choice });
      assert.deepEqual(body["tool_choice"], row.want);
      assert.equal(Object(body["tools"]).length, 2);
    });
  }

  it("offers compatible servers only the tools that are allowed", () => {
    const { body } = written({ tools: both, toolChoice: { type: "auto", only: ["g"] } }, compatible);
    assert.equal(body["tool_choice"], "auto");
    assert.deepEqual(
      Object(body["tools"]).map((tool: { function: { name: string } }) => tool.function.name),
      ["g"],
    );
  });

  for (const target of [{}, compatible]) {
    it(`offers nothing where no tool is allowed, declared: ${JSON.stringify(target)}`, () => {
      const { body, dropped } = written({ tools: both, toolChoice: { type: "auto", only: ["z"] } }, target);
      assert.deepEqual(Object.keys(body), ["model", "messages"]);
      assert.deepEqual(dropped, ["tool_choice"]);
    });
  }

  for (const parallel of [true, false]) {
    it(`says that calls may ${parallel ? "" : "not "}be parallel`, () => {
      assert.equal(written({ tools: [f], parallelTools: parallel }).body["parallel_tool_calls"], parallel);
    });
  }
});

describe("writeTools(): tools that a provider runs", () => {
  const openRouter = { provider: "OpenAICompatible", baseURL: "https://openrouter.ai/api/v1" } as const;

  for (const target of [openRouter, { model: "gpt-4o-search-preview" }]) {
    it(`carries a search to ${JSON.stringify(target)}`, () => {
      const { body } = written({ tools: [search] }, target);
      assert.deepEqual(body["web_search_options"], { search_context_size: "low" });
      assert.equal(body["tools"], undefined);
    });
  }

  it("says where the searcher is", () => {
    const tool: Tool = { ...search, search: { userLocation: { city: "Bern" } } };
    assert.deepEqual(written({ tools: [tool] }, openRouter).body["web_search_options"], {
      user_location: { type: "approximate", approximate: { city: "Bern" } },
    });
  });

  it("asks for the last of several searches, and declares the other", () => {
    const last: Tool = { ...search, search: { contextSize: "high" }, where: "tools[1]" };
    const { body, dropped } = written({ tools: [search, last] }, openRouter);
    assert.deepEqual(body["web_search_options"], { search_context_size: "high" });
    assert.deepEqual(dropped, ["tools[0]"]);
  });

  for (const target of [openRouter, { model: "gpt-5-search-api" }]) {
    it(`leaves out a search that is not allowed: ${JSON.stringify(target)}`, () => {
      const { body, dropped } = written({ tools: [search, f], toolChoice: { type: "auto", only: ["f"] } }, target);
      assert.equal(body["web_search_options"], undefined);
      assert.deepEqual(dropped, ["tools[0]"]);
    });
  }

  it("pitfall 80: refuses a search that is all the call has, by the client's path", () => {
    assert.throws(
      () => written({ tools: [search] }),
      (error) => error instanceof GatewayError && error.code === "unsupported_parameter" && error.param === "tools[0]",
    );
  });

  it("pitfall 80: drops it beside functions, and says so", () => {
    const { body, dropped } = written({ tools: [search, f] });
    assert.equal(Object(body["tools"]).length, 1);
    assert.deepEqual(dropped, ["tools[0]"]);
  });
});
