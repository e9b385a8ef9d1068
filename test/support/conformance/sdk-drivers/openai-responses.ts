/** OpenAI's SDK, responses. */
import assert from "node:assert/strict";
import type OpenAI from "openai-7";
import { clientKey } from "#test/support/conformance/manifests";
import { citySchema, pixel } from "#test/support/conformance/sdk-gateway";
import { openaiGenerations } from "#test/support/official-clients";
import { type SdkDriver, weatherQuestion } from "./driver.ts";

const tools = [{ type: "function" as const, name: "weather", parameters: citySchema, strict: true }];

/** @param origin of the gateway */
export function openaiResponsesDrivers(origin: () => string): SdkDriver[] {
  return openaiGenerations.map(({ name, load }) => {
    const client = (): OpenAI => new (load())({ baseURL: `${origin()}/v1`, apiKey: clientKey("main"), maxRetries: 0 });
    return { name: `${name} responses`, ...driverOf(client) };
  });
}

function driverOf(client: () => OpenAI): Omit<SdkDriver, "name"> {
  const ask = (call: OpenAI.Responses.ResponseCreateParamsNonStreaming, stream: boolean) => {
    const { responses } = client();
    if (!stream) return responses.create(call);
    const { stream: _, ...rest } = call;
    return responses.stream(rest).finalResponse();
  };
  return {
    async text(model, prompt, stream) {
      return (await ask({ model, input: prompt }, stream)).output_text;
    },
    async useTool(model, { stream, thinks }) {
      const question = { role: "user" as const, content: weatherQuestion };
      const thinking = { reasoning: { effort: "medium" as const, summary: "auto" as const } };
      const usual = {
        model,
        tools,
        store: false,
        include: ["reasoning.encrypted_content" as const],
        ...(thinks ? thinking : {}),
      };
      const first = await ask({ ...usual, input: [question] }, stream);
      const call = first.output.find((item) => item.type === "function_call");
      assert.ok(call?.type === "function_call");
      const result = { type: "function_call_output" as const, call_id: call.call_id, output: "sunny" };
      // Items go back as they came: that is how stateless users hold a conversation.
      const history = first.output as OpenAI.Responses.ResponseInput;
      const second = await ask({ ...usual, input: [question, ...history, result] }, stream);
      const thought = first.output.flatMap((item) =>
        item.type === "reasoning" ? item.summary.map((part) => part.text) : [],
      );
      return { args: JSON.parse(call.arguments), thought: thought.join(""), text: second.output_text };
    },
    async structured(model) {
      const format = { type: "json_schema" as const, name: "city", schema: citySchema, strict: true };
      return (await client().responses.parse({ model, input: "a city", text: { format } })).output_parsed;
    },
    async describeImage(model) {
      const content = [
        { type: "input_text" as const, text: "what is this?" },
        { type: "input_image" as const, detail: "auto" as const, image_url: `data:image/png;base64,${pixel}` },
      ];
      return (await ask({ model, input: [{ role: "user", content }] }, false)).output_text;
    },
  };
}
