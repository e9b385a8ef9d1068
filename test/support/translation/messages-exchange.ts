/** What a messages translator needs around a call or a reply in tests: a context, a target, streams as events. */
import { GatewayError } from "#proxy/errors";
import { messagesClientTranslator } from "#proxy/formats/messages/translate/client-translator";
import { messagesUpstreamTranslator } from "#proxy/formats/messages/translate/upstream-translator";
import type { ReplyContext, TranslationTarget, WrittenRequest } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { Conversation, Part, Turn } from "#proxy/neutral/conversation";
import { Losses } from "#proxy/neutral/losses/losses";
import type { NeutralField } from "#proxy/neutral/losses/neutral-fields";
import { InvalidReply, type Reply, type ReplyEvent } from "#proxy/neutral/reply";
import type { StateKeeper } from "#proxy/neutral/state/keeper";
import { readEventFields, splitEvents } from "#proxy/sse/event-fields";
import { countedIds, OpenStates, readWith, writeWith } from "./exchange.ts";

export const endpoint = { protocol: "Anthropic", format: "Messages", capability: "Chat" } as const;

/** A client's body as a conversation; what every call needs is filled in. */
export function readBody(body: JsonObject = {}): Conversation {
  const least = { model: "m", max_tokens: 16, messages: [{ role: "user", content: "hi" }] };
  return messagesClientTranslator.readRequest({ ...least, ...body }, endpoint);
}

/** Turns and parts in short. */
export const text = (content: string, more: object = {}): Part => ({ kind: "text", text: content, ...more });
export const user = (...parts: Part[]): Turn => ({ role: "user", parts });
export const assistant = (...parts: Part[]): Turn => ({ role: "assistant", parts });
export const system = (...parts: Part[]): Turn => ({ role: "system", parts });
export const tool = (...parts: Part[]): Turn => ({ role: "tool", parts });
export const call = (id: string, more: object = {}): Part => ({
  kind: "call",
  id,
  name: "f",
  tool: "function",
  arguments: "{}",
  ...more,
});
export const result = (callId: string, content = "ok", more: object = {}): Part => ({
  kind: "result",
  callId,
  content: [{ kind: "text", text: content }],
  ...more,
});

/** A conversation of one word, unless said otherwise. */
export function conversation(changes: Partial<Conversation> = {}): Conversation {
  return { model: "m", stream: false, turns: [user(text("hi"))], tools: [], sampling: {}, unmapped: [], ...changes };
}

export interface TargetChanges {
  readonly provider?: TranslationTarget["channel"]["provider"];
  readonly model?: string;
  readonly outputTokensMax?: number;
  readonly states?: StateKeeper;
  readonly safetyIdentifier?: "Strip" | "Forward";
  readonly policy?: "Ignore" | "Reject";
  readonly fieldName?: (field: NeutralField) => string;
}

export interface Written extends WrittenRequest {
  readonly dropped: readonly string[];
}

/** The body for the vendor and a model of no known name, unless the target says otherwise. */
export function writeBody(given: Conversation, changes: TargetChanges = {}): Written {
  const losses = new Losses(changes.policy ?? "Ignore");
  const privacy = {
    store: "PassThrough",
    safetyIdentifier: changes.safetyIdentifier ?? "Strip",
    streamObfuscation: "Strip",
    clientMetadata: "Forward",
  } as const;
  const target: TranslationTarget = {
    channel: { provider: changes.provider ?? "Anthropic", baseURL: "https://api.example", privacy },
    upstreamModel: changes.model ?? "m",
    outputTokensMax: changes.outputTokensMax,
    states: changes.states ?? new OpenStates(),
    fieldName: changes.fieldName ?? ((field) => messagesClientTranslator.fieldNames[field]),
  };
  const written = messagesUpstreamTranslator.writeRequest(given, target, losses);
  return { ...written, dropped: losses.dropped };
}

/** What a call throws for a client, as `code param`; `accepted` when it throws nothing. */
export function refusalOf(run: () => unknown): string {
  try {
    run();
    return "accepted";
  } catch (error) {
    if (error instanceof GatewayError) return `${error.code} ${error.param ?? ""}`.trim();
    throw error;
  }
}

/** The message of an `InvalidReply`; undefined when there is none. */
export function invalidityOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof InvalidReply) return error.message;
    throw error;
  }
}

/** Everything a writer of replies asks for; thinking is on and shown. Ids count up. */
export function replyContext(changes: Partial<ReplyContext> = {}): ReplyContext {
  return {
    conversation: conversation({ reasoning: { mode: "on", show: true, carriesBlocks: true } }),
    clientBody: {},
    endpoint,
    wantsStreamUsage: true,
    inputTokensEstimate: 7,
    nowSeconds: 1_790_000_000,
    newId: countedIds(),
    states: new OpenStates(),
    ...changes,
  };
}

/** All events of a stream's bytes, as the reader sees them behind its filter. */
export function readStream(bytes: Buffer): ReplyEvent[] {
  return readWith(messagesUpstreamTranslator.createStreamReader(), bytes);
}

/** Events of messages given as objects, each named by its type. */
export function readEvents(events: readonly JsonObject[]): ReplyEvent[] {
  const reader = messagesUpstreamTranslator.createStreamReader();
  const read = events.flatMap((event) => reader.read({ name: undefined, data: JSON.stringify(event) }));
  return [...read, ...reader.end()];
}

export function writeStream(events: Iterable<ReplyEvent>, context: ReplyContext = replyContext()): string {
  return writeWith(messagesClientTranslator.createStreamWriter(context), events);
}

export function writeWhole(reply: Reply, context: ReplyContext = replyContext()): JsonObject {
  return messagesClientTranslator.writeReply(reply, context);
}

/** The JSON of each frame of a stream, pings left out. */
export function framesOf(stream: string): unknown[] {
  const frames = splitEvents(Buffer.from(stream)).flatMap((event) => {
    const { name, data } = readEventFields(event);
    return data === undefined || name === "ping" ? [] : [JSON.parse(data)];
  });
  return frames;
}
