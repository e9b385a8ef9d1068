/** Runs readers and writers of generateContent by themselves: what stands around them is as plain as can be. */

import { generateContentClientTranslator } from "#proxy/formats/generate-content/translate/client-translator";
import { generateContentUpstreamTranslator } from "#proxy/formats/generate-content/translate/upstream-translator";
import type { ReplyContext, TranslationTarget, WrittenRequest } from "#proxy/formats/translator";
import type { Conversation, ProviderState, Turn } from "#proxy/neutral/conversation";
import { Losses } from "#proxy/neutral/losses/losses";
import type { ReplyEvent } from "#proxy/neutral/reply";
import type { StateKeeper } from "#proxy/neutral/state/keeper";

/** Seals by spelling the states out, and opens everything that it sealed. */
export const openKeeper: StateKeeper & { readonly remembered: Map<string, readonly ProviderState[]> } = {
  remembered: new Map(),
  seal: (states) => `tg1.${Buffer.from(JSON.stringify(states)).toString("base64url")}.mac`,
  remember: (callId, states) => openKeeper.remembered.set(callId, states),
  recover: (part) => (part.states ?? []).flatMap((state) => (state.type === "sealed" ? unseal(state.envelope) : [])),
};

export function unseal(envelope: string): ProviderState[] {
  return JSON.parse(Buffer.from(envelope.split(".")[1] ?? "", "base64url").toString());
}

export function targetOf(
  upstreamModel: string,
  provider: TranslationTarget["channel"]["provider"] = "Gemini",
): TranslationTarget {
  return {
    channel: {
      provider,
      baseURL: "https://upstream.test",
      privacy: {
        store: "PassThrough",
        safetyIdentifier: "Strip",
        streamObfuscation: "Strip",
        clientMetadata: "Forward",
      },
    },
    upstreamModel,
    outputTokensMax: undefined,
    states: openKeeper,
    fieldName: (field) => field,
  };
}

export const endpoint = {
  protocol: "Gemini",
  format: "GenerateContent",
  capability: "Chat",
  modelInPath: "m",
} as const;

/** Turns and parts in short. */
export const user: Turn = { role: "user", parts: [{ kind: "text", text: "hi" }] };

export function call(id: string, name: string, args = "{}"): Extract<Turn["parts"][number], { kind: "call" }> {
  return { kind: "call", id, name, tool: "function", arguments: args };
}

export function result(callId: string, text: string): Extract<Turn["parts"][number], { kind: "result" }> {
  return { kind: "result", callId, content: [{ kind: "text", text }] };
}

export function conversationOf(members: Partial<Conversation> = {}): Conversation {
  return {
    model: "m",
    stream: false,
    turns: [user],
    tools: [],
    sampling: {},
    unmapped: [],
    ...members,
  };
}

export interface WrittenFor extends WrittenRequest {
  readonly dropped: readonly string[];
}

export function writeFor(
  members: Partial<Conversation>,
  target: TranslationTarget = targetOf("gemini-3.5-flash"),
  policy: "Ignore" | "Reject" = "Ignore",
): WrittenFor {
  const losses = new Losses(policy);
  const written = generateContentUpstreamTranslator.writeRequest(conversationOf(members), target, losses);
  return { ...written, dropped: losses.dropped };
}

/** What the vendor is sent of these turns. */
export function contentsFor(
  turns: readonly Turn[],
  model = "gemini-2.5-flash",
  provider: "Gemini" | "VertexAI" = "Gemini",
): unknown {
  return writeFor({ turns }, targetOf(model, provider)).body["contents"];
}

export function contextOf(
  members: Partial<Conversation> = {},
  geminiStream: "sse" | "array" | undefined = "sse",
): ReplyContext {
  let ids = 0;
  return {
    conversation: conversationOf(members),
    clientBody: {},
    endpoint: geminiStream === undefined ? endpoint : { ...endpoint, geminiStream },
    wantsStreamUsage: true,
    inputTokensEstimate: 1,
    nowSeconds: 1_790_000_000,
    newId: (prefix) => {
      ids += 1;
      return `${prefix}id${ids}`;
    },
    states: openKeeper,
  };
}

/** Everything a client gets for these events. */
export function streamOf(events: Iterable<ReplyEvent>, context: ReplyContext): string {
  const writer = generateContentClientTranslator.createStreamWriter(context);
  let text = "";
  for (const event of events) text += writer.write(event);
  return text;
}

/** Data of the frames of a stream of events. */
export function framesOf(text: string): Record<string, unknown>[] {
  return text
    .split("\r\n\r\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => JSON.parse(block.slice("data: ".length)));
}

/** What the reader makes of these frames. */
export function readFrames(frames: Iterable<unknown>): ReplyEvent[] {
  const reader = generateContentUpstreamTranslator.createStreamReader();
  const events = [...frames].flatMap((frame) => reader.read({ name: undefined, data: JSON.stringify(frame) }));
  return [...events, ...reader.end()];
}
