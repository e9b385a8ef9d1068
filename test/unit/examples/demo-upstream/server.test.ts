/** The official SDKs, two generations each, pointed straight at the demo upstream: their helpers must accept it. */
import assert from "node:assert/strict";
import type { Server } from "node:http";
import type Anthropic from "anthropic-1";
import type { GoogleGenAI } from "genai-3";
import { after, before, describe, it } from "mocha";
import type OpenAI from "openai-7";
import { createDemoUpstream } from "#examples/demo-upstream/server";
import { anthropicGenerations, genaiGenerations, openaiGenerations } from "#test/support/official-clients";

const schema = {
  type: "object",
  properties: {
    city: { type: "string" },
    degrees: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["city", "degrees", "tags"],
  additionalProperties: false,
} as const;
const image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("demo upstream", () => {
  let server: Server;
  let origin = "";

  before(async () => {
    server = createDemoUpstream({ paceMs: 0 });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    origin = `http://127.0.0.1:${address.port}`;
  });

  after(() => {
    server.close();
    server.closeAllConnections();
  });

  for (const { name, load } of openaiGenerations) {
    const create = (): OpenAI => new (load())({ baseURL: `${origin}/v1`, apiKey: "demo", maxRetries: 0 });
    describe(`chat completions with ${name}`, () => {
      it("answers with text and usage", async () => {
        const reply = await create().chat.completions.create({
          model: "m",
          messages: [{ role: "user", content: "good morning" }],
        });
        assert.match(reply.choices[0]?.message.content ?? "", /You said: good morning/);
        assert.equal(
          reply.usage?.total_tokens,
          (reply.usage?.prompt_tokens ?? 0) + (reply.usage?.completion_tokens ?? 0),
        );
      });

      it("streams text that the helper takes, with usage when asked", async () => {
        const stream = create().chat.completions.stream({
          model: "m",
          messages: [{ role: "user", content: "good morning" }],
          stream_options: { include_usage: true },
        });
        const reply = await stream.finalChatCompletion();
        assert.match(reply.choices[0]?.message.content ?? "", /good morning/);
        assert.ok((reply.usage?.completion_tokens ?? 0) > 0);
      });

      it("streams n choices", async () => {
        const reply = await create()
          .chat.completions.stream({ model: "m", n: 2, messages: [{ role: "user", content: "hi" }] })
          .finalChatCompletion();
        assert.equal(reply.choices.length, 2);
      });

      it("refuses more choices than OpenAI makes", async () => {
        const call = { model: "m", n: 1_000_000_000, messages: [{ role: "user" as const, content: "hi" }] };
        await assert.rejects(create().chat.completions.create(call), { status: 400, param: "n" });
      });

      it("calls a tool and answers with its result", async () => {
        const tools = [
          {
            type: "function" as const,
            function: { name: "weather", parameters: { ...schema, required: [...schema.required] } },
          },
        ];
        const first = await create()
          .chat.completions.stream({ model: "m", messages: [{ role: "user", content: "what is the weather?" }], tools })
          .finalChatCompletion();
        const call = first.choices[0]?.message.tool_calls?.[0];
        assert.ok(call?.type === "function");
        assert.deepEqual(JSON.parse(call.function.arguments), { city: "demo", degrees: 1, tags: ["demo"] });
        assert.equal(first.choices[0]?.finish_reason, "tool_calls");
        const second = await create().chat.completions.create({
          model: "m",
          tools,
          messages: [
            { role: "user", content: "what is the weather?" },
            { role: "assistant", tool_calls: [call] },
            { role: "tool", tool_call_id: call.id, content: "sunny" },
          ],
        });
        assert.match(second.choices[0]?.message.content ?? "", /The tool answered: sunny/);
      });

      it("fits a schema and mentions an image", async () => {
        const structured = await create().chat.completions.parse({
          model: "m",
          messages: [{ role: "user", content: "a city" }],
          response_format: { type: "json_schema", json_schema: { name: "city", strict: true, schema } },
        });
        assert.deepEqual(structured.choices[0]?.message.parsed, { city: "demo", degrees: 1, tags: ["demo"] });
        const seen = await create().chat.completions.create({
          model: "m",
          messages: [
            {
              role: "user",
              content: [
                { type: "text", text: "what is this?" },
                { type: "image_url", image_url: { url: `data:image/png;base64,${image}` } },
              ],
            },
          ],
        });
        assert.match(seen.choices[0]?.message.content ?? "", /I see an image/);
      });

      it("stops at max_tokens", async () => {
        const reply = await create().chat.completions.create({
          model: "m",
          max_tokens: 2,
          messages: [{ role: "user", content: "hi" }],
        });
        assert.equal(reply.choices[0]?.finish_reason, "length");
        assert.equal(reply.usage?.completion_tokens, 2);
      });

      for (const row of [
        { name: "fails by model name", model: "demo-fault-429", status: 429 },
        { name: "fails with a server error", model: "demo-fault-500", status: 500 },
      ]) {
        it(row.name, async () => {
          await assert.rejects(
            create().chat.completions.create({ model: row.model, messages: [{ role: "user", content: "hi" }] }),
            {
              status: row.status,
            },
          );
        });
      }

      for (const fault of ["cut", "error-event"]) {
        it(`never looks complete with the fault ${fault}`, async () => {
          const stream = create().chat.completions.stream({
            model: `demo-fault-${fault}`,
            messages: [{ role: "user", content: "hello there" }],
          });
          await assert.rejects(stream.finalChatCompletion());
        });
      }
    });

    describe(`responses with ${name}`, () => {
      it("answers and streams text that the helper takes", async () => {
        const reply = await create().responses.create({ model: "m", input: "good morning" });
        assert.match(reply.output_text, /good morning/);
        const streamed = await create().responses.stream({ model: "m", input: "good morning" }).finalResponse();
        assert.equal(streamed.output_text, reply.output_text);
        assert.equal(streamed.status, "completed");
        assert.deepEqual(streamed.usage, reply.usage);
      });

      it("streams a tool call", async () => {
        const reply = await create()
          .responses.stream({
            model: "m",
            input: "weather please",
            tools: [{ type: "function", name: "weather", parameters: schema, strict: true }],
          })
          .finalResponse();
        const call = reply.output[0];
        assert.ok(call?.type === "function_call");
        assert.deepEqual(JSON.parse(call.arguments), { city: "demo", degrees: 1, tags: ["demo"] });
      });

      it("fits a schema, and is incomplete at its output cap", async () => {
        const structured = await create().responses.parse({
          model: "m",
          input: "a city",
          text: { format: { type: "json_schema", name: "city", schema } },
        });
        assert.deepEqual(structured.output_parsed, { city: "demo", degrees: 1, tags: ["demo"] });
        const cut = await create()
          .responses.stream({ model: "m", input: "hello", max_output_tokens: 2 })
          .finalResponse();
        assert.equal(cut.status, "incomplete");
        assert.equal(cut.incomplete_details?.reason, "max_output_tokens");
      });
    });
  }

  for (const { name, load } of anthropicGenerations) {
    const create = (): Anthropic => new (load())({ baseURL: origin, apiKey: "demo", maxRetries: 0 });
    describe(`messages with ${name}`, () => {
      it("answers and streams the same text", async () => {
        const call = { model: "m", max_tokens: 100, messages: [{ role: "user" as const, content: "good morning" }] };
        const reply = await create().messages.create(call);
        const text = reply.content[0]?.type === "text" ? reply.content[0].text : "";
        assert.match(text, /good morning/);
        const streamed = await create().messages.stream(call).finalMessage();
        assert.equal(streamed.content[0]?.type === "text" ? streamed.content[0].text : "", text);
        assert.equal(streamed.usage.output_tokens, reply.usage.output_tokens);
        assert.equal(streamed.stop_reason, "end_turn");
      });

      it("streams a tool call that is forced", async () => {
        const reply = await create()
          .messages.stream({
            model: "m",
            max_tokens: 100,
            messages: [{ role: "user", content: "hi" }],
            tools: [{ name: "weather", input_schema: { type: "object", properties: schema.properties } }],
            tool_choice: { type: "tool", name: "weather" },
          })
          .finalMessage();
        assert.equal(reply.stop_reason, "tool_use");
        assert.deepEqual(reply.content[0]?.type === "tool_use" ? reply.content[0].input : undefined, {
          city: "demo",
          degrees: 1,
          tags: ["demo"],
        });
      });

      for (const fault of ["cut", "error-event"]) {
        it(`never looks complete with the fault ${fault}`, async () => {
          const stream = create().messages.stream({
            model: `demo-fault-${fault}`,
            max_tokens: 9,
            messages: [{ role: "user", content: "hello" }],
          });
          await assert.rejects(stream.finalMessage());
        });
      }
    });
  }

  for (const { name, load } of genaiGenerations) {
    const create = (): GoogleGenAI => new (load())({ apiKey: "demo", httpOptions: { baseUrl: origin } });
    describe(`generateContent with ${name}`, () => {
      it("answers and streams the same text", async () => {
        const reply = await create().models.generateContent({ model: "m", contents: "good morning" });
        assert.match(reply.text ?? "", /good morning/);
        let streamed = "";
        let tokens = 0;
        for await (const chunk of await create().models.generateContentStream({
          model: "m",
          contents: "good morning",
        })) {
          streamed += chunk.text ?? "";
          tokens = chunk.usageMetadata?.candidatesTokenCount ?? tokens;
        }
        assert.equal(streamed, reply.text);
        assert.equal(tokens, reply.usageMetadata?.candidatesTokenCount);
      });

      it("keeps a streamed turn in the history of a chat", async () => {
        const chat = create().chats.create({ model: "m" });
        for await (const chunk of await chat.sendMessageStream({ message: "good morning" }))
          assert.ok(chunk.responseId);
        assert.equal(chat.getHistory().filter((content) => content.role === "model").length > 0, true);
      });

      it("calls a tool and fits a schema", async () => {
        const called = await create().models.generateContent({
          model: "m",
          contents: "the weather",
          config: { tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: schema }] }] },
        });
        assert.deepEqual(called.functionCalls?.[0]?.args, { city: "demo", degrees: 1, tags: ["demo"] });
        const structured = await create().models.generateContent({
          model: "m",
          contents: "a city",
          config: { responseMimeType: "application/json", responseJsonSchema: schema },
        });
        assert.deepEqual(JSON.parse(structured.text ?? ""), { city: "demo", degrees: 1, tags: ["demo"] });
      });

      // The older generation takes an error frame for an empty chunk; a cut stream it notices.
      it("fails inside a stream", async () => {
        await assert.rejects(async () => {
          for await (const _ of await create().models.generateContentStream({
            model: `demo-fault-${name === "genai 1" ? "cut" : "error-event"}`,
            contents: "hi",
          }));
        });
      });
    });
  }

  it("streams a JSON array without alt=sse", async () => {
    const reply = await fetch(`${origin}/v1beta/models/m:streamGenerateContent?key=demo`, {
      method: "POST",
      body: JSON.stringify({ contents: [{ role: "user", parts: [{ text: "hi" }] }] }),
    });
    const chunks = await reply.json();
    assert.ok(Array.isArray(chunks) && chunks.length > 2);
  });

  it("refuses a call without a credential in the shape of the format", async () => {
    const reply = await fetch(`${origin}/v1/messages`, { method: "POST", body: "{}" });
    assert.equal(reply.status, 401);
    assert.equal((await reply.text()).includes("authentication_error"), true);
  });
});
