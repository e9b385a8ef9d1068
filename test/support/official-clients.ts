/**
 * The official SDKs as clients, two generations each. The older generation is typed as the newer: the parts that tests
 * use are the same, and a union of both could not be called.
 */
import type Anthropic from "anthropic-1";
import type { GoogleGenAI } from "genai-3";
import type OpenAI from "openai-7";

export interface Generation<Client> {
  readonly name: string;
  /** The client class. */
  readonly load: () => Client;
}

/** The specifier is a variable, so that the types of the older generation do not come in. */
async function load<Client>(specifier: string, member: string): Promise<Client> {
  const module = await import(specifier);
  return module[member];
}

function generation<Client>(name: string, client: Client): Generation<Client> {
  return { name, load: () => client };
}

export const openaiGenerations: readonly Generation<typeof OpenAI>[] = [
  generation("openai 7", await load<typeof OpenAI>("openai-7", "default")),
  generation("openai 6", await load<typeof OpenAI>("openai-6", "default")),
];

export const anthropicGenerations: readonly Generation<typeof Anthropic>[] = [
  generation("anthropic 1", await load<typeof Anthropic>("anthropic-1", "default")),
  generation("anthropic 0", await load<typeof Anthropic>("anthropic-0", "default")),
];

export const genaiGenerations: readonly Generation<typeof GoogleGenAI>[] = [
  generation("genai 3", await load<typeof GoogleGenAI>("genai-3", "GoogleGenAI")),
  generation("genai 1", await load<typeof GoogleGenAI>("genai-1", "GoogleGenAI")),
];
