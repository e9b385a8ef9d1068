/** Vercel's AI SDK 6: `streamText` with its loop of steps, by one of its five providers (second argument). */
import { question, report, stepResult, stepTool, turnsMax } from "./reader.ts";

type Provider = (model: string) => unknown;

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly error?: unknown;
}

interface Ai {
  streamText(options: object): { readonly fullStream: AsyncIterable<Part> };
  generateText(options: object): Promise<{ readonly text: string }>;
  stepCountIs(count: number): unknown;
  jsonSchema(schema: object): unknown;
}

interface Address {
  readonly origin: string;
  readonly key: string;
}

/** The packages of providers, as far as they are used here. */
interface Providers {
  createOpenAI(options: object): { readonly responses: Provider; readonly chat: Provider };
  createOpenAICompatible(options: object): Provider;
  createAnthropic(options: object): Provider;
  createGoogleGenerativeAI(options: object): Provider;
}

function providerOf(name: string | undefined, load: NodeJS.Require, { origin, key: apiKey }: Address): Provider {
  const openai: Providers = load("@ai-sdk/openai");
  const compatible: Providers = load("@ai-sdk/openai-compatible");
  const anthropic: Providers = load("@ai-sdk/anthropic");
  const google: Providers = load("@ai-sdk/google");
  const usual = { baseURL: `${origin}/v1`, apiKey };
  switch (name) {
    case "openai":
      return openai.createOpenAI(usual).responses;
    case "openai-chat":
      return openai.createOpenAI(usual).chat;
    case "openai-compatible":
      return compatible.createOpenAICompatible({ ...usual, name: "gateway" });
    case "anthropic":
      return anthropic.createAnthropic(usual);
    case "google":
      return google.createGoogleGenerativeAI({ ...usual, baseURL: `${origin}/v1beta` });
    default:
      throw new TypeError(`no provider ${name}`);
  }
}

/** The library itself refuses an answer without a call where one is forced, so only the first step is. */
const forced = {
  prepareStep: ({ stepNumber }: { readonly stepNumber: number }) => ({
    toolChoice: stepNumber === 0 ? "required" : "auto",
  }),
  providerOptions: { openai: { reasoningEffort: "none" }, google: { thinkingConfig: { thinkingBudget: 0 } } },
};

await report(async (task, load, told) => {
  const { streamText, generateText, stepCountIs, jsonSchema }: Ai = load("ai");
  const tool = {
    description: stepTool.description,
    inputSchema: jsonSchema(stepTool.schema),
    execute: async ({ word }: { readonly word?: unknown }) => stepResult(word),
  };
  const options = {
    model: providerOf(process.argv[3], load, task)(task.model),
    prompt: question,
    maxRetries: 0,
    ...(task.isForced === true ? forced : {}),
    ...(task.hasTool ? { tools: { [stepTool.name]: tool }, stopWhen: stepCountIs(turnsMax) } : {}),
  };
  if (!task.isStream) {
    told.text = (await generateText(options)).text;
    return {};
  }
  const errorParts: string[] = [];
  for await (const part of streamText({ ...options, onError: () => undefined }).fullStream) {
    if (part.type === "start-step") told.text = "";
    if (part.type === "text-delta") told.text += part.text ?? "";
    if (part.type === "error") errorParts.push(messageOf(part.error));
  }
  return { errorParts };
});

function messageOf(error: unknown): string {
  return error instanceof Error ? String(error) : (JSON.stringify(error) ?? String(error));
}
