/** OpenAI's official SDK, two generations, as a client of the real program: models and chat completions. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type OpenAI from "openai-7";
import { clientKey } from "#test/support/conformance/manifests";
import { city, citySchema, demoModels, pixel, useSdkGateway } from "#test/support/conformance/sdk-gateway";
import { openaiGenerations } from "#test/support/official-clients";

const parameters = { ...citySchema, required: [...citySchema.required] };
const weather = { type: "function" as const, function: { name: "weather", strict: true, parameters } };
const question = { role: "user" as const, content: "what is the weather?" };

describe("official SDKs: chat completions", function () {
  this.timeout(20_000);
  const gateway = useSdkGateway();

  for (const { name, load } of openaiGenerations) {
    const create = (base = "/v1"): OpenAI =>
      new (load())({ baseURL: `${gateway().origin}${base}`, apiKey: clientKey("main"), maxRetries: 0 });

    for (const base of ["/v1", "", "/v1/", "/v1/v1"]) {
      it(`${name} lists models, gets one and chats with a base URL that ends in '${base}'`, async () => {
        const listed: string[] = [];
        for await (const model of create(base).models.list()) listed.push(model.id);
        assert.deepEqual(listed, [...demoModels].sort());
        const model = await create(base).models.retrieve("demo");
        assert.deepEqual({ ...model }, { id: "demo", object: "model", created: model.created, owned_by: "the makers" });
        assert.equal(Number.isInteger(model.created), true);
        const reply = await create(base).chat.completions.create({ model: "demo", messages: [question] });
        assert.match(reply.choices[0]?.message.content ?? "", /what is the weather/);
      });
    }

    it(`pitfall 140: ${name} gets and calls a model with a slash and a colon in its name, and no other`, async () => {
      assert.equal((await create().models.retrieve("maker/demo:1")).id, "maker/demo:1");
      const unknown = { status: 404, code: "model_not_found" };
      await assert.rejects(create().models.retrieve("maker/demo"), unknown);
      await assert.rejects(create().models.retrieve("vendor/model-x"), unknown);
      const reply = await create().chat.completions.create({ model: "maker/demo:1", messages: [question] });
      assert.match(reply.choices[0]?.message.content ?? "", /You said/);
    });

    it(`${name} reads the usage and the request id of a reply`, async () => {
      const { data, response, request_id } = await create()
        .chat.completions.create({ model: "demo", messages: [question] })
        .withResponse();
      assert.deepEqual(data.usage, {
        prompt_tokens: 5,
        completion_tokens: data.usage?.completion_tokens,
        total_tokens: 5 + (data.usage?.completion_tokens ?? 0),
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 0,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      });
      assert.match(request_id ?? "", /^req_/);
      assert.equal(Reflect.get(data, "_request_id"), request_id);
      assert.equal(response.headers.get("request-id"), request_id);
    });

    it(`${name} streams by its helper, with usage when it asks`, async () => {
      const stream = create().chat.completions.stream({
        model: "demo",
        messages: [question],
        stream_options: { include_usage: true },
      });
      let text = "";
      stream.on("content", (delta) => {
        text += delta;
      });
      const final = await stream.finalChatCompletion();
      assert.equal(final.choices[0]?.message.content, text);
      assert.equal(final.usage?.prompt_tokens, 5);
      assert.equal(final.choices[0]?.finish_reason, "stop");
    });

    it(`${name} sees no usage in a stream where it did not ask, though it is billed`, async () => {
      const stream = await create().chat.completions.create({ model: "demo", messages: [question], stream: true });
      let chunks = 0;
      for await (const chunk of stream) {
        chunks += 1;
        assert.equal("usage" in chunk, false);
        assert.equal(chunk.choices.length, 1);
      }
      assert.equal(chunks > 3, true);
    });

    it(`${name} streams several choices`, async () => {
      const stream = create().chat.completions.stream({ model: "demo", n: 3, messages: [question] });
      assert.equal((await stream.finalChatCompletion()).choices.length, 3);
    });

    for (const isStream of [true, false]) {
      it(`${name} calls a tool over two turns${isStream ? ", streamed" : ""}`, async () => {
        const ask = (messages: OpenAI.Chat.ChatCompletionMessageParam[]) => {
          const call = { model: "demo", messages, tools: [weather] };
          const { completions } = create().chat;
          return isStream ? completions.stream(call).finalChatCompletion() : completions.create(call);
        };
        const first = await ask([question]);
        const message = first.choices[0]?.message;
        const call = message?.tool_calls?.[0];
        assert.ok(message !== undefined && call?.type === "function");
        assert.deepEqual(JSON.parse(call.function.arguments), city);
        assert.equal(first.choices[0]?.finish_reason, "tool_calls");
        const second = await ask([question, message, { role: "tool", tool_call_id: call.id, content: "sunny" }]);
        assert.match(second.choices[0]?.message.content ?? "", /The tool answered: sunny/);
      });
    }

    it(`${name} runs tools by its own runner`, async () => {
      const asked: unknown[] = [];
      const runner = create().chat.completions.runTools({
        model: "demo",
        messages: [question],
        tools: [
          {
            type: "function",
            function: {
              name: "weather",
              description: "tells the weather",
              parameters,
              parse: JSON.parse,
              function: (given: unknown) => {
                asked.push(given);
                return "rainy";
              },
            },
          },
        ],
      });
      assert.match((await runner.finalContent()) ?? "", /rainy/);
      assert.deepEqual(asked, [city]);
    });

    it(`${name} parses structured output, streamed and not`, async () => {
      const call = {
        model: "demo",
        messages: [question],
        response_format: {
          type: "json_schema" as const,
          json_schema: { name: "city", strict: true, schema: citySchema },
        },
      };
      const parsed = await create().chat.completions.parse(call);
      assert.deepEqual(parsed.choices[0]?.message.parsed, city);
      const streamed = await create().chat.completions.stream(call).finalChatCompletion();
      assert.deepEqual(JSON.parse(streamed.choices[0]?.message.content ?? ""), city);
    });

    it(`${name} sends an image`, async () => {
      const content = [
        { type: "text" as const, text: "what is this?" },
        { type: "image_url" as const, image_url: { url: `data:image/png;base64,${pixel}` } },
      ];
      const reply = await create().chat.completions.create({ model: "demo", messages: [{ role: "user", content }] });
      assert.match(reply.choices[0]?.message.content ?? "", /I see an image/);
      assert.equal((reply.usage?.prompt_tokens ?? 0) > 85, true);
    });

    it(`${name} is told that the output cap was reached`, async () => {
      const reply = await create().chat.completions.create({
        model: "demo",
        max_completion_tokens: 2,
        messages: [question],
      });
      assert.equal(reply.choices[0]?.finish_reason, "length");
    });

    it(`${name} ends a stream in the middle, and the gateway lives on`, async () => {
      const stream = await create().chat.completions.create({ model: "demo", messages: [question], stream: true });
      for await (const _ of stream) break;
      const reply = await create().chat.completions.create({ model: "demo", messages: [question] });
      assert.equal(reply.choices.length, 1);
    });
  }
});
