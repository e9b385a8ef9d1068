/** Google's official SDK, two generations, as a client of the real program. */
import assert from "node:assert/strict";
import type { Content, GoogleGenAI, Part } from "genai-3";
import { describe, it } from "mocha";
import { clientKey } from "#test/support/conformance/manifests";
import { city, citySchema, demoModels, pixel, useSdkGateway } from "#test/support/conformance/sdk-gateway";
import { genaiGenerations } from "#test/support/official-clients";

const tools = [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: citySchema }] }];
const usual = { model: "demo", contents: "what is the weather?" };

describe("official SDKs: generateContent", function () {
  this.timeout(20_000);
  const gateway = useSdkGateway();

  for (const { name, load } of genaiGenerations) {
    const create = (base = "", options: { apiVersion?: string } = {}): GoogleGenAI =>
      new (load())({
        apiKey: clientKey("main"),
        httpOptions: { baseUrl: `${gateway().origin}${base}`, ...options },
      });

    for (const row of [
      { base: "" },
      { base: "/" },
      { base: "/v1beta" },
      { base: "/v1" },
      { base: "", apiVersion: "v1" },
      { base: "", apiVersion: "v1beta" },
      { base: "", apiVersion: "v1alpha" },
      { base: "/v1beta", apiVersion: "v1beta" },
    ]) {
      const { base, ...options } = row;
      it(`pitfall 141: ${name} lists, gets and calls with base '${base}' and ${row.apiVersion ?? "its own version"}`, async () => {
        const client = create(base, options);
        const listed: (string | undefined)[] = [];
        for await (const model of await client.models.list({ config: { pageSize: 1 } })) listed.push(model.name);
        assert.deepEqual(
          listed,
          [...demoModels].sort().map((model) => `models/${model}`),
          "over several pages",
        );
        const model = await client.models.get({ model: "demo" });
        assert.equal(model.name, "models/demo");
        assert.equal(model.inputTokenLimit, 128_000);
        assert.match((await client.models.generateContent(usual)).text ?? "", /what is the weather/);
        let streamed = "";
        for await (const frame of await client.models.generateContentStream(usual)) streamed += frame.text ?? "";
        assert.match(streamed, /what is the weather/);
        assert.ok(Number((await client.models.countTokens(usual)).totalTokens) > 0);
      });
    }

    it(`${name} gets and calls a model with a slash and a colon in its name`, async () => {
      // The SDK takes a bare slash for another publisher's path, so its users write the collection's name.
      const model = "models/maker/demo:1";
      assert.equal((await create().models.get({ model })).name, model);
      assert.match((await create().models.generateContent({ ...usual, model })).text ?? "", /You said/);
    });

    it(`${name} reads usage and the request id`, async () => {
      const reply = await create().models.generateContent(usual);
      const { usageMetadata } = reply;
      assert.equal(usageMetadata?.promptTokenCount, 5);
      assert.equal(usageMetadata?.totalTokenCount, 5 + (usageMetadata?.candidatesTokenCount ?? 0));
      assert.match(reply.sdkHttpResponse?.headers?.["x-request-id"] ?? "", /^req_/);
      assert.equal(reply.candidates?.[0]?.finishReason, "STOP");
    });

    it(`${name} streams what it gets unstreamed`, async () => {
      const whole = await create().models.generateContent(usual);
      let text = "";
      let tokens = 0;
      let chunks = 0;
      for await (const chunk of await create().models.generateContentStream(usual)) {
        text += chunk.text ?? "";
        tokens = chunk.usageMetadata?.candidatesTokenCount ?? tokens;
        chunks += 1;
      }
      assert.equal(text, whole.text);
      assert.equal(tokens, whole.usageMetadata?.candidatesTokenCount);
      assert.equal(chunks > 3, true);
    });

    it(`${name} holds a chat of two turns, streamed and not`, async () => {
      const chat = create().chats.create({ model: "demo", config: { systemInstruction: "be brief" } });
      assert.match((await chat.sendMessage({ message: "good morning" })).text ?? "", /good morning/);
      let text = "";
      for await (const chunk of await chat.sendMessageStream({ message: "good evening" })) text += chunk.text ?? "";
      assert.match(text, /good evening/);
      const roles = chat.getHistory().map(({ role }) => role);
      assert.deepEqual([...new Set(roles)], ["user", "model"]);
      assert.equal(roles.filter((role) => role === "user").length, 2);
    });

    it(`${name} calls a tool over two turns`, async () => {
      const question: Content = { role: "user", parts: [{ text: "what is the weather?" }] };
      const first = await create().models.generateContent({ model: "demo", contents: [question], config: { tools } });
      const [call] = first.functionCalls ?? [];
      assert.deepEqual(call?.args, city);
      const asked = first.candidates?.[0]?.content;
      assert.ok(asked !== undefined);
      const answered: Part = { functionResponse: { name: "weather", response: { output: "sunny" } } };
      const second = await create().models.generateContent({
        model: "demo",
        contents: [question, asked, { role: "user", parts: [answered] }],
        config: { tools },
      });
      assert.match(second.text ?? "", /The tool answered: .*sunny/);
    });

    it(`${name} gets structured output by either kind of schema`, async () => {
      for (const config of [{ responseJsonSchema: citySchema }, { responseSchema: googleSchema }]) {
        const reply = await create().models.generateContent({
          ...usual,
          config: { responseMimeType: "application/json", ...config },
        });
        assert.deepEqual(JSON.parse(reply.text ?? ""), city);
      }
    });

    it(`${name} sends an image`, async () => {
      const parts: Part[] = [{ inlineData: { mimeType: "image/png", data: pixel } }, { text: "what is this?" }];
      const reply = await create().models.generateContent({ model: "demo", contents: [{ role: "user", parts }] });
      assert.match(reply.text ?? "", /I see an image/);
    });

    it(`${name} is told that the output cap was reached`, async () => {
      const reply = await create().models.generateContent({ ...usual, config: { maxOutputTokens: 2 } });
      assert.equal(reply.candidates?.[0]?.finishReason, "MAX_TOKENS");
    });
  }
});

/** The OpenAPI subset, with its upper-case types. */
const googleSchema = {
  type: "OBJECT",
  properties: { city: { type: "STRING" }, degrees: { type: "INTEGER" } },
  required: ["city", "degrees"],
};
