/** OpenAI's SDK, chat completions. */
import assert from "node:assert/strict";
import type OpenAI from "openai-7";
import { clientKey } from "#test/support/conformance/manifests";
import { citySchema, pixel } from "#test/support/conformance/sdk-gateway";
import { openaiGenerations } from "#test/support/official-clients";
import { type SdkDriver, weatherQuestion } from "./driver.ts";

const parameters = { ...citySchema, required: [...citySchema.required] };
const tools = [{ type: "function" as const, function: { name: "weather", strict: true, parameters } }];

/** @param origin of the gateway */
export function openaiChatDrivers(origin: () => string): SdkDriver[] {
  return openaiGenerations.map(({ name, load }) => {
    const client = (): OpenAI => new (load())({ baseURL: `${origin()}/v1`, apiKey: clientKey("main"), maxRetries: 0 });
    return { name: `${name} chat`, ...driverOf(client) };
  });
}

function driverOf(client: () => OpenAI): Omit<SdkDriver, "name"> {
  const ask = async (call: Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, "stream">, stream: boolean) => {
    const { completions } = client().chat;
    const reply = stream ? await completions.stream(call).finalChatCompletion() : await completions.create(call);
    return reply.choices[0]?.message ?? assert.fail("no choice");
  };
  return {
    async text(model, prompt, stream) {
      return (await ask({ model, messages: [{ role: "user", content: prompt }] }, stream)).content ?? "";
    },
    async useTool(model, { stream, thinks }) {
      const question = { role: "user" as const, content: weatherQuestion };
      const usual = { model, tools, ...(thinks ? { reasoning_effort: "medium" as const } : {}) };
      const first = await ask({ ...usual, messages: [question] }, stream);
      const call = first.tool_calls?.[0];
      assert.ok(call?.type === "function");
      const result = { role: "tool" as const, tool_call_id: call.id, content: "sunny" };
      const second = await ask({ ...usual, messages: [question, first, result] }, stream);
      return {
        args: JSON.parse(call.function.arguments),
        thought: String(Reflect.get(first, "reasoning_content") ?? ""),
        text: second.content ?? "",
      };
    },
    async structured(model) {
      const parsed = await client().chat.completions.parse({
        model,
        messages: [{ role: "user", content: "a city" }],
        response_format: { type: "json_schema", json_schema: { name: "city", strict: true, schema: citySchema } },
      });
      return parsed.choices[0]?.message.parsed;
    },
    async describeImage(model) {
      const content = [
        { type: "text" as const, text: "what is this?" },
        { type: "image_url" as const, image_url: { url: `data:image/png;base64,${pixel}` } },
      ];
      return (await ask({ model, messages: [{ role: "user", content }] }, false)).content ?? "";
    },
  };
}
