/**
 * Renders model lists and single models in the shapes of the three protocols (docs/design/interface.md 6). The caller
 * has already left out the models that the key may not use.
 */

import type { Protocol } from "#proxy/neutral/wire";
import { unreachable } from "#proxy/runtime/unreachable";
import type { Capability, Route } from "#proxy/snapshot/types.gen";
import { cutPage, encodeToken, readAnthropicPage, readGeminiPage } from "./model-page.ts";

export interface NamedModel {
  /** The route's public name or one of its aliases. */
  readonly name: string;
  readonly route: Pick<Route, "info">;
  /** What the caller may do with it. */
  readonly capabilities: readonly Capability[];
}

/**
 * A list of models, one page of it where the protocol has pages.
 * @param target the request's path and query
 * @throws GatewayError `invalid_value` for paging parameters that are none
 */
export function renderModelList(protocol: Protocol, models: readonly NamedModel[], target: string): Buffer {
  const sorted = [...models].sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
  const queryAt = target.indexOf("?");
  const query = new URLSearchParams(queryAt < 0 ? "" : target.slice(queryAt + 1));
  return Buffer.from(JSON.stringify(listOf(protocol, sorted, query)));
}

/** One model. */
export function renderModel(protocol: Protocol, model: NamedModel): Buffer {
  return Buffer.from(JSON.stringify(modelOf(protocol, model)));
}

function listOf(protocol: Protocol, sorted: readonly NamedModel[], query: URLSearchParams): object {
  switch (protocol) {
    case "OpenAI":
      return { object: "list", data: sorted.map(openAIModel) };
    case "Anthropic": {
      const { items, hasMore } = cutPage(sorted, readAnthropicPage(query));
      return {
        data: items.map(anthropicModel),
        has_more: hasMore,
        first_id: items[0]?.name ?? null,
        last_id: items.at(-1)?.name ?? null,
      };
    }
    case "Gemini": {
      const { items, hasMore } = cutPage(sorted, readGeminiPage(query));
      const last = items.at(-1);
      const more = hasMore && last !== undefined ? { nextPageToken: encodeToken(last.name) } : {};
      return { models: items.map(geminiModel), ...more };
    }
    default:
      return unreachable(protocol);
  }
}

function modelOf(protocol: Protocol, model: NamedModel): object {
  switch (protocol) {
    case "OpenAI":
      return openAIModel(model);
    case "Anthropic":
      return anthropicModel(model);
    case "Gemini":
      return geminiModel(model);
    default:
      return unreachable(protocol);
  }
}

/** `created` is required and whole seconds; a route without a date is as old as time. */
function openAIModel({ name, route }: NamedModel): object {
  return {
    id: name,
    object: "model",
    created: Math.floor((route.info?.createdAt ?? 0) / 1_000),
    owned_by: route.info?.ownedBy ?? "tollgate",
  };
}

function anthropicModel({ name, route }: NamedModel): object {
  const { info } = route;
  return {
    type: "model",
    id: name,
    display_name: info?.displayName ?? name,
    created_at: new Date(info?.createdAt ?? 0).toISOString().replace(/\.\d+Z$/, "Z"),
    ...(info?.contextWindow === undefined ? {} : { max_input_tokens: info.contextWindow }),
    ...(info?.maxOutputTokens === undefined ? {} : { max_tokens: info.maxOutputTokens }),
  };
}

function geminiModel({ name, route, capabilities }: NamedModel): object {
  const { info } = route;
  return {
    name: `models/${name}`,
    version: "001",
    displayName: info?.displayName ?? name,
    ...(info?.contextWindow === undefined ? {} : { inputTokenLimit: info.contextWindow }),
    ...(info?.maxOutputTokens === undefined ? {} : { outputTokenLimit: info.maxOutputTokens }),
    supportedGenerationMethods: capabilities.flatMap((capability) => methods[capability] ?? []),
  };
}

const methods: Readonly<Partial<Record<Capability, readonly string[]>>> = {
  Chat: ["generateContent", "streamGenerateContent"],
  CountTokens: ["countTokens"],
  Embeddings: ["embedContent", "batchEmbedContents"],
  ImageGeneration: ["predict"],
};
