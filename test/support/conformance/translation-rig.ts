/**
 * The gateway before one channel for each chat format, none of which speaks another: a client of any format reaches any
 * of them by the model's name (`to-openai-chat` …).
 */
import { after, before } from "mocha";
import type { ProxyLimits } from "#proxy/limits";
import type { ChatWireFormat } from "#proxy/neutral/wire";
import type { DigestProtocol } from "#test/support/digest/facts";
import { FakeUpstream } from "#test/support/fake-upstream";
import { callFormOf, callForms } from "./chat-calls.ts";
import { type HttpAnswer, httpCall } from "./http-call.ts";
import { InProcessGateway } from "./in-process-gateway.ts";
import { channelManifest, channelSecretManifest, keyManifest, manifestOf, routeManifest } from "./manifests.ts";

export const protocols: readonly DigestProtocol[] = callForms.map(({ protocol }) => protocol);

/** Model name of the route whose channel speaks nothing but this protocol. */
export function routeTo(protocol: DigestProtocol): string {
  return `to-${protocol}`;
}

/** One that thinks, where the usual model takes sampling parameters and so does not. */
export const thinkingRoute = "to-openai-responses-thinking";

/** Providers and models that take most of what their format can say. */
const upstreams: Readonly<Record<DigestProtocol, { readonly provider: string; readonly model: string }>> = {
  "openai-chat": { provider: "OpenAICompatible", model: "some-model" },
  "openai-responses": { provider: "OpenAI", model: "gpt-4.1" },
  "anthropic-messages": { provider: "Anthropic", model: "claude-sonnet-4-5" },
  gemini: { provider: "Gemini", model: "gemini-3-pro" },
};

export interface TranslationRig {
  readonly gateway: InProcessGateway;
  readonly upstream: FakeUpstream;
  /** A call of a client's format on the channel of another; `body` is set over the smallest one that shows everything. */
  call(from: DigestProtocol, to: DigestProtocol, stream: boolean, body?: object): Promise<HttpAnswer>;
}

/**
 * Starts both before the tests of the enclosing `describe`.
 * @param channel set over every channel's spec
 * @param limits set over the proxy's own
 */
export function useTranslationRig(channel: object = {}, limits: Partial<ProxyLimits> = {}): () => TranslationRig {
  let rig: TranslationRig | undefined;
  before(async () => {
    const upstream = await FakeUpstream.start();
    const gateway = await InProcessGateway.start({
      limits,
      manifests: manifestOf(
        channelSecretManifest(),
        keyManifest("main"),
        ...callForms.flatMap(({ protocol, format }) => [
          channelManifest(routeTo(protocol), upstream.origin, {
            provider: upstreams[protocol].provider,
            formats: [{ type: format }],
            // Recordings of other providers' calls ask for more than it produces.
            models: [{ name: "gpt-4.1", traits: { maxOutputTokens: 128_000 } }],
            ...channel,
          }),
          routeManifest(routeTo(protocol), {
            failover: { maxAttempts: 1 },
            targets: [
              { name: "main", channelRef: { name: routeTo(protocol) }, upstreamModel: upstreams[protocol].model },
            ],
          }),
        ]),
        routeManifest(thinkingRoute, {
          targets: [{ name: "main", channelRef: { name: "to-openai-responses" }, upstreamModel: "gpt-5.4" }],
        }),
      ),
    });
    rig = {
      gateway,
      upstream,
      call(from, to, stream, body = {}) {
        const form = callFormOf(from);
        const model = routeTo(to);
        return httpCall({
          origin: gateway.origin,
          path: form.path(model, stream),
          headers: form.headers("main"),
          body: JSON.stringify({ ...form.body(model, stream), ...showingAll[form.format], ...body }),
        });
      },
    };
  });
  after(async () => {
    await rig?.gateway.close();
    await rig?.upstream.close();
  });
  return () => {
    if (rig === undefined) throw new Error("the rig has not been started");
    return rig;
  };
}

/** What a client says to be shown reasoning. */
const showingAll: Readonly<Record<ChatWireFormat, object>> = {
  ChatCompletions: {},
  Responses: { reasoning: { summary: "auto" } },
  Messages: { max_tokens: 4_096, thinking: { type: "enabled", budget_tokens: 1_024 } },
  GenerateContent: { generationConfig: { thinkingConfig: { includeThoughts: true } } },
};
