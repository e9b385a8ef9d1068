/** Google's SDK, generateContent. */
import assert from "node:assert/strict";
import type { Content, GenerateContentParameters, GoogleGenAI, Part } from "genai-3";
import { clientKey } from "#test/support/conformance/manifests";
import { citySchema, pixel } from "#test/support/conformance/sdk-gateway";
import { genaiGenerations } from "#test/support/official-clients";
import { type SdkDriver, weatherQuestion } from "./driver.ts";

const tools = [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: citySchema }] }];

/** @param origin of the gateway */
export function genaiDrivers(origin: () => string): SdkDriver[] {
  return genaiGenerations.map(({ name, load }) => {
    const client = (): GoogleGenAI => new (load())({ apiKey: clientKey("main"), httpOptions: { baseUrl: origin() } });
    return { name: `${name} generateContent`, ...driverOf(client) };
  });
}

function driverOf(client: () => GoogleGenAI): Omit<SdkDriver, "name"> {
  /** All parts of the answer, in order, as a streaming user gathers them. */
  const ask = async (call: GenerateContentParameters, stream: boolean): Promise<Part[]> => {
    if (!stream) return (await client().models.generateContent(call)).candidates?.[0]?.content?.parts ?? [];
    const parts: Part[] = [];
    for await (const chunk of await client().models.generateContentStream(call)) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    }
    return parts;
  };
  const textOf = (parts: readonly Part[]): string =>
    parts.map((part) => (part.thought === true ? "" : (part.text ?? ""))).join("");
  return {
    async text(model, prompt, stream) {
      return textOf(await ask({ model, contents: prompt }, stream));
    },
    async useTool(model, { stream, thinks }) {
      const question: Content = { role: "user", parts: [{ text: weatherQuestion }] };
      const config = { tools, ...(thinks ? { thinkingConfig: { includeThoughts: true, thinkingBudget: 2_048 } } : {}) };
      const parts = await ask({ model, contents: [question], config }, stream);
      const call = parts.find((part) => part.functionCall !== undefined)?.functionCall;
      assert.ok(call !== undefined);
      const answered: Part = {
        functionResponse: {
          name: "weather",
          response: { output: "sunny" },
          ...(call.id === undefined ? {} : { id: call.id }),
        },
      };
      const contents = [question, { role: "model", parts }, { role: "user", parts: [answered] }];
      const second = await ask({ model, contents, config }, stream);
      const thought = parts.map((part) => (part.thought === true ? (part.text ?? "") : "")).join("");
      return { args: call.args, thought, text: textOf(second) };
    },
    async structured(model) {
      const config = { responseMimeType: "application/json", responseJsonSchema: citySchema };
      return JSON.parse((await client().models.generateContent({ model, contents: "a city", config })).text ?? "");
    },
    async describeImage(model) {
      const parts: Part[] = [{ inlineData: { mimeType: "image/png", data: pixel } }, { text: "what is this?" }];
      return textOf(await ask({ model, contents: [{ role: "user", parts }] }, false));
    },
  };
}
