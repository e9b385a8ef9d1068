/** Anthropic's SDK, messages. */
import assert from "node:assert/strict";
import type Anthropic from "anthropic-1";
import { clientKey } from "#test/support/conformance/manifests";
import { citySchema, pixel } from "#test/support/conformance/sdk-gateway";
import { anthropicGenerations } from "#test/support/official-clients";
import { type SdkDriver, weatherQuestion } from "./driver.ts";

const inputSchema = { ...citySchema, required: [...citySchema.required] };
const tools = [{ name: "weather", input_schema: inputSchema }];

/** @param origin of the gateway */
export function anthropicDrivers(origin: () => string): SdkDriver[] {
  return anthropicGenerations.map(({ name, load }) => {
    const client = (): Anthropic => new (load())({ baseURL: origin(), apiKey: clientKey("main"), maxRetries: 0 });
    return { name: `${name} messages`, ...driverOf(client) };
  });
}

function textOf(message: Anthropic.Message): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function driverOf(client: () => Anthropic): Omit<SdkDriver, "name"> {
  const ask = (call: Omit<Anthropic.MessageCreateParamsNonStreaming, "max_tokens">, stream: boolean) => {
    const whole = { max_tokens: 4_096, ...call };
    return stream ? client().messages.stream(whole).finalMessage() : client().messages.create(whole);
  };
  return {
    async text(model, prompt, stream) {
      return textOf(await ask({ model, messages: [{ role: "user", content: prompt }] }, stream));
    },
    async useTool(model, { stream, thinks }) {
      const question = { role: "user" as const, content: weatherQuestion };
      const thinking = { thinking: { type: "enabled" as const, budget_tokens: 2_048 } };
      const usual = { model, tools, ...(thinks ? thinking : {}) };
      const first = await ask({ ...usual, messages: [question] }, stream);
      const call = first.content.find((block) => block.type === "tool_use");
      assert.ok(call !== undefined);
      const second = await ask(
        {
          ...usual,
          messages: [
            question,
            { role: "assistant", content: first.content },
            { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "sunny" }] },
          ],
        },
        stream,
      );
      const thought = first.content.map((block) => (block.type === "thinking" ? block.thinking : ""));
      return { args: call.input, thought: thought.join(""), text: textOf(second) };
    },
    async structured(model) {
      const format = { type: "json_schema" as const, schema: inputSchema };
      const messages = [{ role: "user" as const, content: "a city" }];
      const parsed = await client().messages.parse({ model, max_tokens: 100, messages, output_config: { format } });
      return JSON.parse(textOf(parsed));
    },
    async describeImage(model) {
      const content = [
        { type: "image" as const, source: { type: "base64" as const, media_type: "image/png" as const, data: pixel } },
        { type: "text" as const, text: "what is this?" },
      ];
      return textOf(await ask({ model, messages: [{ role: "user", content }] }, false));
    },
  };
}
