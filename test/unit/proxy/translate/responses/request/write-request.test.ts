import assert from "node:assert/strict";
import type { JsonObject } from "../../../../../../proxy/protocols/json-value.ts";
import type { Conversation, ProviderState, Turn } from "../../../../../../proxy/translate/conversation.ts";
import { readRequest } from "../../../../../../proxy/translate/responses/request/read-request.ts";
import { refusalOf } from "../../../../../support/calls/read-body.ts";
import { OpenStates } from "../../../../../support/translation/exchange.ts";
import { type Written, writtenRequest } from "../../../../../support/translation/responses-exchange.ts";

const hi: Turn = { role: "user", parts: [{ kind: "text", text: "hi" }] };

function conversationOf(changes: Partial<Conversation>): Conversation {
  return { model: "m", stream: false, turns: [hi], tools: [], sampling: {}, unread: [], ...changes };
}

function written(changes: Partial<Conversation>, target: Parameters<typeof writtenRequest>[1] = {}): Written {
  return writtenRequest(conversationOf(changes), target);
}

function inputOf(turns: readonly Turn[], target: Parameters<typeof writtenRequest>[1] = {}): unknown {
  return written({ turns }, target).body["input"];
}

const png = {
  kind: "media",
  media: "image",
  mime: "image/png",
  source: { type: "data", base64: "iVBORw0KGgo=" },
} as const;
const schemaOfG = {
  type: "object",
  properties: { x: { type: "integer", minimum: 0 } },
  required: ["x"],
  additionalProperties: false,
};

/** The conversation of golden.md, as any reader makes it. */
const golden = conversationOf({
  stream: true,
  turns: [
    { role: "system", parts: [{ kind: "text", text: "S" }] },
    { role: "user", parts: [{ kind: "text", text: "look" }, png] },
  ],
  tools: [
    { kind: "function", name: "f", description: "F" },
    { kind: "function", name: "g", schema: schemaOfG },
  ],
  toolChoice: { type: "auto" },
  outputCap: 2000,
  sampling: { temperature: 0.5, stop: ["END"] },
  reasoning: { mode: "on", effort: "medium", show: true },
});

const encrypted: ProviderState = { kind: "encrypted-reasoning", id: "rs_1", data: "ENC", summary: ["T"] };

describe("responses: writeRequest, golden", () => {
  it("G1: the first request", () => {
    const { body, adaptation, dropped } = writtenRequest(golden);
    assert.deepEqual(body, {
      model: "m",
      instructions: "S",
      store: false,
      include: ["reasoning.encrypted_content"],
      input: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "look" },
            { type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" },
          ],
        },
      ],
      tools: [
        {
          type: "function",
          name: "f",
          description: "F",
          parameters: { type: "object", properties: {} },
          strict: false,
        },
        { type: "function", name: "g", parameters: schemaOfG, strict: false },
      ],
      tool_choice: "auto",
      max_output_tokens: 2000,
      temperature: 0.5,
      reasoning: { effort: "medium", summary: "auto" },
      stream: true,
    });
    assert.deepEqual(adaptation, { stop: ["END"] });
    assert.deepEqual(dropped, []);
  });

  it("G4: history with the results of its calls", () => {
    const turns: readonly Turn[] = [
      ...golden.turns,
      {
        role: "assistant",
        parts: [
          { kind: "reasoning", text: "T", states: [{ type: "native", state: encrypted }] },
          { kind: "text", text: "Hi" },
          { kind: "call", id: "call_a", name: "f", tool: "function", arguments: "{}" },
          { kind: "call", id: "call_b", name: "g", tool: "function", arguments: '{"x":1}' },
        ],
      },
      {
        role: "tool",
        parts: [
          { kind: "result", callId: "call_a", content: [{ kind: "text", text: "1" }] },
          { kind: "result", callId: "call_b", content: [{ kind: "text", text: "boom" }], isError: true },
        ],
      },
    ];
    const input = writtenRequest({ ...golden, turns }).body["input"];
    assert.deepEqual(Array.isArray(input) ? input.slice(1) : input, [
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "T" }],
        encrypted_content: "ENC",
      },
      { type: "message", role: "assistant", content: "Hi" },
      { type: "function_call", call_id: "call_a", name: "f", arguments: "{}" },
      { type: "function_call", call_id: "call_b", name: "g", arguments: '{"x":1}' },
      { type: "function_call_output", call_id: "call_a", output: "1" },
      { type: "function_call_output", call_id: "call_b", output: "Error: boom" },
    ]);
  });

  it("G5: an answer by a schema", () => {
    const schema = {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    };
    const { body } = written({ answerFormat: { kind: "schema", name: "out", strict: true, schema } });
    assert.deepEqual(body["text"], { format: { type: "json_schema", name: "out", schema, strict: true } });
  });
});

describe("responses: writeRequest, items", () => {
  const rows: readonly { readonly name: string; readonly turns: readonly Turn[]; readonly want: unknown }[] = [
    {
      name: "keeps several system texts as developer items in their place",
      turns: [
        {
          role: "system",
          parts: [
            { kind: "text", text: "A" },
            { kind: "text", text: "B" },
          ],
        },
        hi,
        { role: "system", parts: [{ kind: "text", text: "later" }] },
      ],
      want: [
        {
          type: "message",
          role: "developer",
          content: [
            { type: "input_text", text: "A" },
            { type: "input_text", text: "B" },
          ],
        },
        { type: "message", role: "user", content: "hi" },
        { type: "message", role: "developer", content: "later" },
      ],
    },
    {
      name: "keeps an empty text that is all a user says, and drops others",
      turns: [
        { role: "user", parts: [{ kind: "text", text: "" }] },
        { role: "user", parts: [{ kind: "text", text: "" }, png] },
      ],
      want: [
        { type: "message", role: "user", content: "" },
        {
          type: "message",
          role: "user",
          content: [{ type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" }],
        },
      ],
    },
    {
      name: "joins neighbouring texts of one turn, and says a refusal as text",
      turns: [
        {
          role: "assistant",
          parts: [
            { kind: "text", text: "a" },
            { kind: "text", text: "b" },
            { kind: "refusal", text: "no" },
          ],
        },
      ],
      want: [{ type: "message", role: "assistant", content: "abno" }],
    },
    {
      name: "pitfall 98: reasoning without its encrypted content is left out",
      turns: [
        {
          role: "assistant",
          parts: [
            { kind: "reasoning", text: "T" },
            { kind: "text", text: "a" },
          ],
        },
      ],
      want: [{ type: "message", role: "assistant", content: "a" }],
    },
    {
      name: "pitfall 91: state of another provider never leaves as reasoning",
      turns: [
        {
          role: "assistant",
          parts: [
            {
              kind: "reasoning",
              text: "T",
              states: [{ type: "native", state: { kind: "thinking", text: "T", signature: "SIG" } }],
            },
            { kind: "text", text: "a" },
          ],
        },
      ],
      want: [{ type: "message", role: "assistant", content: "a" }],
    },
    {
      name: "says one state once, though it hangs on several calls",
      turns: [
        {
          role: "assistant",
          parts: ["a", "b"].map((id) => ({
            kind: "call",
            id,
            name: "f",
            tool: "function",
            arguments: "{}",
            states: [{ type: "native", state: encrypted }],
          })),
        },
        {
          role: "tool",
          parts: ["a", "b"].map((callId) => ({ kind: "result", callId, content: [{ kind: "text", text: callId }] })),
        },
      ],
      want: [
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "T" }], encrypted_content: "ENC" },
        { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
        { type: "function_call", call_id: "b", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: "a" },
        { type: "function_call_output", call_id: "b", output: "b" },
      ],
    },
    {
      name: "pitfall 60: items carry call_id and never an id of their own",
      turns: [
        { role: "assistant", parts: [{ kind: "call", id: "call_1", name: "f", tool: "function", arguments: "{}" }] },
      ],
      want: [
        { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "call_1", output: "Error: [no result]" },
      ],
    },
    {
      name: "pitfall 84: a call without arguments has an empty object",
      turns: [
        { role: "assistant", parts: [{ kind: "call", id: "c", name: "f", tool: "function", arguments: "" }] },
        { role: "tool", parts: [{ kind: "result", callId: "c", content: [] }] },
      ],
      want: [
        { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: "" },
      ],
    },
    {
      name: "gives pictures of a result as parts, and custom calls their own kind of result",
      turns: [
        { role: "assistant", parts: [{ kind: "call", id: "c", name: "f", tool: "custom", arguments: "free" }] },
        { role: "tool", parts: [{ kind: "result", callId: "c", content: [{ kind: "text", text: "x" }, png] }] },
      ],
      want: [
        { type: "custom_tool_call", call_id: "c", name: "f", input: "free" },
        {
          type: "custom_tool_call_output",
          call_id: "c",
          output: [
            { type: "input_text", text: "x" },
            { type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" },
          ],
        },
      ],
    },
    {
      name: "says documents as files, and text documents as marked text",
      turns: [
        {
          role: "user",
          parts: [
            {
              kind: "media",
              media: "document",
              mime: "application/pdf",
              source: { type: "data", base64: "JVBERi0=" },
            },
            { kind: "media", media: "document", source: { type: "url", url: "https://a.example/a.pdf" } },
            { kind: "media", media: "document", title: "T", source: { type: "text", text: "body" } },
            { kind: "media", media: "audio", mime: "audio/mpeg", source: { type: "data", base64: "SUQz" } },
            { kind: "media", media: "image", source: { type: "file", owner: "openai", id: "file-1" } },
          ],
        },
      ],
      want: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_file", filename: "document.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
            { type: "input_file", file_url: "https://a.example/a.pdf" },
            { type: "input_text", text: '<document title="T">\nbody\n</document>' },
            { type: "input_audio", input_audio: { data: "SUQz", format: "mp3" } },
            { type: "input_image", detail: "auto", file_id: "file-1" },
          ],
        },
      ],
    },
  ];
  for (const row of rows) {
    it(row.name, () => assert.deepEqual(inputOf(row.turns), row.want));
  }

  it("pitfall 61: ids that a client gave its items never leave", () => {
    const history = [
      { type: "message", id: "item_1", role: "assistant", content: [{ type: "output_text", text: "x" }] },
      { type: "function_call", id: "item_2", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", id: "item_3", call_id: "c", output: "1" },
    ];
    const { turns } = readRequest({ model: "m", input: history });
    const text = JSON.stringify(inputOf(turns));
    assert.doesNotMatch(text, /item_/);
    assert.match(text, /"call_id":"c"/);
  });

  it("restores the state of a call that was kept here for a client without a place for it", () => {
    const states = new OpenStates({ native: true });
    states.remember("c", [encrypted]);
    const turns: readonly Turn[] = [
      { role: "assistant", parts: [{ kind: "call", id: "c", name: "f", tool: "function", arguments: "{}" }] },
      { role: "tool", parts: [{ kind: "result", callId: "c", content: [{ kind: "text", text: "1" }] }] },
    ];
    const input = inputOf(turns, { states });
    assert.equal(Array.isArray(input) ? input[0].encrypted_content : undefined, "ENC");
  });

  for (const row of [
    {
      name: "refuses a file that another provider keeps",
      part: { kind: "media", media: "image", source: { type: "file", owner: "google", id: "x" }, where: "contents[0]" },
      want: "unsupported_parameter contents[0]",
    },
    {
      name: "refuses a video",
      part: { kind: "media", media: "video", source: { type: "url", url: "https://a.example/v" }, where: "v" },
      want: "unsupported_parameter v",
    },
    {
      name: "refuses audio that the format has no name for",
      part: { kind: "media", media: "audio", mime: "audio/flac", source: { type: "data", base64: "AA==" }, where: "a" },
      want: "unsupported_parameter a",
    },
  ] as const) {
    it(row.name, () =>
      assert.equal(
        refusalOf(() => inputOf([{ role: "user", parts: [row.part] }])),
        row.want,
      ),
    );
  }

  it("drops a provider-run tool's history and says so", () => {
    const turns: readonly Turn[] = [
      { role: "assistant", parts: [{ kind: "hosted", type: "server_tool_use", where: "messages[1].content[0]" }] },
      hi,
    ];
    assert.deepEqual(written({ turns }).dropped, ["messages[1].content[0]"]);
  });
});

const f = { kind: "function", name: "f" } as const;

interface SettingsRow {
  readonly name: string;
  readonly changes: Partial<Conversation>;
  readonly target?: Parameters<typeof writtenRequest>[1];
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
      name: "pitfall 81: strict is carried",
      changes: { tools: [{ ...f, strict: true }] },
      names: ["tools"],
      want: { tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: true }] },
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
      changes: { answerFormat: { kind: "enum", values: ["a", "b"] } },
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
      changes: { answerFormat: { kind: "json" } },
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
      name: "says what it cannot carry",
      changes: { sampling: { seed: 1, topK: 3, logitBias: { "1": 2 } }, unread: ["wish"] },
      names: ["seed", "top_k", "logit_bias"],
      want: {},
      dropped: ["top_k", "seed", "logit_bias", "wish"],
    },
  ];
  for (const row of rows) {
    it(row.name, () => {
      const { body, dropped } = written(row.changes, row.target);
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
        refusalOf(() => written(row.changes)),
        row.want,
      ),
    );
  }

  it("drops such a tool beside the client's own", () => {
    const tools = [f, { kind: "hosted", tool: "mcp", type: "mcp", where: "tools[1]" }] as const;
    assert.deepEqual(written({ tools }).dropped, ["tools[1]"]);
  });

  it("gives names that the API refuses others, and takes them back", () => {
    const { body, adaptation } = written({ tools: [{ kind: "function", name: "a.b" }] });
    const tools = body["tools"];
    assert.equal(Array.isArray(tools) ? tools[0].name : undefined, "a_b");
    assert.deepEqual([...(adaptation.toolNames ?? [])], [["a_b", "a.b"]]);
  });

  it("has no member that is undefined or null", () => {
    const text = JSON.stringify(writtenRequest(golden).body, (_name, value) =>
      value === undefined ? "undefined" : value,
    );
    assert.doesNotMatch(text, /null|"undefined"/);
  });
});
