/** What a chat completions translator needs around a call or a reply in tests: a context, a target, readable state. */

import { chatCompletionsClientTranslator } from "#proxy/formats/chat-completions/translate/client-translator";
import { chatCompletionsUpstreamTranslator } from "#proxy/formats/chat-completions/translate/upstream-translator";
import type { ReplyContext, TranslationTarget, WrittenRequest } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { Conversation } from "#proxy/neutral/conversation";
import { Losses } from "#proxy/neutral/losses/losses";
import type { Reply, ReplyEvent } from "#proxy/neutral/reply";
import type { StateKeeper } from "#proxy/neutral/state/keeper";
import { countedIds, OpenStates, readWith, writeWith } from "./exchange.ts";

export const endpoint = { protocol: "OpenAI", format: "ChatCompletions", capability: "Chat" } as const;

const user = [{ role: "user", content: "hi" }];

/** A client's body as a conversation; `messages` may be left out. */
export function conversationOf(body: JsonObject = {}): Conversation {
  return chatCompletionsClientTranslator.readRequest({ model: "m", messages: user, ...body }, endpoint);
}

/** Everything a writer of replies asks for. Ids count up. */
export function replyContext(body: JsonObject = {}, changes: Partial<ReplyContext> = {}): ReplyContext {
  const clientBody = { model: "m", messages: user, ...body };
  return {
    conversation: conversationOf(clientBody),
    clientBody,
    endpoint,
    wantsStreamUsage: true,
    inputTokensEstimate: 1,
    nowSeconds: 1_790_000_000,
    newId: countedIds(),
    states: new OpenStates(),
    ...changes,
  };
}

export interface TargetChanges {
  readonly provider?: TranslationTarget["channel"]["provider"];
  readonly baseURL?: string;
  readonly model?: string;
  readonly states?: StateKeeper;
  readonly policy?: "Ignore" | "Reject";
}

export interface Written extends WrittenRequest {
  readonly dropped: readonly string[];
}

/** The body for OpenAI itself and a model of no known name, unless the target says otherwise. */
export function writtenRequest(conversation: Conversation, changes: TargetChanges = {}): Written {
  const { provider = "OpenAI", baseURL = "https://api.example/v1", model = "m", policy = "Ignore" } = changes;
  const losses = new Losses(policy);
  const privacy = {
    store: "PassThrough",
    safetyIdentifier: "Forward",
    streamObfuscation: "Strip",
    clientMetadata: "Forward",
  } as const;
  const target: TranslationTarget = {
    channel: { provider, baseURL, privacy },
    upstreamModel: model,
    outputTokensMax: undefined,
    states: changes.states ?? new OpenStates(),
    fieldName: (field) => chatCompletionsClientTranslator.fieldNames[field],
  };
  const written = chatCompletionsUpstreamTranslator.writeRequest(conversation, target, losses);
  return { ...written, dropped: losses.dropped };
}

/** All events of a stream's bytes, as the reader sees them behind its filter. */
export function readStream(bytes: Buffer): ReplyEvent[] {
  return readWith(chatCompletionsUpstreamTranslator.createStreamReader(), bytes);
}

/** Events of chunks given as objects, with the terminator. */
export function readChunks(chunks: readonly unknown[]): ReplyEvent[] {
  const reader = chatCompletionsUpstreamTranslator.createStreamReader();
  const events = chunks.flatMap((chunk) => reader.read({ name: undefined, data: JSON.stringify(chunk) }));
  return [...events, ...reader.read({ name: undefined, data: "[DONE]" }), ...reader.end()];
}

export function writeStream(events: Iterable<ReplyEvent>, context: ReplyContext = replyContext()): string {
  return writeWith(chatCompletionsClientTranslator.createStreamWriter(context), events);
}

export function writeWhole(reply: Reply, context: ReplyContext = replyContext()): JsonObject {
  return chatCompletionsClientTranslator.writeReply(reply, context);
}
