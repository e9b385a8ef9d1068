/** OpenAI's official SDK, two generations, as a client of the real program: responses. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type OpenAI from "openai-7";
import { clientKey } from "#test/support/conformance/manifests";
import { city, citySchema, pixel, useSdkGateway } from "#test/support/conformance/sdk-gateway";
import { openaiGenerations } from "#test/support/official-clients";

const tools = [{ type: "function" as const, name: "weather", parameters: citySchema, strict: true }];
const format = { type: "json_schema" as const, name: "city", schema: citySchema, strict: true };

describe("official SDKs: responses", function () {
  this.timeout(20_000);
  const gateway = useSdkGateway();

  for (const { name, load } of openaiGenerations) {
    const create = (base = "/v1"): OpenAI =>
      new (load())({ baseURL: `${gateway().origin}${base}`, apiKey: clientKey("main"), maxRetries: 0 });

    for (const base of ["/v1", "", "/v1/v1"]) {
      it(`${name} gets text with a base URL that ends in '${base}'`, async () => {
        const reply = await create(base).responses.create({ model: "demo", input: "good morning" });
        assert.match(reply.output_text, /good morning/);
      });
    }

    it(`${name} reads usage, status and the request id`, async () => {
      const { data, request_id } = await create()
        .responses.create({ model: "demo", input: "good morning" })
        .withResponse();
      assert.equal(data.status, "completed");
      const { usage } = data;
      assert.deepEqual(usage, {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: usage?.output_tokens,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 3 + (usage?.output_tokens ?? 0),
      });
      assert.match(request_id ?? "", /^req_/);
    });

    it(`${name} streams by its helper what it gets unstreamed`, async () => {
      const whole = await create().responses.create({ model: "demo", input: "good morning" });
      const stream = create().responses.stream({ model: "demo", input: "good morning" });
      let text = "";
      const types: string[] = [];
      for await (const event of stream) {
        types.push(event.type);
        if (event.type === "response.output_text.delta") text += event.delta;
      }
      const final = await stream.finalResponse();
      assert.equal(text, whole.output_text);
      assert.equal(final.output_text, whole.output_text);
      assert.deepEqual(final.usage, whole.usage);
      assert.equal(types[0], "response.created");
      assert.equal(types.at(-1), "response.completed");
    });

    for (const isStream of [true, false]) {
      it(`${name} calls a tool over two turns${isStream ? ", streamed" : ""}`, async () => {
        const ask = (input: OpenAI.Responses.ResponseInput) => {
          const call = { model: "demo", input, tools };
          const { responses } = create();
          return isStream ? responses.stream(call).finalResponse() : responses.create(call);
        };
        const question = { role: "user" as const, content: "what is the weather?" };
        const first = await ask([question]);
        const call = first.output[0];
        assert.ok(call?.type === "function_call");
        assert.deepEqual(JSON.parse(call.arguments), city);
        const second = await ask([
          question,
          {
            type: "function_call",
            call_id: call.call_id,
            name: call.name,
            arguments: call.arguments,
            ...(call.id === undefined ? {} : { id: call.id }),
          },
          { type: "function_call_output", call_id: call.call_id, output: "sunny" },
        ]);
        assert.match(second.output_text, /The tool answered: sunny/);
      });
    }

    it(`${name} parses structured output, streamed and not`, async () => {
      const call = { model: "demo", input: "a city", text: { format } };
      assert.deepEqual((await create().responses.parse(call)).output_parsed, city);
      assert.deepEqual(JSON.parse((await create().responses.stream(call).finalResponse()).output_text), city);
    });

    it(`${name} sends an image`, async () => {
      const reply = await create().responses.create({
        model: "demo",
        input: [
          {
            role: "user",
            content: [
              { type: "input_text", text: "what is this?" },
              { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${pixel}` },
            ],
          },
        ],
      });
      assert.match(reply.output_text, /I see an image/);
    });

    it(`${name} is told that the output cap was reached, streamed and not`, async () => {
      const call = { model: "demo", input: "hello", max_output_tokens: 2 };
      for (const reply of [
        await create().responses.create(call),
        await create().responses.stream(call).finalResponse(),
      ]) {
        assert.equal(reply.status, "incomplete");
        assert.equal(reply.incomplete_details?.reason, "max_output_tokens");
      }
    });

    it(`${name} may not refer to what another tenant of the upstream account could own`, async () => {
      const refused = { status: 400, code: "unsupported_parameter" };
      const { responses } = create();
      await assert.rejects(responses.create({ model: "demo", input: "hi", previous_response_id: "resp_1" }), {
        status: 400,
        code: "previous_response_not_found",
        param: "previous_response_id",
      });
      await assert.rejects(responses.create({ model: "demo", input: "hi", background: true }), {
        ...refused,
        param: "background",
      });
    });
  }
});
