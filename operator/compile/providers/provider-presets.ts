/**
 * Defaults of channels: base URL, place of the credential and formats of each provider, and of vendors that speak one
 * of the compatible dialects (docs/design/configuration.md 2.2).
 *
 * Paths are appended to the base URL; the proxy fills in `{model}` and `{verb}` (snapshot schema, `formats`).
 */

import type { Provider } from "#operator/resources/types.gen";
import type { Channel, WireFormat } from "#proxy/snapshot/types.gen";

export type Dialect = "OpenAI" | "Anthropic" | "Gemini" | "Azure" | "Cohere";

export interface ProviderPreset {
  readonly dialect: Dialect;
  readonly baseURL?: string;
  readonly auth: Channel["auth"];
  readonly formats: readonly WireFormat[];
  /** Whether a channel without any credential can serve. */
  readonly needsCredential: boolean;
}

const bearer: Channel["auth"] = { location: "Header", name: "authorization", scheme: "Bearer" };

const openAIFormats: readonly WireFormat[] = [
  "ChatCompletions",
  "Responses",
  "Completions",
  "Embeddings",
  "ImageGenerations",
  "ImageEdits",
  "ImageVariations",
  "Speech",
  "Transcriptions",
  "Translations",
  "Moderations",
  "Realtime",
];

const anthropic: ProviderPreset = {
  dialect: "Anthropic",
  auth: { location: "Header", name: "x-api-key", scheme: "Raw" },
  formats: ["Messages", "CountTokens"],
  needsCredential: true,
};

const gemini: ProviderPreset = {
  dialect: "Gemini",
  auth: { location: "Header", name: "x-goog-api-key", scheme: "Raw" },
  formats: ["GenerateContent", "CountTokens", "EmbedContent", "Predict"],
  needsCredential: true,
};

const openAICompatible: ProviderPreset = {
  dialect: "OpenAI",
  auth: bearer,
  formats: ["ChatCompletions", "Completions", "Embeddings"],
  needsCredential: false,
};

/** Providers this version serves. Bedrock and VertexAI sign requests in ways of their own and are not among them. */
export const providers: { readonly [provider in Provider]?: ProviderPreset } = {
  OpenAI: {
    dialect: "OpenAI",
    baseURL: "https://api.openai.com/v1",
    auth: bearer,
    formats: openAIFormats,
    needsCredential: true,
  },
  Anthropic: { ...anthropic, baseURL: "https://api.anthropic.com" },
  Gemini: { ...gemini, baseURL: "https://generativelanguage.googleapis.com" },
  AzureOpenAI: {
    dialect: "Azure",
    auth: { location: "Header", name: "api-key", scheme: "Raw" },
    formats: ["ChatCompletions", "Responses", "Completions", "Embeddings", "ImageGenerations", "ImageEdits", "Speech"],
    needsCredential: true,
  },
  Cohere: {
    dialect: "Cohere",
    baseURL: "https://api.cohere.com",
    auth: bearer,
    formats: ["ChatCompletions", "Embeddings", "Rerank"],
    needsCredential: true,
  },
  OpenAICompatible: openAICompatible,
  AnthropicCompatible: { ...anthropic, needsCredential: false },
  GeminiCompatible: { ...gemini, needsCredential: false },
};

function vendor(baseURL: string, ...formats: WireFormat[]): ProviderPreset {
  return { dialect: "OpenAI", baseURL, auth: bearer, formats, needsCredential: true };
}

/** Vendors by `spec.preset`, with the provider whose dialect they speak. */
export const vendors: { readonly [preset: string]: { readonly [provider in Provider]?: ProviderPreset } } = {
  mistral: { OpenAICompatible: vendor("https://api.mistral.ai/v1", "ChatCompletions", "Embeddings") },
  groq: {
    OpenAICompatible: vendor(
      "https://api.groq.com/openai/v1",
      "ChatCompletions",
      "Responses",
      "Transcriptions",
      "Translations",
      "Speech",
    ),
  },
  deepseek: {
    OpenAICompatible: vendor("https://api.deepseek.com/v1", "ChatCompletions"),
    AnthropicCompatible: { ...anthropic, baseURL: "https://api.deepseek.com/anthropic", formats: ["Messages"] },
  },
  xai: { OpenAICompatible: vendor("https://api.x.ai/v1", "ChatCompletions", "Responses", "ImageGenerations") },
  openrouter: {
    OpenAICompatible: vendor("https://openrouter.ai/api/v1", "ChatCompletions", "Completions", "Embeddings"),
  },
  together: {
    OpenAICompatible: vendor(
      "https://api.together.xyz/v1",
      "ChatCompletions",
      "Completions",
      "Embeddings",
      "ImageGenerations",
    ),
  },
  fireworks: {
    OpenAICompatible: vendor("https://api.fireworks.ai/inference/v1", "ChatCompletions", "Completions", "Embeddings"),
  },
  perplexity: { OpenAICompatible: vendor("https://api.perplexity.ai", "ChatCompletions") },
  cerebras: { OpenAICompatible: vendor("https://api.cerebras.ai/v1", "ChatCompletions", "Completions") },
  ollama: { OpenAICompatible: { ...openAICompatible, baseURL: "http://localhost:11434/v1" } },
  vllm: {
    OpenAICompatible: { ...openAICompatible, formats: ["ChatCompletions", "Responses", "Completions", "Embeddings"] },
  },
};

const openAIPaths: { readonly [format in WireFormat]?: string } = {
  ChatCompletions: "/chat/completions",
  Responses: "/responses",
  Completions: "/completions",
  Embeddings: "/embeddings",
  Rerank: "/rerank",
  ImageGenerations: "/images/generations",
  ImageEdits: "/images/edits",
  ImageVariations: "/images/variations",
  Speech: "/audio/speech",
  Transcriptions: "/audio/transcriptions",
  Translations: "/audio/translations",
  Moderations: "/moderations",
  Realtime: "/realtime",
};
const anthropicPaths: { readonly [format in WireFormat]?: string } = {
  Messages: "/messages",
  CountTokens: "/messages/count_tokens",
};
const geminiPaths: { readonly [format in WireFormat]?: string } = {
  GenerateContent: "/models/{model}:{verb}",
  CountTokens: "/models/{model}:countTokens",
  EmbedContent: "/models/{model}:embedContent",
  Predict: "/models/{model}:predict",
};
const coherePaths: { readonly [format in WireFormat]?: string } = {
  ChatCompletions: "/compatibility/v1/chat/completions",
  Embeddings: "/compatibility/v1/embeddings",
  Rerank: "/v2/rerank",
};

/**
 * The path of a format under a base URL; undefined when there is no common one.
 *
 * People give base URLs of the Anthropic and Gemini dialects with and without the version; both work.
 *
 * @param azureApiVersion the older, deployment-based API of Azure; absent: its `/openai/v1`
 */
export function pathOf(
  format: WireFormat,
  dialect: Dialect,
  baseURL: string,
  azureApiVersion: string | undefined,
): string | undefined {
  const isVersioned = /\/v[0-9]+(alpha|beta)?$/.test(baseURL);
  const under = (prefix: string, path: string | undefined) => path && `${isVersioned ? "" : prefix}${path}`;
  const anthropicPath = under("/v1", anthropicPaths[format]);
  const geminiPath = under("/v1beta", geminiPaths[format]);
  switch (dialect) {
    case "OpenAI":
      return openAIPaths[format] ?? anthropicPath ?? geminiPath;
    case "Anthropic":
      return anthropicPath ?? openAIPaths[format] ?? geminiPath;
    case "Gemini":
      return geminiPath ?? openAIPaths[format] ?? anthropicPath;
    case "Cohere":
      return coherePaths[format];
    case "Azure": {
      const path = openAIPaths[format];
      if (path === undefined || azureApiVersion === undefined || azureApiVersion === "v1")
        return under("/openai/v1", path);
      const version = `api-version=${encodeURIComponent(azureApiVersion)}`;
      return format === "Responses" ? `/openai/responses?${version}` : `/openai/deployments/{model}${path}?${version}`;
    }
    default:
      return dialect satisfies never;
  }
}
