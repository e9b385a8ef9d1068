/** What a responses translator needs around a call or a reply in tests: a context, a target, readable state. */

import { responsesClientTranslator } from "#proxy/formats/responses/translate/client-translator";
import { readRequest } from "#proxy/formats/responses/translate/request/read/read-request";
import { responsesUpstreamTranslator } from "#proxy/formats/responses/translate/upstream-translator";
import type { ReplyContext, StreamReader, TranslationTarget, WrittenRequest } from "#proxy/formats/translator";
import type { JsonObject } from "#proxy/json/json-value";
import type { Conversation, MediaPart, ProviderState, Turn } from "#proxy/neutral/conversation";
import { Losses } from "#proxy/neutral/losses/losses";
import type { Reply, ReplyEvent } from "#proxy/neutral/reply";
import { countedIds, OpenStates, readWith, writeWith } from "./exchange.ts";

export const endpoint = { protocol: "OpenAI", format: "Responses", capability: "Chat" } as const;

/** A client's body as a conversation; what every call needs is filled in. */
export function readBody(body: object): Conversation {
  return readRequest({ model: "m", input: "hi", ...body });
}

export const hi: Turn = { role: "user", parts: [{ kind: "text", text: "hi" }] };

export const png = {
  kind: "media",
  media: "image",
  mime: "image/png",
  source: { type: "data", base64: "iVBORw0KGgo=" },
} as const satisfies MediaPart;

export const encrypted: ProviderState = { kind: "encrypted-reasoning", id: "rs_1", data: "ENC", summary: ["T"] };

/** A conversation of one word, unless said otherwise. */
export function conversation(changes: Partial<Conversation> = {}): Conversation {
  return { model: "m", stream: false, turns: [hi], tools: [], sampling: {}, unmapped: [], ...changes };
}

/** A client's body, its conversation and everything a writer of replies asks for. Ids count up. */
export function replyContext(body: JsonObject = {}, changes: Partial<ReplyContext> = {}): ReplyContext {
  const clientBody = { model: "m", input: "hi", ...body };
  return {
    conversation: responsesClientTranslator.readRequest(clientBody, endpoint),
    clientBody,
    endpoint,
    wantsStreamUsage: true,
    inputTokensEstimate: 1,
    nowSeconds: 1_790_000_000,
    newId: countedIds(),
    states: new OpenStates({ native: true }),
    onResponse: () => {},
    ...changes,
  };
}

export interface Written extends WrittenRequest {
  readonly dropped: readonly string[];
}

export type TargetChanges = Partial<TranslationTarget> & {
  readonly provider?: TranslationTarget["channel"]["provider"];
};

/** Writes for the vendor itself unless the target says otherwise. */
export function writtenRequest(
  given: Conversation,
  target: TargetChanges = {},
  policy: "Ignore" | "Reject" = "Ignore",
): Written {
  const { provider = "OpenAI", ...rest } = target;
  const losses = new Losses(policy);
  const privacy = {
    store: "PassThrough",
    safetyIdentifier: "Forward",
    streamObfuscation: "Strip",
    clientMetadata: "Forward",
  } as const;
  const written = responsesUpstreamTranslator.writeRequest(
    given,
    {
      channel: { provider, baseURL: "http://127.0.0.1:1", privacy },
      upstreamModel: "m",
      outputTokensMax: undefined,
      states: new OpenStates({ native: true }),
      fieldName: (field) => responsesClientTranslator.fieldNames[field],
      ...rest,
    },
    losses,
  );
  return { ...written, dropped: losses.dropped };
}

/** Writes a conversation of one word with these changes. */
export function writeChanged(changes: Partial<Conversation>, target: TargetChanges = {}): Written {
  return writtenRequest(conversation(changes), target);
}

/** Neutral events of a stream's bytes, its end included. */
export function readStream(
  bytes: Buffer,
  reader: StreamReader = responsesUpstreamTranslator.createStreamReader(),
): ReplyEvent[] {
  return readWith(reader, bytes);
}

/** The client's stream of neutral events. */
export function writeStream(events: Iterable<ReplyEvent>, context: ReplyContext = replyContext()): string {
  return writeWith(responsesClientTranslator.createStreamWriter(context), events);
}

/** The client's whole response. */
export function writeWhole(reply: Reply, context: ReplyContext = replyContext()): JsonObject {
  return responsesClientTranslator.writeReply(reply, context);
}

/** Data of the frames of a stream. */
export function framesOf(stream: string): JsonObject[] {
  return stream
    .split("\n\n")
    .filter((frame) => frame.startsWith("event:"))
    .map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)));
}

/** Items of the response that ends the stream. */
export function outputOf(events: readonly ReplyEvent[], context = replyContext()): JsonObject[] {
  return Object(framesOf(writeStream(events, context)).at(-1)?.["response"]).output;
}
