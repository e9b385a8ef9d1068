/**
 * A gateway with a channel for each form in which upstreams make vectors, one route for each, and keys that may do less:
 * the stage of the tests of embeddings.
 */
import type { FakeUpstream, ScriptedReply } from "#test/support/fake-upstream";
import { type CallOptions, useEndpointRig } from "./endpoint-rig.ts";
import { type HttpAnswer, httpCall } from "./http-call.ts";
import type { InProcessGateway } from "./in-process-gateway.ts";
import { accountManifest, channelManifest, clientKey, keyManifest, routeManifest } from "./manifests.ts";

/** Vectors that 32-bit floats hold exactly. */
export const vectors = [
  [0.5, -1.25, 3],
  [0, 0.0078125, -2],
  [1e10, 42, 1],
] as const;

export function base64Of(numbers: readonly number[]): string {
  return Buffer.from(Float32Array.from(numbers).buffer).toString("base64");
}

/** Replies in each vendor's form, for the first inputs. */
export const replies = {
  openAI: (count = 1, encode: (numbers: readonly number[]) => unknown = (numbers) => numbers) => ({
    object: "list",
    data: vectors.slice(0, count).map((numbers, index) => ({ object: "embedding", index, embedding: encode(numbers) })),
    model: "upstream-model",
    usage: { prompt_tokens: 7, total_tokens: 7 },
  }),
  voyage: (count = 1) => ({
    object: "list",
    data: vectors.slice(0, count).map((embedding, index) => ({ object: "embedding", embedding, index })),
    model: "upstream-model",
    usage: { total_tokens: 9 },
  }),
  cohere: (count = 1, encoding: "float" | "base64" = "float") => ({
    id: "e-1",
    texts: ["what was sent"],
    embeddings: {
      [encoding]: vectors.slice(0, count).map((numbers) => (encoding === "float" ? numbers : base64Of(numbers))),
    },
    meta: { api_version: { version: "2" }, billed_units: { input_tokens: 5 } },
    response_type: "embeddings_by_type",
  }),
  tei: (count = 1) => vectors.slice(0, count),
  google: () => ({ embedding: { values: vectors[0] } }),
  googleBatch: (count = 2) => ({ embeddings: vectors.slice(0, count).map((values) => ({ values })) }),
};

const channels = {
  openai: [{ type: "Embeddings" }],
  voyage: [{ type: "Embeddings", dialect: "Voyage" }],
  jina: [{ type: "Embeddings", dialect: "Jina" }],
  cohere: [{ type: "Embeddings", path: "/v2/embed", dialect: "Cohere" }],
  tei: [{ type: "Embeddings", path: "/embed", dialect: "TEI" }],
  google: [{ type: "EmbedContent", path: "/v1beta/models/{model}:{verb}" }],
} as const;

/** 2 credits for a million tokens: a token costs 2,000 nano-credits. */
const price = { inputPerMillion: "2" };
const capabilities = ["Embeddings"];

function manifests(origin: string): readonly object[] {
  const route = (name: string, spec: object = {}): object =>
    routeManifest(name, {
      capabilities,
      price,
      targets: [{ name: "main", channelRef: { name }, upstreamModel: "upstream-model" }],
      ...spec,
    });
  const through = (channel: string, spec: object = {}): object => ({
    targets: [{ name: "main", channelRef: { name: channel }, upstreamModel: "upstream-model" }],
    ...spec,
  });
  const strict = { unsupportedParameters: "Reject" };
  return [
    accountManifest("small", { credit: "0.01" }),
    keyManifest("chat-only", { capabilities: ["Chat"] }),
    keyManifest("other-models", { models: { allow: ["google"] } }),
    keyManifest("elsewhere", { clientCIDRs: { allow: ["192.0.2.0/24"] } }),
    keyManifest("poor", { limits: [{ name: "quota", unit: "Cost", limit: "0.00003", period: "Lifetime" }] }),
    keyManifest("once", { limits: [{ name: "rate", unit: "Requests", limit: "1", period: "Day" }] }),
    keyManifest("few-tokens", { limits: [{ name: "tokens", unit: "Tokens", limit: "40", period: "Day" }] }),
    keyManifest("funded", { accountRef: { name: "small" } }),
    ...Object.entries(channels).map(([name, formats]) => channelManifest(name, origin, { baseURL: origin, formats })),
    ...Object.entries(channels).map(([name, formats]) =>
      channelManifest(`strict-${name}`, origin, { baseURL: origin, formats, ...strict }),
    ),
    ...Object.keys(channels).flatMap((name) => [route(name), route(`strict-${name}`)]),
    channelManifest("chatter", origin),
    routeManifest("chatter", {}),
    route("free", through("openai", { price: { perRequest: "0" } })),
    route(
      "ruled",
      through("openai", {
        parameters: [
          { name: "dimensions", minimum: "8", maximum: "64" },
          { name: "user", support: "Unsupported" },
        ],
      }),
    ),
    route(
      "ruled-google",
      through("google", {
        parameters: [
          { name: "dimensions", minimum: "8", maximum: "64" },
          { name: "task", support: "Unsupported" },
        ],
      }),
    ),
    channelManifest("adding", origin, {
      baseURL: origin,
      formats: channels.google,
      body: { default: [{ field: "outputDimensionality", value: 16 }] },
    }),
    route("adding"),
    route("either", {
      targets: [
        { name: "google", channelRef: { name: "google" }, priority: 0 },
        { name: "openai", channelRef: { name: "openai" }, priority: 1 },
      ],
    }),
  ];
}

export interface EmbeddingRig {
  readonly gateway: InProcessGateway;
  readonly upstream: FakeUpstream;
  /** What the upstream replies with; an object is written as JSON. */
  reply(body: object | string, more?: Omit<ScriptedReply, "body">): void;
  /** A call of an OpenAI-style client. */
  embed(body: object | string, options?: CallOptions): Promise<HttpAnswer>;
  /** A call of a Google-style client. */
  embedContent(
    body: object | string,
    options: { readonly model: string; readonly verb?: string; readonly key?: string },
  ): Promise<HttpAnswer>;
}

/** Starts all of it before the tests of the enclosing `describe`. */
export function useEmbeddingRig(): () => EmbeddingRig {
  const rig = useEndpointRig({ path: "/v1/embeddings", manifests });
  const textOf = (body: object | string): string => (typeof body === "string" ? body : JSON.stringify(body));
  return () => ({
    gateway: rig.gateway,
    upstream: rig.upstream,
    reply: (body, more = {}) => rig.upstream.replyWith({ body: textOf(body), ...more }),
    embed: (body, options) => rig.call(body, options),
    embedContent: (body, { model, verb = "embedContent", key = "k" }) =>
      httpCall({
        origin: rig.gateway.origin,
        path: `/v1beta/models/${model}:${verb}`,
        headers: { "x-goog-api-key": clientKey(key) },
        body: textOf(body),
      }),
  });
}
