/** Lists the providers by their name in a channel's `spec.provider`, and vendors whose preset names their quirks. */
import { anthropic } from "./anthropic.ts";
import { azureOpenAI } from "./azure-open-ai.ts";
import { compatible } from "./compatible.ts";
import { gemini } from "./gemini.ts";
import { groq } from "./groq.ts";
import { mistral } from "./mistral.ts";
import { openAI } from "./open-ai.ts";
import type { Provider, ProviderName, QuirksName } from "./provider.ts";
import { vertexAI } from "./vertex-ai.ts";

export const providers: Readonly<Record<ProviderName, Provider>> = {
  OpenAI: openAI,
  AzureOpenAI: azureOpenAI,
  Anthropic: anthropic,
  Gemini: gemini,
  VertexAI: vertexAI,
  // Its signature is not there yet: the operator refuses such channels.
  Bedrock: compatible,
  Cohere: compatible,
  OpenAICompatible: compatible,
  AnthropicCompatible: compatible,
  GeminiCompatible: compatible,
};

/** By the name that a preset gives (`operator/presets/`). They are like their provider in all else. */
const vendors: Readonly<Record<QuirksName, Provider>> = { Groq: groq, Mistral: mistral };

export function providerOf(channel: { readonly provider: ProviderName; readonly quirks?: QuirksName }): Provider {
  return channel.quirks === undefined ? providers[channel.provider] : vendors[channel.quirks];
}
