/** Lists the providers by their name in a channel's `spec.provider`. */
import { anthropic } from "./anthropic.ts";
import { azureOpenAI } from "./azure-open-ai.ts";
import { compatible } from "./compatible.ts";
import { gemini } from "./gemini.ts";
import { openAI } from "./open-ai.ts";
import type { Provider, ProviderName } from "./provider.ts";
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

export function providerOf(channel: { readonly provider: ProviderName }): Provider {
  return providers[channel.provider];
}
