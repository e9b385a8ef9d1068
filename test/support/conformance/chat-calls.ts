/** How each chat format is called: path, credential and the smallest body, by the names that recorded traffic uses. */
import type { ChatWireFormat } from "#proxy/neutral/wire";
import type { DigestProtocol } from "#test/support/digest/facts";
import { clientKey } from "./manifests.ts";

export interface ChatCallForm {
  readonly protocol: DigestProtocol;
  readonly format: ChatWireFormat;
  readonly path: (model: string, stream: boolean) => string;
  /** The credential where the format's own clients put it. */
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  /** A call that asks for everything a stream can tell, usage among it. */
  readonly body: (model: string, stream: boolean) => object;
}

function bearer(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${clientKey(key)}` };
}

const prompt = "good morning";

/** The four chat formats. */
export const callForms: readonly ChatCallForm[] = [
  {
    protocol: "openai-chat",
    format: "ChatCompletions",
    path: () => "/v1/chat/completions",
    headers: bearer,
    body: (model, stream) => ({
      model,
      messages: [{ role: "user", content: prompt }],
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    }),
  },
  {
    protocol: "openai-responses",
    format: "Responses",
    path: () => "/v1/responses",
    headers: bearer,
    body: (model, stream) => ({ model, input: prompt, ...(stream ? { stream: true } : {}) }),
  },
  {
    protocol: "anthropic-messages",
    format: "Messages",
    path: () => "/v1/messages",
    headers: (key) => ({ "x-api-key": clientKey(key), "anthropic-version": "2023-06-01" }),
    body: (model, stream) => ({
      model,
      max_tokens: 1_024,
      messages: [{ role: "user", content: prompt }],
      ...(stream ? { stream: true } : {}),
    }),
  },
  {
    protocol: "gemini",
    format: "GenerateContent",
    path: (model, stream) => `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    headers: (key) => ({ "x-goog-api-key": clientKey(key) }),
    body: () => ({ contents: [{ role: "user", parts: [{ text: prompt }] }] }),
  },
];

/** @throws TypeError for a name that is none */
export function callFormOf(protocol: DigestProtocol): ChatCallForm {
  const found = callForms.find((form) => form.protocol === protocol);
  if (found === undefined) throw new TypeError(`no chat format ${protocol}`);
  return found;
}
