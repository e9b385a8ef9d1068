/** What a responses translator needs around a call or a reply in tests: a context, a target, readable state. */
import type { JsonObject } from "../../../proxy/protocols/json-value.ts";
import type { Conversation } from "../../../proxy/translate/conversation.ts";
import { Losses } from "../../../proxy/translate/losses.ts";
import type { Reply, ReplyEvent } from "../../../proxy/translate/reply.ts";
import { responsesTranslator } from "../../../proxy/translate/responses/translator.ts";
import type {
  ReplyContext,
  StreamReader,
  TranslationTarget,
  WrittenRequest,
} from "../../../proxy/translate/translator.ts";
import { countedIds, OpenStates, readWith, writeWith } from "./exchange.ts";

export const endpoint = { kind: "chat", protocol: "OpenAI", format: "Responses", capability: "Chat" } as const;

/** A client's body, its conversation and everything a writer of replies asks for. Ids count up. */
export function replyContext(body: JsonObject = {}, changes: Partial<ReplyContext> = {}): ReplyContext {
  const clientBody = { model: "m", input: "hi", ...body };
  return {
    conversation: responsesTranslator.readRequest(clientBody, endpoint),
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

/** Writes for the vendor itself unless the target says otherwise. */
export function writtenRequest(
  conversation: Conversation,
  target: Partial<TranslationTarget> & { readonly provider?: TranslationTarget["channel"]["provider"] } = {},
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
  const written = responsesTranslator.writeRequest(
    conversation,
    {
      channel: { provider, baseURL: "http://127.0.0.1:1", privacy },
      upstreamModel: "m",
      outputTokensMax: undefined,
      states: new OpenStates({ native: true }),
      fieldName: (field) => responsesTranslator.fieldNames[field],
      ...rest,
    },
    losses,
  );
  return { ...written, dropped: losses.dropped };
}

/** Neutral events of a stream's bytes, its end included. */
export function readStream(
  bytes: Buffer,
  reader: StreamReader = responsesTranslator.createStreamReader(),
): ReplyEvent[] {
  return readWith(reader, bytes);
}

/** The client's stream of neutral events. */
export function writeStream(events: Iterable<ReplyEvent>, context: ReplyContext = replyContext()): string {
  return writeWith(responsesTranslator.createStreamWriter(context), events);
}

/** The client's whole response. */
export function writeWhole(reply: Reply, context: ReplyContext = replyContext()): JsonObject {
  return responsesTranslator.writeReply(reply, context);
}

/** Data of the frames of a stream. */
export function framesOf(stream: string): JsonObject[] {
  return stream
    .split("\n\n")
    .filter((frame) => frame.startsWith("event:"))
    .map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)));
}
