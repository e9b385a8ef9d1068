/** What a responses translator needs around a call or a reply in tests: a context, a target, readable state. */
import type { JsonObject } from "../../../proxy/protocols/json-value.ts";
import { readEventFields, splitEvents } from "../../../proxy/sse/event-fields.ts";
import type { Conversation, ProviderState } from "../../../proxy/translate/conversation.ts";
import { Losses } from "../../../proxy/translate/losses.ts";
import type { Reply, ReplyEvent } from "../../../proxy/translate/reply.ts";
import { responsesTranslator } from "../../../proxy/translate/responses/translator.ts";
import { envelopeMark } from "../../../proxy/translate/state/envelope.ts";
import type {
  ReplyContext,
  StateKeeper,
  StreamReader,
  TranslationTarget,
  WrittenRequest,
} from "../../../proxy/translate/translator.ts";

export const endpoint = { kind: "chat", protocol: "OpenAI", format: "Responses", capability: "Chat" } as const;

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
    const carried = (part.states ?? []).flatMap((state) =>
      state.type === "native" ? [state.state] : open(state.envelope),
    );
    return carried.length > 0 || part.kind !== "call" ? carried : (this.remembered.get(part.id) ?? []);
  }
}

function open(envelope: string): readonly ProviderState[] {
  return JSON.parse(Buffer.from(envelope.slice(envelopeMark.length), "base64url").toString("utf8"));
}

/** A client's body, its conversation and everything a writer of replies asks for. Ids count up. */
export function replyContext(body: JsonObject = {}, changes: Partial<ReplyContext> = {}): ReplyContext {
  const clientBody = { model: "m", input: "hi", ...body };
  let ids = 0;
  return {
    conversation: responsesTranslator.readRequest(clientBody, endpoint),
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
      states: new OpenStates(),
      fieldName: (field) => responsesTranslator.fieldName(field),
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
  const events: ReplyEvent[] = [];
  for (const frame of splitEvents(bytes)) {
    const { name, data } = readEventFields(frame);
    if (data !== undefined) events.push(...reader.read({ name, data }));
  }
  return [...events, ...reader.end()];
}

/** The client's stream of neutral events. */
export function writeStream(events: Iterable<ReplyEvent>, context: ReplyContext = replyContext()): string {
  const writer = responsesTranslator.createStreamWriter(context);
  let text = "";
  for (const event of events) text += writer.write(event);
  return text;
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
