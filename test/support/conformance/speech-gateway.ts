/** The pipeline in front of an upstream that speaks: a route for each way to be charged, and keys with restrictions. */
import { type HttpAnswer, httpCall } from "#test/support/conformance/http-call";
import { InProcessGateway } from "#test/support/conformance/in-process-gateway";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "#test/support/conformance/manifests";

const capabilities = ["Speech"];

function routeTo(channel: string, name: string, spec: object = {}): object {
  const targets = [{ name: "main", channelRef: { name: channel }, upstreamModel: `${name}-upstream` }];
  return routeManifest(name, { capabilities, targets, ...spec });
}

/** Prices of routes that lead to a server of OpenAI-style speech. */
export const speechPrices = {
  letters: { perMillionCharacters: "15", perRequest: "0.001" },
  minutes: { perMinuteAudio: "0.6" },
  tokens: { inputPerMillion: "1", audioOutputPerMillion: "12" },
} as const;

function manifests(origin: string): string {
  const speaks = [{ type: "Speech" }];
  return manifestOf(
    keyManifest("k"),
    keyManifest("chat-only", { capabilities: ["Chat"] }),
    keyManifest("others", { models: { allow: ["other"] } }),
    keyManifest("elsewhere", { clientCIDRs: { allow: ["192.0.2.0/24"] } }),
    keyManifest("poor", { limits: [{ name: "quota", unit: "Cost", limit: "0.000001", period: "Lifetime" }] }),
    keyManifest("once", { limits: [{ name: "day", unit: "Requests", limit: "1", period: "Day" }] }),
    channelSecretManifest(),
    channelManifest("voice", origin, { formats: [...speaks, { type: "ChatCompletions" }] }),
    channelManifest("shared", origin, { formats: speaks, upstreamObjects: "Shared" }),
    channelManifest("second", origin, { formats: [{ type: "Speech", path: "/second/speech" }] }),
    channelManifest("strict", origin, {
      provider: "Gemini",
      baseURL: origin,
      formats: undefined,
      unsupportedParameters: "Reject",
    }),
    channelManifest("gemini", origin, { provider: "Gemini", baseURL: origin, formats: undefined }),
    ...Object.entries(speechPrices).map(([name, price]) => routeTo("voice", name, { price })),
    routeTo("shared", "shared"),
    routeTo("gemini", "gemini", { price: speechPrices.tokens }),
    routeTo("gemini", "gemini-minutes", { price: speechPrices.minutes }),
    routeTo("strict", "strict"),
    routeManifest("chatter", { targets: [{ name: "main", channelRef: { name: "voice" } }] }),
    routeTo("voice", "pair", {
      targets: [
        { name: "first", channelRef: { name: "voice" }, priority: 0 },
        { name: "second", channelRef: { name: "second" }, priority: 1 },
      ],
      parameters: [{ name: "speed", maximum: "2" }],
    }),
  );
}

export function startSpeechGateway(origin: string): Promise<InProcessGateway> {
  return InProcessGateway.start({ manifests: manifests(origin) });
}

export interface SpeechRequest {
  readonly key?: string;
  readonly path?: string;
}

/** Asks for speech. @param body JSON text, or members beside a usual model and input */
export function speak(
  origin: string,
  body: object | string,
  { key = "k", path = "/v1/audio/speech" }: SpeechRequest = {},
): Promise<HttpAnswer> {
  return httpCall({
    origin,
    path,
    headers: { authorization: `Bearer ${clientKey(key)}` },
    body:
      typeof body === "string"
        ? body
        : JSON.stringify({ model: "letters", input: "Hello you", voice: "alloy", ...body }),
  });
}
