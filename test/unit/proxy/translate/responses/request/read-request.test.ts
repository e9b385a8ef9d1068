import assert from "node:assert/strict";
import type { Conversation, Turn } from "../../../../../../proxy/translate/conversation.ts";
import { readRequest } from "../../../../../../proxy/translate/responses/request/read-request.ts";
import { refusalOf } from "../../../../../support/calls/read-body.ts";

function read(body: object): Conversation {
  return readRequest({ model: "m", input: "hi", ...body });
}

/** Turns without the paths, which other tests look at. */
function turnsOf(body: object): unknown {
  return JSON.parse(JSON.stringify(read(body).turns, (name, value) => (name === "where" ? undefined : value)));
}

const png = "iVBORw0KGgo=";

describe("responses: readRequest", () => {
  for (const row of [
    {
      name: "reads a text as one user turn",
      body: { input: "hello" },
      want: [{ role: "user", parts: [{ kind: "text", text: "hello" }] }],
    },
    {
      name: "reads instructions as the first system turn",
      body: { instructions: "S" },
      want: [
        { role: "system", parts: [{ kind: "text", text: "S" }] },
        { role: "user", parts: [{ kind: "text", text: "hi" }] },
      ],
    },
    {
      name: "says nothing for empty instructions",
      body: { instructions: "" },
      want: [{ role: "user", parts: [{ kind: "text", text: "hi" }] }],
    },
    {
      name: "wraps a lone item",
      body: { input: { role: "user", content: "x" } },
      want: [{ role: "user", parts: [{ kind: "text", text: "x" }] }],
    },
    {
      name: "pitfall 66: an item without a type and an assistant message without an id are messages",
      body: {
        input: [
          { role: "user", content: "a" },
          { role: "assistant", content: [{ type: "output_text", text: "b" }] },
        ],
      },
      want: [
        { role: "user", parts: [{ kind: "text", text: "a" }] },
        { role: "assistant", parts: [{ kind: "text", text: "b" }] },
      ],
    },
    {
      name: "keeps the place of system and developer messages",
      body: {
        input: [
          { role: "developer", content: "D" },
          { role: "user", content: "a" },
          { role: "system", content: [{ type: "input_text", text: "later" }] },
        ],
      },
      want: [
        { role: "system", isDeveloper: true, parts: [{ kind: "text", text: "D" }] },
        { role: "user", parts: [{ kind: "text", text: "a" }] },
        { role: "system", parts: [{ kind: "text", text: "later" }] },
      ],
    },
    {
      name: "reads pictures, files and audio",
      body: {
        input: [
          {
            role: "user",
            content: [
              { type: "input_text", text: "look" },
              { type: "input_image", image_url: `data:image/png;base64,${png}`, detail: "low" },
              { type: "input_image", image_url: "https://a.example/x.png" },
              { type: "input_image", file_id: "file-1" },
              { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0xLjQ=" },
              { type: "input_file", file_url: "https://a.example/a.pdf" },
              { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
            ],
          },
        ],
      },
      want: [
        {
          role: "user",
          parts: [
            { kind: "text", text: "look" },
            { kind: "media", media: "image", mime: "image/png", source: { type: "data", base64: png }, detail: "low" },
            { kind: "media", media: "image", source: { type: "url", url: "https://a.example/x.png" } },
            { kind: "media", media: "image", source: { type: "file", owner: "openai", id: "file-1" } },
            {
              kind: "media",
              media: "document",
              mime: "application/pdf",
              source: { type: "data", base64: "JVBERi0xLjQ=" },
              filename: "a.pdf",
            },
            { kind: "media", media: "document", source: { type: "url", url: "https://a.example/a.pdf" } },
            { kind: "media", media: "audio", mime: "audio/wav", source: { type: "data", base64: "UklGRg==" } },
          ],
        },
      ],
    },
    {
      name: "pitfall 114: bare base64 is sniffed",
      body: { input: [{ role: "user", content: [{ type: "input_image", image_url: png }] }] },
      want: [
        {
          role: "user",
          parts: [{ kind: "media", media: "image", mime: "image/png", source: { type: "data", base64: png } }],
        },
      ],
    },
    {
      name: "joins reasoning, one message and its calls in one turn, and the results in another",
      body: {
        input: [
          { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "T" }], encrypted_content: "ENC" },
          { type: "message", role: "assistant", content: "Hi" },
          { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
          { type: "custom_tool_call", call_id: "b", name: "g", input: "free" },
          { type: "function_call_output", call_id: "a", output: "1" },
          { type: "custom_tool_call_output", call_id: "b", output: [{ type: "input_text", text: "2" }] },
        ],
      },
      want: [
        {
          role: "assistant",
          parts: [
            {
              kind: "reasoning",
              text: "T",
              states: [
                {
                  type: "native",
                  state: { kind: "encrypted-reasoning", id: "rs_1", data: "ENC", summary: ["T"] },
                },
              ],
            },
            { kind: "text", text: "Hi" },
            { kind: "call", id: "a", name: "f", tool: "function", arguments: "{}" },
            { kind: "call", id: "b", name: "g", tool: "custom", arguments: "free" },
          ],
        },
        {
          role: "tool",
          parts: [
            { kind: "result", callId: "a", content: [{ kind: "text", text: "1" }] },
            { kind: "result", callId: "b", content: [{ kind: "text", text: "2" }] },
          ],
        },
      ],
    },
    {
      name: "begins a new turn with a second message, together with the reasoning before it",
      body: {
        input: [
          { role: "assistant", content: "one" },
          { type: "reasoning", id: "rs_2", summary: [{ type: "summary_text", text: "T" }] },
          { role: "assistant", content: "two" },
        ],
      },
      want: [
        { role: "assistant", parts: [{ kind: "text", text: "one" }] },
        {
          role: "assistant",
          parts: [
            { kind: "reasoning", text: "T", states: [] },
            { kind: "text", text: "two" },
          ],
        },
      ],
    },
    {
      name: "pitfall 99: reasoning and empty messages make no empty turn",
      body: {
        input: [
          { role: "user", content: "a" },
          { role: "assistant", content: "" },
          { type: "function_call", call_id: "c", name: "f", arguments: "" },
          { type: "function_call_output", call_id: "c", output: "" },
        ],
      },
      want: [
        { role: "user", parts: [{ kind: "text", text: "a" }] },
        { role: "assistant", parts: [{ kind: "call", id: "c", name: "f", tool: "function", arguments: "" }] },
        { role: "tool", parts: [{ kind: "result", callId: "c", content: [{ kind: "text", text: "" }] }] },
      ],
    },
    {
      name: "pitfall 62: a result is paired by call_id and not by its own id",
      body: {
        input: [
          { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: "{}" },
          { type: "function_call_output", id: "fco_9", call_id: "call_1", output: "x" },
        ],
      },
      want: [
        { role: "assistant", parts: [{ kind: "call", id: "call_1", name: "f", tool: "function", arguments: "{}" }] },
        { role: "tool", parts: [{ kind: "result", callId: "call_1", content: [{ kind: "text", text: "x" }] }] },
      ],
    },
    {
      name: "pitfall 59: empty ids become unique ones, and results are paired by their order",
      body: {
        input: [
          { type: "function_call", call_id: "", name: "f", arguments: "{}" },
          { type: "function_call", call_id: "", name: "f", arguments: "{}" },
          { type: "function_call_output", call_id: "", output: "1" },
          { type: "function_call_output", call_id: "", output: "2" },
        ],
      },
      want: [
        {
          role: "assistant",
          parts: [
            { kind: "call", id: "call_unnamed_1", name: "f", tool: "function", arguments: "{}" },
            { kind: "call", id: "call_unnamed_2", name: "f", tool: "function", arguments: "{}" },
          ],
        },
        {
          role: "tool",
          parts: [
            { kind: "result", callId: "call_unnamed_1", content: [{ kind: "text", text: "1" }] },
            { kind: "result", callId: "call_unnamed_2", content: [{ kind: "text", text: "2" }] },
          ],
        },
      ],
    },
    {
      name: "opens a gateway's own envelope only for the keeper of states",
      body: { input: [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "tg1.AAAA.BBBB" }] },
      want: [
        {
          role: "assistant",
          parts: [{ kind: "reasoning", text: "", states: [{ type: "sealed", envelope: "tg1.AAAA.BBBB" }] }],
        },
      ],
    },
    {
      name: "keeps a provider-run tool's item as one of its own kind",
      body: { input: [{ type: "web_search_call", id: "ws_1", status: "completed" }] },
      want: [{ role: "assistant", parts: [{ kind: "hosted", type: "web_search_call" }] }],
    },
    {
      name: "flattens the name of a tool in a namespace",
      body: { input: [{ type: "function_call", call_id: "c", namespace: "ns", name: "f", arguments: "{}" }] },
      want: [
        { role: "assistant", parts: [{ kind: "call", id: "c", name: "ns__f", tool: "function", arguments: "{}" }] },
      ],
    },
  ]) {
    it(row.name, () => assert.deepEqual(turnsOf(row.body), row.want));
  }

  it("names the place of every part in the client's body", () => {
    const [turn]: readonly Turn[] = read({
      input: [{ role: "user", content: [{ type: "input_text", text: "a" }] }],
    }).turns;
    assert.equal(turn?.parts[0]?.where, "input[0].content[0]");
  });

  for (const row of [
    {
      name: "refuses an unknown part",
      body: { input: [{ role: "user", content: [{ type: "hologram" }] }] },
      want: "invalid_value input[0].content[0].type",
    },
    {
      name: "refuses a part that is a text",
      body: { input: [{ role: "user", content: ["x"] }] },
      want: "invalid_type input[0].content[0]",
    },
    { name: "refuses an unknown item", body: { input: [{ type: "poem" }] }, want: "invalid_value input[0].type" },
    { name: "refuses an item that is a number", body: { input: [1] }, want: "invalid_type input[0]" },
    {
      name: "refuses an unknown role",
      body: { input: [{ role: "critic", content: "x" }] },
      want: "invalid_value input[0].role",
    },
    {
      name: "refuses a call without a name",
      body: { input: [{ type: "function_call", call_id: "c", arguments: "{}" }] },
      want: "missing_parameter input[0].name",
    },
    {
      name: "pitfall 63: a result without an id is refused by its name",
      body: { input: [{ type: "function_call_output", output: "x" }] },
      want: "missing_parameter input[0].call_id",
    },
    {
      name: "refuses a picture by a file address",
      body: { input: [{ role: "user", content: [{ type: "input_image", image_url: "file:///etc/passwd" }] }] },
      want: "invalid_value input[0].content[0].image_url",
    },
    {
      name: "refuses an item reference",
      body: { input: [{ type: "item_reference", id: "msg_1" }] },
      want: "unsupported_parameter input[0].id",
    },
    { name: "refuses a bare id", body: { input: [{ id: "msg_1" }] }, want: "unsupported_parameter input[0].id" },
    {
      name: "refuses compacted history",
      body: { input: [{ type: "compaction", id: "c", encrypted_content: "x" }] },
      want: "unsupported_parameter input[0].type",
    },
    {
      name: "refuses an earlier response",
      body: { previous_response_id: "resp_1" },
      want: "unsupported_parameter previous_response_id",
    },
    { name: "refuses a conversation", body: { conversation: "c" }, want: "unsupported_parameter conversation" },
    { name: "refuses a stored prompt", body: { prompt: { id: "p" } }, want: "unsupported_parameter prompt" },
    { name: "refuses work in the background", body: { background: true }, want: "unsupported_parameter background" },
    {
      name: "refuses compaction by the server",
      body: { context_management: [{ type: "compaction" }] },
      want: "unsupported_parameter context_management",
    },
    { name: "refuses an unknown tool", body: { tools: [{ type: "teleport" }] }, want: "invalid_value tools[0].type" },
    {
      name: "refuses a function without a name",
      body: { tools: [{ type: "function" }] },
      want: "missing_parameter tools[0].name",
    },
    {
      name: "refuses a choice of a provider-run tool",
      body: { tools: [{ type: "web_search" }], tool_choice: { type: "web_search_preview" } },
      want: "unsupported_parameter tool_choice",
    },
    { name: "refuses an unknown choice", body: { tool_choice: "maybe" }, want: "invalid_value tool_choice" },
    {
      name: "refuses an unknown format of the answer",
      body: { text: { format: { type: "xml" } } },
      want: "invalid_value text.format.type",
    },
    {
      name: "refuses an unknown effort",
      body: { reasoning: { effort: "huge" } },
      want: "invalid_value reasoning.effort",
    },
  ]) {
    it(row.name, () =>
      assert.equal(
        refusalOf(() => read(row.body)),
        row.want,
      ),
    );
  }
});

describe("responses: readRequest of settings", () => {
  for (const row of [
    {
      name: "pitfall 101: zeros are values",
      body: { temperature: 0, top_p: 0, top_logprobs: 0, seed: 0, presence_penalty: 0, max_output_tokens: 0 },
      pick: ({ sampling, outputCap }: Conversation) => ({
        temperature: sampling.temperature,
        topP: sampling.topP,
        seed: sampling.seed,
        presencePenalty: sampling.presencePenalty,
        outputCap,
      }),
      want: { temperature: 0, topP: 0, seed: 0, presencePenalty: 0, outputCap: 0 },
    },
    {
      name: "shows reasoning when a summary is asked for",
      body: { reasoning: { effort: "high", summary: "detailed" } },
      pick: ({ reasoning }: Conversation) => reasoning,
      want: { mode: "on", effort: "high", show: true, summary: "detailed" },
    },
    {
      name: "switches reasoning off",
      body: { reasoning: { effort: "none" } },
      pick: ({ reasoning }: Conversation) => reasoning,
      want: { mode: "off" },
    },
    {
      name: "takes the older name of a summary",
      body: { reasoning: { generate_summary: "auto" } },
      pick: ({ reasoning }: Conversation) => reasoning,
      want: { mode: "auto", show: true, summary: "auto" },
    },
    {
      name: "reads a schema for the answer",
      body: { text: { format: { type: "json_schema", name: "n", schema: { type: "object" }, strict: true } } },
      pick: ({ answerFormat }: Conversation) => answerFormat,
      want: { kind: "schema", name: "n", schema: { type: "object" }, strict: true, description: undefined },
    },
    {
      name: "reads log probabilities from what is to be included",
      body: { include: ["message.output_text.logprobs"], top_logprobs: 3 },
      pick: ({ sampling: { logprobs, topLogprobs } }: Conversation) => ({ logprobs, topLogprobs }),
      want: { logprobs: true, topLogprobs: 3 },
    },
    {
      name: "takes a user that is an object by its id",
      body: { user: { id: "u1", plan: "x" } },
      pick: ({ user }: Conversation) => user,
      want: "u1",
    },
    {
      name: "reads tools of every kind, and a lone one",
      body: {
        tools: { type: "web_search", filters: { allowed_domains: ["a.example"] }, user_location: { city: "B" } },
      },
      pick: ({ tools }: Conversation) => tools,
      want: [
        {
          kind: "hosted",
          tool: "web-search",
          type: "web_search",
          where: "tools",
          search: { allowedDomains: ["a.example"], userLocation: { city: "B" } },
        },
      ],
    },
    {
      name: "pitfall 79: a tool without a type is a function",
      body: { tools: [{ name: "f" }] },
      pick: ({ tools }: Conversation) => tools.map(({ kind }) => kind),
      want: ["function"],
    },
    {
      name: "flattens a namespace of tools",
      body: { tools: [{ type: "namespace", name: "ns", tools: [{ type: "function", name: "f" }] }] },
      pick: ({ tools }: Conversation) => tools.map((tool) => (tool.kind === "hosted" ? tool.type : tool.name)),
      want: ["ns__f"],
    },
    {
      name: "pitfall 77: every form of a choice is read",
      body: { tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "f" }] } },
      pick: ({ toolChoice }: Conversation) => toolChoice,
      want: { type: "required", only: ["f"] },
    },
    {
      name: "pitfall 77: none stays none",
      body: { tool_choice: "none" },
      pick: ({ toolChoice }: Conversation) => toolChoice,
      want: { type: "none" },
    },
    {
      name: "pitfall 77: a named tool",
      body: { tool_choice: { type: "custom", name: "c" } },
      pick: ({ toolChoice }: Conversation) => toolChoice,
      want: { type: "named", name: "c" },
    },
    {
      name: "pitfall 110: unknown members are declared and not refused",
      body: { wish: "x", truncation: "auto", include: ["web_search_call.action.sources"], max_tool_calls: 3, n: null },
      pick: ({ unread }: Conversation) => unread,
      want: ["wish", "max_tool_calls", "truncation", "include"],
    },
    {
      name: "says nothing of members that say nothing",
      body: { background: false, truncation: "disabled", include: [], moderation: null, image: {}, metadata: {} },
      pick: ({ unread }: Conversation) => unread,
      want: [],
    },
    {
      name: "keeps a member of metadata named like a prototype",
      body: JSON.parse('{"metadata": {"__proto__": "x", "n": 1}}'),
      pick: ({ metadata }: Conversation) => JSON.stringify(metadata),
      want: '{"__proto__":"x","n":"1"}',
    },
  ]) {
    it(row.name, () => assert.deepEqual(row.pick(read(row.body)), row.want));
  }
});
