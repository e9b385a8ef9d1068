/**
 * Translation without a gateway: what goes to an upstream of another format, and what a client gets of its answer. Ids,
 * time and keys are always the same, so that results can stand in files.
 */
import { GatewayError } from "#proxy/errors";
import type { ChatCall } from "#proxy/formats/format";
import { upstreamFormats } from "#proxy/formats/registry";
import type { TranslationTarget } from "#proxy/formats/translator";
import { scanJsonObject } from "#proxy/json/strict-json";
import type { MediaPart } from "#proxy/neutral/conversation";
import { mediaToFetch, replaceMedia } from "#proxy/neutral/media/inline-media";
import { CallStates, callStatesDefaults } from "#proxy/neutral/state/call-states";
import { createStateKeeper } from "#proxy/neutral/state/state-keeper";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import { readTranslatableCall, type TranslatableCall, Translation } from "#proxy/translate/translation";
import { upstreamTranslators } from "#proxy/translate/translators";

export const formats: readonly ChatWireFormat[] = ["ChatCompletions", "Responses", "Messages", "GenerateContent"];

/** Newest models of the vendors themselves: what most people use. */
export const usualTargets = {
  ChatCompletions: { provider: "OpenAI", model: "gpt-5.4" },
  Responses: { provider: "OpenAI", model: "gpt-5.4" },
  Messages: { provider: "Anthropic", model: "claude-sonnet-4-6" },
  GenerateContent: { provider: "Gemini", model: "gemini-3-pro" },
} as const;

/** The smallest call of each client that wants to see thinking. */
export const smallestCalls: Readonly<Record<ChatWireFormat, object>> = {
  ChatCompletions: { model: "m", messages: [{ role: "user", content: "hi" }] },
  Responses: { model: "m", input: "hi", reasoning: { effort: "medium", summary: "auto" } },
  Messages: {
    model: "m",
    max_tokens: 4096,
    thinking: { type: "enabled", budget_tokens: 2048 },
    messages: [{ role: "user", content: "hi" }],
  },
  GenerateContent: {
    contents: [{ role: "user", parts: [{ text: "hi" }] }],
    generationConfig: { thinkingConfig: { includeThoughts: true } },
  },
};

export type Sent = { readonly body: unknown; readonly dropped?: readonly string[] } | { readonly refused: string };

/** What goes to the upstream, before the edits that every channel makes; or why nothing does. */
export function sendTo(to: ChatWireFormat, from: ChatWireFormat, body: object, stream = false): Sent {
  try {
    const translation = translationOf(to, from, body, stream);
    const sent: unknown = JSON.parse(translation.upstreamCall.body.bytes.toString("utf8"));
    return { body: sent, ...(translation.dropped.length > 0 ? { dropped: translation.dropped } : {}) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { refused: error.message };
  }
}

/** The client's answer to an upstream's whole one. */
export function answerOf(upstream: ChatWireFormat, client: ChatWireFormat, clientBody: object, reply: object): unknown {
  const translation = translationOf(upstream, client, clientBody, false);
  return JSON.parse(translation.translateReply(Buffer.from(JSON.stringify(reply))).body.toString("utf8"));
}

/** The client's stream of an upstream's. */
export function streamOf(upstream: ChatWireFormat, client: ChatWireFormat, clientBody: object, stream: string): string {
  const filter = translationOf(upstream, client, clientBody, true).createStreamFilter(1 << 20);
  const pieces = [...filter.push(Buffer.from(stream)), ...filter.end()];
  if (!filter.isComplete) throw new Error(filter.violation ?? "the stream is not complete");
  return Buffer.concat(pieces).toString("utf8");
}

/** A call of the client as it goes to an upstream of another format. @throws GatewayError */
export function translationOf(to: ChatWireFormat, from: ChatWireFormat, body: object, stream: boolean): Translation {
  return translate(readTranslatableCall(callOf(from, body, stream)), to);
}

/** What is not as usual about a target, and what is remembered from calls before. */
export interface SpecialTarget {
  readonly provider?: TranslationTarget["channel"]["provider"];
  readonly model?: string;
  /** What the channel says of its models. */
  readonly models?: TranslationTarget["channel"]["models"];
  readonly callStates?: CallStates;
  /** `namespace/name` of the channel. */
  readonly name?: string;
}

export function emptyCallStates(): CallStates {
  return new CallStates({ ...callStatesDefaults, clock: () => 0 });
}

/** The same for a call that was read before. @throws GatewayError */
export function translate(
  request: TranslatableCall,
  to: ChatWireFormat,
  unsupportedParameters: "Ignore" | "Reject" = "Ignore",
  special: SpecialTarget = {},
): Translation {
  const { provider, model, models, callStates, name } = {
    name: "ns/channel",
    ...usualTargets[to],
    callStates: emptyCallStates(),
    ...special,
  };
  const scope = { channel: name, secrets: () => ["secret"], format: to, key: "ns/key", mayRemember: true };
  const target = {
    channel: { provider, baseURL: "https://upstream.example/v1", privacy, ...(models === undefined ? {} : { models }) },
    upstreamModel: model,
    outputTokensMax: undefined,
    states: createStateKeeper(scope, callStates),
  };
  const client = withFetchedFiles(request, (part) => Boolean(upstreamTranslators[to].needsDownload?.(part, target)));
  let ids = 0;
  const options = {
    format: to,
    target,
    unsupportedParameters,
    nowSeconds: 1_790_000_000,
    newId: (prefix: string) => `${prefix}${++ids}`,
    inputTokensEstimate: 100,
    jsonKeysMax: 50_000,
  };
  return Translation.toAnotherFormat(client, options);
}

const privacy = {
  store: "PassThrough",
  safetyIdentifier: "Strip",
  streamObfuscation: "Strip",
  clientMetadata: "Forward",
} as const;

/** Every file on the internet is the same small picture. */
function withFetchedFiles(client: TranslatableCall, needs: (part: MediaPart) => boolean): TranslatableCall {
  const fetched = { mime: "image/png", source: { type: "data", base64: "iVBORw0KGgo=" } } as const;
  const files = mediaToFetch(client.conversation, needs).map((part) => [part, { ...part, ...fetched }] as const);
  return { ...client, conversation: replaceMedia(client.conversation, new Map(files)) };
}

const endpoints = {
  ChatCompletions: { protocol: "OpenAI" },
  Responses: { protocol: "OpenAI" },
  Messages: { protocol: "Anthropic" },
  GenerateContent: { protocol: "Gemini" },
} as const;

export function callOf(name: ChatWireFormat, body: object, stream: boolean): ChatCall {
  const streaming = stream && name !== "GenerateContent" ? { stream: true } : {};
  const withUsage = stream && name === "ChatCompletions" ? { stream_options: { include_usage: true } } : {};
  return readCallOf(name, Buffer.from(JSON.stringify({ ...body, ...streaming, ...withUsage })), stream);
}

/** A client's bytes as its format reads them. @throws GatewayError */
export function readCallOf(name: ChatWireFormat, bytes: Buffer, stream: boolean): ChatCall {
  const format = upstreamFormats[name];
  const isGemini = name === "GenerateContent";
  const scanned = scanJsonObject(bytes, { depthMax: 64, keysMax: 50_000, watch: format.watchedKeys });
  return format.readCall(scanned, {
    format: name,
    capability: "Chat",
    ...endpoints[name],
    ...(isGemini ? { modelInPath: "m" } : {}),
    ...(isGemini && stream ? { geminiStream: "sse" as const } : {}),
  });
}
