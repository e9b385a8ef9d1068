import assert from "node:assert/strict";
import fc from "fast-check";
import { GatewayError } from "#proxy/errors";
import { chatCompletionsClientTranslator } from "#proxy/formats/chat-completions/translate/client-translator";
import { isObject } from "#proxy/json/json-value";
import { conversationOf, endpoint } from "#test/support/translation/chat-exchange";

function refusalOf(body: object): { readonly code: string; readonly param: string | undefined } {
  try {
    conversationOf({ ...body });
  } catch (error) {
    if (error instanceof GatewayError) return { code: error.code, param: error.param };
    throw error;
  }
  return assert.fail("nothing was refused");
}

describe("readRequest(): parameters", () => {
  it("pitfall 101: zero and false are values", () => {
    const { sampling, stream } = conversationOf({
      temperature: 0,
      top_p: 0,
      presence_penalty: 0,
      frequency_penalty: 0,
      seed: 0,
      stream: false,
    });
    const { temperature, topP, presencePenalty, frequencyPenalty, seed } = sampling;
    assert.deepEqual([temperature, topP, presencePenalty, frequencyPenalty, seed], [0, 0, 0, 0, 0]);
    assert.equal(stream, false);
  });

  it("takes null for absent, whatever the member", () => {
    const names = ["temperature", "stop", "tools", "tool_choice", "response_format", "reasoning_effort", "max_tokens"];
    const more = ["max_completion_tokens", "logit_bias", "metadata", "user", "modalities", "audio", "functions", "x"];
    const nulls = Object.fromEntries([...names, ...more].map((name) => [name, null]));
    assert.deepEqual(conversationOf(nulls), conversationOf());
  });

  for (const row of [
    {
      name: "pitfall 107: reads max_completion_tokens",
      body: { max_completion_tokens: 5 },
      want: { cap: 5, visible: undefined },
    },
    {
      name: "pitfall 107: reads max_tokens, which people take for visible text",
      body: { max_tokens: 5 },
      want: { cap: 5, visible: true },
    },
    {
      name: "prefers max_completion_tokens",
      body: { max_tokens: 5, max_completion_tokens: 7 },
      want: { cap: 7, visible: undefined },
    },
  ]) {
    it(row.name, () => {
      const { outputCap, outputCapIsVisibleText } = conversationOf(row.body);
      assert.deepEqual({ cap: outputCap, visible: outputCapIsVisibleText }, row.want);
    });
  }

  for (const row of [
    { name: "a text", stop: "END", want: ["END"] },
    { name: "a list", stop: ["a", "b"], want: ["a", "b"] },
  ]) {
    it(`reads stop as ${row.name}`, () => assert.deepEqual(conversationOf({ stop: row.stop }).sampling.stop, row.want));
  }

  for (const row of [
    { name: "a text", user: "u1", want: "u1" },
    { name: "the id of an object", user: { id: "u2", name: "n" }, want: "u2" },
    { name: "an object that names nobody", user: { team: 1 }, want: '{"team":1}' },
  ]) {
    it(`reads user as ${row.name}`, () => assert.equal(conversationOf({ user: row.user }).user, row.want));
  }

  for (const row of [
    { name: "text", format: { type: "text" }, want: undefined },
    { name: "json_object", format: { type: "json_object" }, want: { kind: "json" } },
    {
      name: "json_schema",
      format: { type: "json_schema", json_schema: { name: "out", strict: true, schema: { type: "object" } } },
      want: {
        kind: "schema",
        name: "out",
        schema: { type: "object" },
        strict: true,
        description: undefined,
        where: "response_format.json_schema",
      },
    },
    {
      name: "json_schema without a schema",
      format: { type: "json_schema", json_schema: { name: "o" } },
      want: { kind: "json" },
    },
  ]) {
    it(`reads response_format ${row.name}`, () => {
      assert.deepEqual(conversationOf({ response_format: row.format }).outputFormat, row.want);
    });
  }

  it("pitfall 106: reads a request to cache that holds for the whole call", () => {
    const { automaticCache, unmapped } = conversationOf({ cache_control: { type: "ephemeral", ttl: "1h" } });
    assert.deepEqual(automaticCache, { ttl: "1h" });
    assert.deepEqual(unmapped, []);
  });

  it("reads a map of biases without minding what its keys are called", () => {
    const { sampling } = conversationOf(JSON.parse('{"logit_bias":{"__proto__":1,"5":-100}}'));
    assert.deepEqual(Object.entries(sampling.logitBias ?? {}), [
      ["5", -100],
      ["__proto__", 1],
    ]);
    assert.equal(Reflect.get({}, "5"), undefined);
  });

  it("reads what is asked of audio", () => {
    const { modalities, audioOutput } = conversationOf({
      modalities: ["text", "audio"],
      audio: { voice: { id: "v" }, format: "wav" },
    });
    assert.deepEqual(modalities, ["text", "audio"]);
    assert.deepEqual(audioOutput, { voice: "v", format: "wav" });
  });
});

describe("readRequest(): thinking", () => {
  for (const row of [
    { name: "reasoning_effort none", body: { reasoning_effort: "none" }, want: { mode: "off" } },
    {
      name: "reasoning_effort high",
      body: { reasoning_effort: "high" },
      want: { mode: "on", effort: "high", show: true },
    },
    {
      name: "OpenRouter's budget",
      body: { reasoning: { max_tokens: 2000 } },
      want: { mode: "on", budget: 2000, show: true },
    },
    {
      name: "OpenRouter's effort, hidden",
      body: { reasoning: { effort: "low", exclude: true } },
      want: { mode: "on", effort: "low", show: false },
    },
    { name: "OpenRouter's switch", body: { reasoning: { enabled: false } }, want: { mode: "off" } },
    { name: "DeepSeek's switch", body: { thinking: { type: "enabled" } }, want: { mode: "auto", show: true } },
    { name: "DeepSeek's switch, off", body: { thinking: { type: "disabled" } }, want: { mode: "off" } },
    { name: "Qwen's switch", body: { enable_thinking: true }, want: { mode: "auto", show: true } },
    {
      name: "Qwen's budget",
      body: { enable_thinking: true, thinking_budget: 99 },
      want: { mode: "on", budget: 99, show: true },
    },
    { name: "Qwen's switch, off", body: { enable_thinking: false }, want: { mode: "off" } },
    { name: "nothing", body: {}, want: undefined },
  ]) {
    it(`reads ${row.name}`, () => assert.deepEqual(conversationOf(row.body).reasoning, row.want));
  }

  it("leaves an effort of no known name unmapped", () => {
    const { reasoning, unmapped } = conversationOf({ reasoning_effort: "default" });
    assert.equal(reasoning, undefined);
    assert.deepEqual(unmapped, ["reasoning_effort"]);
  });
});

describe("readRequest(): tools", () => {
  const schema = { type: "object", properties: { x: { type: "integer" } } };

  it("pitfall 81: reads functions with all that describes them, strictness among it", () => {
    const tool = { type: "function", function: { name: "f", description: "F", parameters: schema, strict: true } };
    const { tools } = conversationOf({ tools: [{ ...tool, cache_control: { type: "ephemeral" } }] });
    assert.deepEqual(tools, [
      { kind: "function", name: "f", description: "F", schema, strict: true, cache: {}, where: "tools[0].function" },
    ]);
  });

  for (const row of [
    { name: "pitfall 79: without a type", tool: { function: { name: "f" } } },
    { name: "flat, as in the responses format", tool: { type: "function", name: "f" } },
    { name: "alone in place of a list", tool: { type: "function", function: { name: "f" } }, alone: true },
  ]) {
    it(`reads a function ${row.name}`, () => {
      const { tools } = conversationOf({ tools: row.alone === true ? row.tool : [row.tool] });
      assert.deepEqual(
        tools.map((tool) => [tool.kind, tool.kind === "hosted" ? "" : tool.name]),
        [["function", "f"]],
      );
    });
  }

  it("reads custom tools, their grammar flat", () => {
    const format = { type: "grammar", grammar: { syntax: "lark", definition: "D" } };
    const { tools } = conversationOf({
      tools: [{ type: "custom", custom: { name: "sql", description: "S", format } }],
    });
    const flat = { type: "grammar", syntax: "lark", definition: "D" };
    assert.deepEqual(tools, [{ kind: "custom", name: "sql", description: "S", format: flat, where: "tools[0]" }]);
  });

  it("reads the older functions, whose responses have one call", () => {
    const conversation = conversationOf({ functions: [{ name: "f" }], function_call: { name: "f" } });
    assert.equal(conversation.usesLegacyFunctions, true);
    assert.equal(conversation.parallelTools, false);
    assert.deepEqual(conversation.toolChoice, { type: "named", name: "f" });
  });

  it("reads a search as a tool that the provider runs", () => {
    const place = { type: "approximate", approximate: { city: "Bern", country: "CH" } };
    const { tools } = conversationOf({ web_search_options: { search_context_size: "low", user_location: place } });
    assert.deepEqual(tools, [
      {
        kind: "hosted",
        tool: "web-search",
        type: "web_search_options",
        where: "web_search_options",
        search: { contextSize: "low", userLocation: { city: "Bern", country: "CH" } },
      },
    ]);
  });

  it("pitfall 80: a vendor's own tool is named as what it is, for a writer to carry or refuse", () => {
    const { tools } = conversationOf({ tools: [{ type: "openrouter:web_search" }, { type: "teleport" }] });
    assert.deepEqual(
      tools.map((tool) => tool.kind === "hosted" && [tool.tool, tool.type]),
      [
        ["web-search", "openrouter:web_search"],
        ["other", "teleport"],
      ],
    );
  });

  it("pitfall 78: an empty list is no tools", () => assert.deepEqual(conversationOf({ tools: [] }).tools, []));

  for (const row of [
    { choice: "auto", want: { type: "auto" } },
    { choice: "none", want: { type: "none" } },
    { choice: "required", want: { type: "required" } },
    { choice: "any", want: { type: "required" } },
    { choice: { type: "function", function: { name: "f" } }, want: { type: "named", name: "f" } },
    { choice: { type: "function", name: "f" }, want: { type: "named", name: "f" } },
    { choice: { type: "custom", custom: { name: "c" } }, want: { type: "named", name: "c" } },
    {
      choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "f" } }] },
      },
      want: { type: "required", only: ["f"] },
    },
  ]) {
    it(`pitfall 77: reads tool_choice ${JSON.stringify(row.choice)}`, () => {
      assert.deepEqual(conversationOf({ tool_choice: row.choice }).toolChoice, row.want);
    });
  }
});

describe("readRequest(): what has no place", () => {
  it("leaves names of speakers unmapped, each by its path, but not those of functions", () => {
    const { unmapped } = conversationOf({
      messages: [
        { role: "system", content: "s", name: "" },
        { role: "user", content: "x", name: "ada" },
        { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
        { role: "function", name: "f", content: "1" },
        { role: "assistant", content: "y", name: "bot" },
      ],
    });
    assert.deepEqual(unmapped, ["messages[1].name", "messages[4].name"]);
  });

  it("leaves of the manner of caching unmapped what only this format has", () => {
    const read = (options: unknown): unknown => {
      const { promptCacheOptions, unmapped } = conversationOf({ prompt_cache_options: options });
      return [promptCacheOptions, unmapped];
    };
    const options = { mode: "explicit", ttl: "30m" };
    assert.deepEqual(read(options), [options, []]);
    assert.deepEqual(read({ mode: "explicit", prewarm: true }), [
      { mode: "explicit" },
      ["prompt_cache_options.prewarm"],
    ]);
    assert.deepEqual(read("explicit"), [undefined, ["prompt_cache_options"]]);
  });

  it("keeps the older spellings of fields that have two", () => {
    assert.deepEqual(conversationOf({ max_tokens: 5, function_call: { name: "f" } }).clientSpelling, {
      outputCap: "max_tokens",
      toolChoice: "function_call",
    });
    const newer = { max_completion_tokens: 5, max_tokens: 6, tool_choice: "auto", function_call: "none" };
    assert.equal(conversationOf(newer).clientSpelling, undefined);
  });

  it("pitfall 110: unknown members are left unmapped when they say something, by the client's spelling", () => {
    const silent = { a: null, b: "", c: [], d: {}, e: false };
    const { unmapped } = conversationOf({ ...silent, min_p: 0.1, prediction: { type: "content" }, "x-y": 0 });
    assert.deepEqual(unmapped, ["min_p", "prediction", "x-y"]);
  });

  for (const row of [
    { body: { previous_response_id: "r" }, param: "previous_response_id" },
    { body: { conversation: "c" }, param: "conversation" },
    { body: { background: true }, param: "background" },
    { body: { mcp_servers: [{}] }, param: "mcp_servers" },
    { body: { moderation: { model: "m", policy: { output: { mode: "block" } } } }, param: "moderation" },
  ]) {
    it(`refuses ${row.param}, without which the call would mean something else`, () => {
      assert.deepEqual(refusalOf(row.body), { code: "unsupported_parameter", param: row.param });
    });
  }

  it("does not refuse what is switched off", () =>
    assert.ok(conversationOf({ background: false, conversation: null })));

  for (const row of [
    { body: { stop: [1] }, code: "invalid_type", param: "stop[0]" },
    { body: { response_format: { type: "grammar" } }, code: "invalid_value", param: "response_format.type" },
    {
      body: { response_format: { type: "json_schema" } },
      code: "missing_parameter",
      param: "response_format.json_schema",
    },
    { body: { tools: [1] }, code: "invalid_type", param: "tools[0]" },
    { body: { tools: [{ type: "function" }] }, code: "missing_parameter", param: "tools[0].function" },
    {
      body: { tools: [{ type: "function", function: {} }] },
      code: "missing_parameter",
      param: "tools[0].function.name",
    },
    {
      body: { tools: [{ type: "function", function: { name: "f", parameters: [] } }] },
      code: "invalid_type",
      param: "tools[0].function.parameters",
    },
    { body: { tool_choice: "maybe" }, code: "invalid_value", param: "tool_choice" },
    { body: { tool_choice: { type: "function" } }, code: "missing_parameter", param: "tool_choice.function.name" },
    { body: { modalities: ["smell"] }, code: "invalid_value", param: "modalities[0]" },
    { body: { logit_bias: { 5: "x" } }, code: "invalid_type", param: "logit_bias.5" },
  ]) {
    it(`refuses ${JSON.stringify(row.body)}`, () => {
      assert.deepEqual(refusalOf(row.body), { code: row.code, param: row.param });
    });
  }
});

describe("readRequest(): any JSON", () => {
  const names = [
    "role",
    "content",
    "tool_calls",
    "type",
    "text",
    "image_url",
    "url",
    "function",
    "name",
    "arguments",
    "id",
    "file",
  ];
  const words = ["user", "assistant", "tool", "system", "text", "image_url", "function", "custom", "file", "f", "{}"];
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { depthSize: "medium" },
      fc.constantFrom<unknown>(null, true, 0, -1, "", "x", ...words),
      fc.array(tie("json"), { maxLength: 3 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), tie("json"), { maxKeys: 4 }),
    ),
  }));

  it("is read or refused, and nothing else is thrown", () => {
    const members = [
      "messages",
      "tools",
      "tool_choice",
      "response_format",
      "functions",
      "function_call",
      "stop",
      "user",
    ];
    const body = fc.dictionary(fc.oneof(fc.constantFrom(...members), fc.string()), json, { maxKeys: 5 });
    fc.assert(
      fc.property(body, (value) => {
        try {
          if (isObject(value)) chatCompletionsClientTranslator.readRequest(value, endpoint);
        } catch (error) {
          assert.ok(error instanceof GatewayError, String(error));
        }
      }),
      { numRuns: 500 },
    );
  });
});
