import assert from "node:assert/strict";
import type { JsonObject } from "#proxy/json/json-value";
import type { Conversation } from "#proxy/neutral/conversation";
import { refusalOf } from "#test/support/calls/read-body";
import { hi, png, type TargetChanges, writeChanged } from "#test/support/translation/responses-exchange";

const open = { type: "object", properties: { x: { type: "string" } } };
const closed = { ...open, required: ["x"], additionalProperties: false };
const noArguments = { type: "object", properties: {}, additionalProperties: false };
const f = { kind: "function", name: "f" } as const;

interface SettingsRow {
  readonly name: string;
  readonly changes: Partial<Conversation>;
  readonly target?: TargetChanges;
  /** Members of the body that are looked at. */
  readonly names: readonly string[];
  readonly want: unknown;
  readonly dropped?: readonly string[];
}

describe("responses: writeRequest, settings", () => {
  const pick = (body: JsonObject, ...names: readonly string[]): JsonObject =>
    Object.fromEntries(names.filter((name) => Object.hasOwn(body, name)).map((name) => [name, body[name]]));

  const rows: readonly SettingsRow[] = [
    {
      name: "pitfall 78: no tools, no choice",
      changes: { toolChoice: { type: "required" }, parallelTools: false },
      names: ["tools", "tool_choice", "parallel_tool_calls"],
      want: {},
    },
    {
      name: "says a choice among some tools",
      changes: { tools: [f], toolChoice: { type: "required", only: ["f"] }, parallelTools: false },
      names: ["tool_choice", "parallel_tool_calls"],
      want: {
        tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "f" }] },
        parallel_tool_calls: false,
      },
    },
    {
      name: "names a custom tool as one",
      changes: { tools: [{ kind: "custom", name: "c" }], toolChoice: { type: "named", name: "c" } },
      names: ["tools", "tool_choice"],
      want: { tools: [{ type: "custom", name: "c" }], tool_choice: { type: "custom", name: "c" } },
    },
    {
      name: "flattens a grammar that chat clients nest",
      changes: {
        tools: [
          { kind: "custom", name: "c", format: { type: "grammar", grammar: { syntax: "lark", definition: "x" } } },
        ],
      },
      names: ["tools"],
      want: {
        tools: [{ type: "custom", name: "c", format: { type: "grammar", syntax: "lark", definition: "x" } }],
      },
    },
    {
      name: "wraps a custom tool for a compatible server",
      changes: { tools: [{ kind: "custom", name: "c" }] },
      target: { provider: "OpenAICompatible" },
      names: ["tools"],
      want: {
        tools: [
          {
            type: "function",
            name: "c",
            parameters: {
              type: "object",
              properties: { input: { type: "string" } },
              required: ["input"],
              additionalProperties: false,
            },
            strict: false,
          },
        ],
      },
    },
    {
      name: "wraps a custom tool for a model that takes none",
      changes: { tools: [{ kind: "custom", name: "c" }], toolChoice: { type: "named", name: "c" } },
      target: { upstreamModel: "gpt-4o" },
      names: ["tool_choice"],
      want: { tool_choice: { type: "function", name: "c" } },
    },
    {
      name: "leaves out the verbosity that a model refuses",
      changes: { verbosity: "low" },
      target: { upstreamModel: "gpt-4o" },
      names: ["text"],
      want: {},
      dropped: ["text.verbosity"],
    },
    {
      name: "loses nothing of the usual verbosity",
      changes: { verbosity: "medium" },
      target: { upstreamModel: "gpt-4o" },
      names: ["text"],
      want: {},
    },
    {
      name: "keeps the verbosity for a model that takes it",
      changes: { verbosity: "low" },
      target: { upstreamModel: "gpt-5.4" },
      names: ["text"],
      want: { text: { verbosity: "low" } },
    },
    {
      name: "pitfall 81: strict is carried",
      changes: { tools: [{ ...f, schema: closed, strict: true }] },
      names: ["tools"],
      want: { tools: [{ type: "function", name: "f", parameters: closed, strict: true }] },
    },
    {
      name: "strict is not asked for where the schema breaks its rules",
      changes: { tools: [{ ...f, schema: open, strict: true, where: "tools[0]" }] },
      names: ["tools"],
      want: { tools: [{ type: "function", name: "f", parameters: open, strict: false }] },
      dropped: ["tools[0].strict"],
    },
    {
      name: "what a strict function without arguments takes is closed",
      changes: { tools: [{ ...f, strict: true }] },
      names: ["tools"],
      want: { tools: [{ type: "function", name: "f", parameters: noArguments, strict: true }] },
    },
    {
      name: "a reply is not strict where the schema breaks the rules",
      changes: {
        outputFormat: { kind: "schema", schema: open, strict: true, where: "response_format.json_schema" },
      },
      names: ["text"],
      want: { text: { format: { type: "json_schema", name: "response", schema: open, strict: false } } },
      dropped: ["response_format.json_schema.strict"],
    },
    {
      name: "carries a web search with its members",
      changes: {
        tools: [
          {
            kind: "hosted",
            tool: "web-search",
            type: "web_search_20250305",
            search: { allowedDomains: ["a.example"], contextSize: "low", userLocation: { city: "B" } },
          },
        ],
      },
      names: ["tools"],
      want: {
        tools: [
          {
            type: "web_search",
            filters: { allowed_domains: ["a.example"] },
            search_context_size: "low",
            user_location: { type: "approximate", city: "B" },
          },
        ],
      },
    },
    {
      name: "raises a cap that the vendor refuses",
      changes: { outputCap: 1 },
      names: ["max_output_tokens"],
      want: { max_output_tokens: 16 },
      dropped: ["max_output_tokens"],
    },
    {
      name: "leaves a small cap to a compatible server",
      changes: { outputCap: 1 },
      target: { provider: "OpenAICompatible" },
      names: ["max_output_tokens"],
      want: { max_output_tokens: 1 },
    },
    {
      name: "leaves out sampling that a model which thinks refuses",
      changes: { sampling: { temperature: 0, topP: 1, logprobs: true, topLogprobs: 2 } },
      target: { upstreamModel: "o3" },
      names: ["temperature", "top_p", "top_logprobs", "include"],
      want: { include: ["reasoning.encrypted_content"] },
      dropped: ["temperature", "top_logprobs", "include"],
    },
    {
      name: "keeps sampling while a newer model does not think",
      changes: { sampling: { temperature: 0 }, reasoning: { mode: "off" } },
      target: { upstreamModel: "gpt-5.2" },
      names: ["temperature", "reasoning"],
      want: { temperature: 0, reasoning: { effort: "none" } },
    },
    {
      name: "asks a model that does not think for no thinking",
      changes: { reasoning: { mode: "on", effort: "high", show: true }, sampling: { temperature: 0 } },
      target: { upstreamModel: "gpt-4o-mini" },
      names: ["reasoning", "include", "temperature"],
      want: { temperature: 0 },
      dropped: ["reasoning"],
    },
    {
      name: "brings an effort to one that the model knows",
      changes: { reasoning: { mode: "on", effort: "minimal" } },
      target: { upstreamModel: "o4-mini" },
      names: ["reasoning"],
      want: { reasoning: { effort: "low" } },
    },
    {
      name: "brings the strongest effort down to the strongest known",
      changes: { reasoning: { mode: "on", effort: "max" } },
      target: { upstreamModel: "gpt-5" },
      names: ["reasoning"],
      want: { reasoning: { effort: "high" } },
    },
    {
      name: "says a budget as an effort",
      changes: { reasoning: { mode: "on", budget: 3000, show: true } },
      names: ["reasoning"],
      want: { reasoning: { effort: "low", summary: "auto" } },
    },
    {
      name: "leaves thinking on where it cannot be switched off",
      changes: { reasoning: { mode: "off" } },
      target: { upstreamModel: "o3" },
      names: ["reasoning"],
      want: {},
    },
    {
      name: "keeps what the client says about storing",
      changes: { store: true, user: "u", metadata: { a: "b" }, safetyIdentifier: "s", promptCacheKey: "k" },
      names: ["store", "user", "metadata", "safety_identifier", "prompt_cache_key"],
      want: { store: true, user: "u", metadata: { a: "b" }, safety_identifier: "s", prompt_cache_key: "k" },
    },
    {
      name: "says another format's usual tier in its own word",
      changes: { serviceTier: "standard_only" },
      names: ["service_tier"],
      want: { service_tier: "default" },
    },
    {
      name: "puts an enum into an object",
      changes: { outputFormat: { kind: "enum", values: ["a", "b"] } },
      names: ["text"],
      want: {
        text: {
          format: {
            type: "json_schema",
            name: "response",
            schema: {
              type: "object",
              properties: { value: { type: "string", enum: ["a", "b"] } },
              required: ["value"],
              additionalProperties: false,
            },
            strict: true,
          },
        },
      },
    },
    {
      name: "says the word that the API wants with plain JSON",
      changes: { outputFormat: { kind: "json" } },
      names: ["text", "input"],
      want: {
        text: { format: { type: "json_object" } },
        input: [
          { type: "message", role: "developer", content: "Answer in JSON." },
          { type: "message", role: "user", content: "hi" },
        ],
      },
    },
    {
      name: "says that word in the input though the instructions have it, for the API looks for it there alone",
      changes: {
        turns: [{ role: "system", parts: [{ kind: "text", text: "As JSON." }] }, hi],
        outputFormat: { kind: "json" },
      },
      names: ["instructions", "input"],
      want: {
        instructions: "As JSON.",
        input: [
          { type: "message", role: "developer", content: "Answer in JSON." },
          { type: "message", role: "user", content: "hi" },
        ],
      },
    },
    {
      name: "says that word once, where the input has it among other parts",
      changes: {
        turns: [{ role: "user", parts: [{ kind: "text", text: "As JSON." }, png] }],
        outputFormat: { kind: "json" },
      },
      names: ["input"],
      want: {
        input: [
          {
            type: "message",
            role: "user",
            content: [
              { type: "input_text", text: "As JSON." },
              { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=", detail: "auto" },
            ],
          },
        ],
      },
    },
    {
      name: "says what it cannot carry",
      changes: { sampling: { seed: 1, topK: 3, logitBias: { "1": 2 } }, unmapped: ["wish"] },
      names: ["seed", "top_k", "logit_bias"],
      want: {},
      dropped: ["top_k", "seed", "logit_bias", "wish"],
    },
  ];
  for (const row of rows) {
    it(row.name, () => {
      const { body, dropped } = writeChanged(row.changes, row.target);
      assert.deepEqual(pick(body, ...row.names), row.want);
      assert.deepEqual(dropped, row.dropped ?? []);
    });
  }

  const refused: readonly { readonly name: string; readonly changes: Partial<Conversation>; readonly want: string }[] =
    [
      {
        name: "refuses more than one candidate",
        changes: { sampling: { candidates: 2 } },
        want: "unsupported_parameter n",
      },
      {
        name: "refuses to speak",
        changes: { modalities: ["text", "audio"] },
        want: "unsupported_parameter modalities",
      },
      {
        name: "pitfall 80: refuses a provider-run tool that it cannot have, alone",
        changes: { tools: [{ kind: "hosted", tool: "web-fetch", type: "web_fetch_20250910", where: "tools[0]" }] },
        want: "unsupported_parameter tools[0]",
      },
    ];
  for (const row of refused) {
    it(row.name, () =>
      assert.equal(
        refusalOf(() => writeChanged(row.changes)),
        row.want,
      ),
    );
  }

  it("shortens a user's name that OpenAI would refuse, and no other server", () => {
    const user = "u".repeat(65);
    assert.match(String(writeChanged({ user }).body["user"]), /^[0-9a-f]{64}$/);
    assert.equal(writeChanged({ user }, { provider: "OpenAICompatible" }).body["user"], user);
  });

  it("drops such a tool beside the client's own", () => {
    const tools = [f, { kind: "hosted", tool: "mcp", type: "mcp", where: "tools[1]" }] as const;
    assert.deepEqual(writeChanged({ tools }).dropped, ["tools[1]"]);
  });

  it("gives names that the API refuses others, and takes them back", () => {
    const { body, adaptation } = writeChanged({ tools: [{ kind: "function", name: "a.b" }] });
    const tools = body["tools"];
    assert.equal(Array.isArray(tools) ? tools[0].name : undefined, "a_b");
    assert.deepEqual([...(adaptation.toolNames ?? [])], [["a_b", "a.b"]]);
  });
});
