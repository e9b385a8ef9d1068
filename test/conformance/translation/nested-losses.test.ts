/** What a client says inside a member and another format has no place for: declared, wherever it stands. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { formats, sendTo } from "#test/support/translation/pure-translation";

const schema = { type: "object", properties: {} };
const pdf = { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" } };
const asking = (block: object) => ({
  model: "m",
  max_tokens: 5_000,
  messages: [{ role: "user", content: [block, { type: "text", text: "x" }] }],
});

const rows: readonly {
  readonly name: string;
  readonly from: ChatWireFormat;
  readonly body: object;
  readonly dropped: readonly string[];
}[] = [
  {
    name: "how a model should reason",
    from: "Responses",
    body: { model: "m", input: "x", reasoning: { effort: "low", mode: "pro", context: "all_turns" } },
    dropped: ["reasoning.mode", "reasoning.context"],
  },
  {
    name: "text options",
    from: "Responses",
    body: { model: "m", input: "x", text: { style: "plain" } },
    dropped: ["text.style"],
  },
  {
    name: "how a tool may be used",
    from: "Responses",
    body: {
      model: "m",
      input: "x",
      tools: [
        { type: "function", name: "f", parameters: schema, strict: false, defer_loading: true, output_schema: schema },
      ],
    },
    dropped: ["tools[0].defer_loading", "tools[0].output_schema"],
  },
  {
    name: "how a tool may be used",
    from: "ChatCompletions",
    body: {
      model: "m",
      messages: [{ role: "user", content: "x" }],
      tools: [{ type: "function", function: { name: "f", parameters: schema, examples: [{}], nothing: null } }],
    },
    dropped: ["tools[0].function.examples"],
  },
  {
    name: "that a result is not the last",
    from: "GenerateContent",
    body: {
      contents: [
        { role: "user", parts: [{ text: "x" }] },
        { role: "model", parts: [{ functionCall: { id: "c", name: "f", args: {} } }] },
        {
          role: "user",
          parts: [
            { functionResponse: { id: "c", name: "f", response: { a: 1 }, will_continue: true, scheduling: "SILENT" } },
          ],
        },
      ],
      tools: [{ functionDeclarations: [{ name: "f" }] }],
    },
    dropped: [
      "contents[2].parts[0].functionResponse.will_continue",
      "contents[2].parts[0].functionResponse.scheduling",
    ],
  },
  {
    name: "what a document is and that it shall be cited",
    from: "Messages",
    body: asking({ ...pdf, context: "a report", citations: { enabled: true } }),
    dropped: ["messages.0.content.0.context", "messages.0.content.0.citations"],
  },
  {
    name: "notes of providers and agents on earlier answers",
    from: "Responses",
    body: {
      model: "m",
      input: [
        { role: "user", content: "x" },
        {
          type: "message",
          role: "assistant",
          id: "msg_1",
          status: "completed",
          phase: "final_answer",
          internal_chat_message_metadata_passthrough: { turn_id: "t" },
          content: [
            {
              type: "output_text",
              text: "hi",
              annotations: [{ type: "url_citation", url: "https://a.test", title: "a", start_index: 0, end_index: 2 }],
              logprobs: [{ token: "hi", bytes: [104, 105], logprob: -1, top_logprobs: [] }],
            },
          ],
        },
        { role: "user", content: "y" },
      ],
    },
    dropped: [],
  },
  {
    name: "notes of providers on earlier answers",
    from: "Messages",
    body: {
      model: "m",
      max_tokens: 5_000,
      messages: [
        { role: "user", content: "x" },
        {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          stop_reason: "end_turn",
          usage: { input_tokens: 1, output_tokens: 1 },
          content: [{ type: "text", text: "hi", citations: [{ type: "char_location", cited_text: "hi" }] }],
        },
        { role: "user", content: "y" },
      ],
    },
    dropped: [],
  },
  {
    name: "what a namespace of tools is",
    from: "Responses",
    body: {
      model: "m",
      input: "x",
      tools: [
        {
          type: "namespace",
          name: "n",
          description: "tools of n",
          tools: [{ type: "function", name: "f", parameters: schema, strict: false }],
        },
      ],
    },
    dropped: ["tools[0].description"],
  },
];

describe("losses inside members", () => {
  for (const { name, from, body, dropped } of rows) {
    for (const to of formats.filter((format) => format !== from)) {
      it(`are declared: ${name}, from ${from} to ${to}`, () => {
        const sent = sendTo(to, from, body);
        assert.ok("body" in sent, JSON.stringify(sent));
        assert.deepEqual([...(sent.dropped ?? [])].sort(), [...dropped].sort());
      });
    }
  }

  for (const [name, search, dropped] of [
    ["nothing of what a search does anyway", { external_web_access: true, search_context_size: "medium" }, undefined],
    ["that a search was to read no live pages", { external_web_access: false }, ["tools[0].external_web_access"]],
    ["how much a search was to read", { search_context_size: "high" }, ["tools[0].search_context_size"]],
  ] as const) {
    it(`are declared: ${name}`, () => {
      const body = { model: "m", input: "x", tools: [{ type: "web_search", ...search }] };
      const sent = sendTo("Messages", "Responses", body);
      assert.ok("body" in sent, JSON.stringify(sent));
      assert.deepEqual(sent.dropped, dropped);
    });
  }

  it("are named where they stand, also the mark and the words of a document that is images alone", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
    const source = { type: "content", content: [image, image] };
    const body = asking({ type: "document", title: "a book", source, cache_control: { type: "ephemeral" } });
    const sent = sendTo("GenerateContent", "Messages", body);
    assert.ok("body" in sent, JSON.stringify(sent));
    assert.match(JSON.stringify(sent.body), /a book/);
    assert.deepEqual(sent.dropped, ["messages.0.content.0.source.content.1.cache_control"]);
  });
});
