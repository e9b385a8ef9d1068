import assert from "node:assert/strict";
import fc from "fast-check";
import { aggregateReply } from "#proxy/neutral/aggregate-reply";
import { conversationOf, writeStream, writeWhole, writtenRequest } from "#test/support/translation/chat-exchange";
import { publishedChatSchemas } from "#test/support/translation/published-chat-schemas";
import { anyReply, mixedEvents } from "#test/support/translation/random-replies";

const problemsOf = publishedChatSchemas();

/** The page and the official SDK know calls of custom tools in streams; the document knows functions only. */
const unknownToTheDocument = "/choices/N/delta/tool_calls/N/type enum";

describe("chat completions: OpenAI's published document", () => {
  if (problemsOf === undefined) {
    it("SKIPPED: the document is absent", function () {
      this.skip();
    });
    return;
  }

  it("accepts every reply that is written, whole and streamed, without relaxation", () => {
    fc.assert(
      fc.property(anyReply(), fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 5 }), (reply, turns) => {
        const events = mixedEvents(reply, turns);
        assert.deepEqual(problemsOf("body", writeWhole(aggregateReply(events))), []);
        for (const frame of writeStream(events).split("\n\n")) {
          if (!frame.startsWith("data: {")) continue;
          const problems = problemsOf("chunk", JSON.parse(frame.slice("data: ".length)));
          assert.deepEqual(
            problems.filter((problem) => problem !== unknownToTheDocument),
            [],
          );
        }
      }),
      { numRuns: 60 },
    );
  });

  it("notices what is wrong", () => {
    assert.notDeepEqual(
      problemsOf("body", { ...writeWhole({ id: "", model: "", candidates: [], usage: undefined }), id: 1 }),
      [],
    );
  });

  const f = { type: "function", function: { name: "f" } };
  const grammar = { type: "grammar", grammar: { syntax: "lark", definition: "D" } };
  for (const { name, body } of [
    {
      name: "parameters",
      body: {
        ...{ temperature: 1, top_p: 1, n: 2, seed: 1, stop: ["a"], presence_penalty: 1, frequency_penalty: 1 },
        ...{
          logit_bias: { 5: 1 },
          logprobs: true,
          top_logprobs: 2,
          max_completion_tokens: 9,
          reasoning_effort: "high",
        },
        ...{ metadata: { a: "b" }, user: "u", store: true, service_tier: "flex", verbosity: "low", stream: true },
        ...{ safety_identifier: "s", prompt_cache_key: "k", modalities: ["text", "audio"] },
        audio: { voice: "alloy", format: "wav" },
        response_format: { type: "json_schema", json_schema: { name: "x", schema: { type: "object" } } },
      },
    },
    {
      name: "tools",
      body: {
        tools: [f, { type: "custom", custom: { name: "c", description: "C", format: grammar } }],
        tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [f] } },
        parallel_tool_calls: false,
      },
    },
    {
      name: "messages",
      body: {
        messages: [
          { role: "developer", content: "S" },
          {
            role: "user",
            name: "ann",
            content: [
              { type: "text", text: "x" },
              { type: "image_url", image_url: { url: "https://example.com/a.png", detail: "low" } },
              { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0xLjcK" } },
              { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
            ],
          },
          {
            role: "assistant",
            content: null,
            tool_calls: [
              { id: "a", ...f, function: { name: "f", arguments: "{}" } },
              { id: "b", type: "custom", custom: { name: "c", input: "x" } },
            ],
          },
          { role: "tool", tool_call_id: "a", content: "1" },
          { role: "assistant", refusal: "no" },
        ],
      },
    },
  ]) {
    it(`accepts a request with all ${name}`, () => {
      assert.deepEqual(problemsOf("request", writtenRequest(conversationOf(body)).body), []);
    });
  }
});
