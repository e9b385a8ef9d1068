/** Anthropic's official SDK, two generations, as a client of the real program. */
import assert from "node:assert/strict";
import type Anthropic from "anthropic-1";
import { describe, it } from "mocha";
import { clientKey } from "#test/support/conformance/manifests";
import { city, citySchema, demoModels, pixel, useSdkGateway } from "#test/support/conformance/sdk-gateway";
import { anthropicGenerations } from "#test/support/official-clients";

const inputSchema = { ...citySchema, required: [...citySchema.required] };
const tools = [{ name: "weather", input_schema: inputSchema }];
const question = { role: "user" as const, content: "what is the weather?" };
const usual = { model: "demo", max_tokens: 100, messages: [question] };

function textOf(message: Anthropic.Message): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

describe("official SDKs: messages", function () {
  this.timeout(20_000);
  const gateway = useSdkGateway();

  for (const { name, load } of anthropicGenerations) {
    const create = (base = ""): Anthropic =>
      new (load())({ baseURL: `${gateway().origin}${base}`, apiKey: clientKey("main"), maxRetries: 0 });

    for (const base of ["", "/", "/v1"]) {
      it(`${name} lists models, gets one and gets text with a base URL that ends in '${base}'`, async () => {
        const listed: string[] = [];
        for await (const model of create(base).models.list({ limit: 1 })) listed.push(model.id);
        assert.deepEqual(listed, [...demoModels].sort(), "over several pages");
        const model = await create(base).models.retrieve("demo");
        assert.equal(model.type, "model");
        assert.equal(model.display_name, "Demo 0");
        assert.match(textOf(await create(base).messages.create(usual)), /what is the weather/);
      });
    }

    it(`${name} gets and calls a model with a slash and a colon in its name`, async () => {
      assert.equal((await create().models.retrieve("maker/demo:1")).id, "maker/demo:1");
      const reply = await create().messages.create({ ...usual, model: "maker/demo:1" });
      assert.match(textOf(reply), /You said/);
    });

    it(`pitfall 142: ${name} authenticates by a bearer token alone, with its own version`, async () => {
      const byToken = (authToken: string): Anthropic =>
        new (load())({ baseURL: gateway().origin, apiKey: null, authToken, maxRetries: 0 });
      const client = byToken(clientKey("main"));
      assert.match(textOf(await client.messages.create(usual)), /You said/);
      const [model] = (await client.models.list()).data;
      assert.equal(model?.type, "model", "the list has the shape of the SDK's own format");
      await assert.rejects(byToken("sk-unknown").messages.create(usual), (error: unknown) => {
        const { status, error: body } = error as {
          status?: unknown;
          error?: { type?: string; error?: { type?: string } };
        };
        assert.deepEqual([status, body?.type, body?.error?.type], [401, "error", "authentication_error"]);
        return true;
      });
    });

    it(`${name} reads usage and the request id`, async () => {
      const { data, request_id } = await create().messages.create(usual).withResponse();
      assert.match(request_id ?? "", /^req_/);
      assert.equal(data.usage.input_tokens, 5);
      assert.equal(data.usage.cache_read_input_tokens, 0);
      assert.equal(data.usage.output_tokens > 0, true);
      assert.equal(data.stop_reason, "end_turn");
    });

    it(`${name} streams by its helper what it gets unstreamed`, async () => {
      const whole = await create().messages.create(usual);
      let text = "";
      const stream = create()
        .messages.stream(usual)
        .on("text", (delta) => {
          text += delta;
        });
      const final = await stream.finalMessage();
      assert.equal(text, textOf(whole));
      assert.equal(textOf(final), textOf(whole));
      assert.deepEqual(
        { input: final.usage.input_tokens, output: final.usage.output_tokens },
        { input: whole.usage.input_tokens, output: whole.usage.output_tokens },
      );
      assert.match(stream.request_id ?? "", /^req_/);
    });

    for (const isStream of [true, false]) {
      it(`${name} calls a tool over two turns${isStream ? ", streamed" : ""}`, async () => {
        const ask = (messages: Anthropic.MessageParam[]) => {
          const call = { ...usual, messages, tools };
          return isStream ? create().messages.stream(call).finalMessage() : create().messages.create(call);
        };
        const first = await ask([question]);
        const call = first.content.find((block) => block.type === "tool_use");
        assert.ok(call !== undefined);
        assert.deepEqual(call.input, city);
        assert.equal(first.stop_reason, "tool_use");
        const second = await ask([
          question,
          { role: "assistant", content: first.content },
          { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "sunny" }] },
        ]);
        assert.match(textOf(second), /The tool answered: sunny/);
      });
    }

    it(`${name} parses structured output`, async () => {
      const format = { type: "json_schema" as const, schema: inputSchema };
      const parsed = await create().messages.parse({ ...usual, output_config: { format } });
      assert.deepEqual(JSON.parse(textOf(parsed)), city);
    });

    it(`${name} sends an image and a system text`, async () => {
      const reply = await create().messages.create({
        ...usual,
        system: [{ type: "text", text: "be brief", cache_control: { type: "ephemeral" } }],
        messages: [
          {
            role: "user",
            content: [
              { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } },
              { type: "text", text: "what is this?" },
            ],
          },
        ],
      });
      assert.match(textOf(reply), /I see an image/);
    });

    it(`${name} is told that max_tokens was reached, streamed and not`, async () => {
      const call = { ...usual, max_tokens: 2 };
      assert.equal((await create().messages.create(call)).stop_reason, "max_tokens");
      assert.equal((await create().messages.stream(call).finalMessage()).stop_reason, "max_tokens");
    });

    it(`${name} ends a stream in the middle, and the gateway lives on`, async () => {
      const stream = create().messages.stream(usual);
      for await (const _ of stream) break;
      assert.match(textOf(await create().messages.create(usual)), /You said/);
    });
  }
});
