/** What a chat completions translator needs around a call or a reply in tests: a context, a target, readable state. */

import type { JsonObject } from "../../../proxy/protocols/json-value.ts";
import { readEventFields, splitEvents } from "../../../proxy/sse/event-fields.ts";
import { chatCompletionsTranslator } from "../../../proxy/translate/chat-completions/translator.ts";
import type { Conversation, ProviderState } from "../../../proxy/translate/conversation.ts";
import { Losses } from "../../../proxy/translate/losses.ts";
import type { Reply, ReplyEvent } from "../../../proxy/translate/reply.ts";
import { envelopeMark } from "../../../proxy/translate/state/envelope.ts";
import type {
  ReplyContext,
  StateKeeper,
  TranslationTarget,
  WrittenRequest,
} from "../../../proxy/translate/translator.ts";

export const endpoint = { kind: "chat", protocol: "OpenAI", format: "ChatCompletions", capability: "Chat" } as const;

const user = [{ role: "user", content: "hi" }];

/** Seals by spelling out, and opens everything: what is sealed can be read in a test. */
export class OpenStates implements StateKeeper {
  readonly remembered = new Map<string, readonly ProviderState[]>();

  seal(states: readonly ProviderState[]): string {
    return `${envelopeMark}${Buffer.from(JSON.stringify(states)).toString("base64url")}`;
  }

  remember(callId: string, states: readonly ProviderState[]): void {
    this.remembered.set(callId, [...states]);
  }

  recover(part: Parameters<StateKeeper["recover"]>[0]): readonly ProviderState[] {
    const carried = (part.states ?? []).flatMap((state) => (state.type === "sealed" ? open(state.envelope) : []));
    return carried.length > 0 || part.kind !== "call" ? carried : (this.remembered.get(part.id) ?? []);
  }
}

function open(envelope: string): readonly ProviderState[] {
  return JSON.parse(Buffer.from(envelope.slice(envelopeMark.length), "base64url").toString("utf8"));
}

/** A client's body as a conversation; `messages` may be left out. */
export function conversationOf(body: JsonObject = {}): Conversation {
  return chatCompletionsTranslator.readRequest({ model: "m", messages: user, ...body }, endpoint);
}

/** Everything a writer of replies asks for. Ids count up. */
export function replyContext(body: JsonObject = {}, changes: Partial<ReplyContext> = {}): ReplyContext {
  const clientBody = { model: "m", messages: user, ...body };
  let ids = 0;
  return {
    conversation: conversationOf(clientBody),
    clientBody,
    endpoint,
    wantsStreamUsage: true,
    inputTokensEstimate: 1,
    nowSeconds: 1_790_000_000,
    newId: (prefix) => {
      ids += 1;
      return `${prefix}${ids}`;
    },
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
    fieldName: (field) => chatCompletionsTranslator.fieldName(field),
  };
  const written = chatCompletionsTranslator.writeRequest(conversation, target, losses);
  return { ...written, dropped: losses.dropped };
}

/** All events of a stream's bytes, as the reader sees them behind its meter. */
export function readStream(bytes: Buffer): ReplyEvent[] {
  const reader = chatCompletionsTranslator.createStreamReader();
  const events = splitEvents(bytes).flatMap((event) => {
    const { name, data } = readEventFields(event);
    return data === undefined ? [] : reader.read({ name, data });
  });
  return [...events, ...reader.end()];
}

/** Events of chunks given as objects, with the terminator. */
export function readChunks(chunks: readonly unknown[]): ReplyEvent[] {
  const reader = chatCompletionsTranslator.createStreamReader();
  const events = chunks.flatMap((chunk) => reader.read({ name: undefined, data: JSON.stringify(chunk) }));
  return [...events, ...reader.read({ name: undefined, data: "[DONE]" }), ...reader.end()];
}

export function writeStream(events: Iterable<ReplyEvent>, context: ReplyContext = replyContext()): string {
  const writer = chatCompletionsTranslator.createStreamWriter(context);
  let text = "";
  for (const event of events) text += writer.write(event);
  return text;
}

export function writeWhole(reply: Reply, context: ReplyContext = replyContext()): JsonObject {
  return chatCompletionsTranslator.writeReply(reply, context);
}
