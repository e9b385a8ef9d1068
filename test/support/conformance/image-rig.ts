/** A gateway with routes for pictures, and bodies of clients and upstreams, for the tests of the image endpoints. */
import type { ProxyLimits } from "#proxy/limits";
import { FakeUpstream } from "#test/support/fake-upstream";
import { type HttpAnswer, httpCall } from "./http-call.ts";
import { InProcessGateway } from "./in-process-gateway.ts";
import { leaveHttpCall } from "./leave-call.ts";
import {
  channelManifest,
  channelSecretManifest,
  clientKey,
  keyManifest,
  manifestOf,
  routeManifest,
} from "./manifests.ts";

/** The smallest of each kind that a reader knows by its first bytes. */
export const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  "base64",
);
export const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46, 0, 1]);

export const usage = {
  input_tokens: 50,
  input_tokens_details: { image_tokens: 0, text_tokens: 50 },
  output_tokens: 4160,
  output_tokens_details: { image_tokens: 4160, text_tokens: 0 },
  total_tokens: 4210,
};

const traits = { size: "1024x1024", quality: "high", background: "opaque", output_format: "png" };

/** A whole reply of an OpenAI-style upstream. */
export function imagesReply(count: number, members: object = { usage }): string {
  const data = Array.from({ length: count }, (_, index) => ({ b64_json: `cGljdHVyZS${index}` }));
  return JSON.stringify({ created: 1_790_000_000, ...traits, data, ...members });
}

export function partialEvent(index: number, b64 = "cGFydA==", prefix = "image_generation"): string {
  const type = `${prefix}.partial_image`;
  const data = { type, partial_image_index: index, b64_json: b64, created_at: 1_790_000_000, ...traits };
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

export function completedEvent(b64 = "d2hvbGU=", members: object = { usage }, prefix = "image_generation"): string {
  const type = `${prefix}.completed`;
  const data = { type, b64_json: b64, created_at: 1_790_000_001, ...traits, ...members };
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

export const eventStream = { "content-type": "text/event-stream" };

export interface ImageRig {
  readonly upstream: FakeUpstream;
  /** Its path ends in `/v1beta` as Google's does. */
  readonly google: FakeUpstream;
  readonly gateway: InProcessGateway;
  call(path: string, body: object | string | Buffer, options?: CallOptions): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const capabilities = ["ImageGeneration", "ImageEdit"];
export const imagePrices = [
  { size: "1024x1024", quality: "high", price: "0.25" },
  { size: "1024x1024", price: "0.125" },
  { price: "0.5" },
];

export async function startImageRig(
  further: readonly object[] = [],
  limits: Partial<ProxyLimits> = {},
): Promise<ImageRig> {
  const upstream = await FakeUpstream.start();
  const google = await FakeUpstream.start();
  const openAI = ["ImageGenerations", "ImageEdits", "ImageVariations"].map((type) => ({ type }));
  const gemini = { provider: "GeminiCompatible", baseURL: google.origin };
  const target = (name: string, spec: object = {}): object => ({ name, channelRef: { name }, ...spec });
  const byPiece = { perImage: imagePrices };
  const byPictureToken = { imageOutputPerMillion: "10" };
  const manifests = manifestOf(
    keyManifest("k"),
    keyManifest("chat-only", { capabilities: ["Chat"] }),
    keyManifest("credit", { limits: [{ name: "quota", unit: "Cost", limit: "1", period: "Lifetime" }] }),
    keyManifest("slow", { limits: [{ name: "rate", unit: "Requests", limit: "1", period: "Minute" }] }),
    keyManifest("elsewhere", { clientCIDRs: { allow: ["203.0.113.0/24"] } }),
    keyManifest("other-models", { models: { allow: ["chatter"] } }),
    keyManifest("anthropic-only", { protocols: ["Anthropic"] }),
    channelSecretManifest(),
    channelManifest("painter", upstream.origin, { formats: [...openAI, { type: "ChatCompletions" }] }),
    channelManifest("strict", upstream.origin, { formats: openAI, unsupportedParameters: "Reject" }),
    channelManifest("private", upstream.origin, {
      formats: openAI,
      privacy: { clientMetadata: "Strip" },
      body: { remove: ["mask"] },
    }),
    channelManifest("gemini", google.origin, {
      ...gemini,
      formats: ["GenerateContent", "Predict"].map((type) => ({ type })),
    }),
    channelManifest("gemini-strict", google.origin, {
      ...gemini,
      unsupportedParameters: "Reject",
      formats: [{ type: "GenerateContent" }],
    }),
    routeManifest("painter", { capabilities, price: byPiece }),
    routeManifest("by-token", {
      capabilities,
      targets: [target("painter")],
      price: { inputPerMillion: "1", imageOutputPerMillion: "10", imageInputPerMillion: "2", outputPerMillion: "4" },
    }),
    routeManifest("gpt-image-2", { capabilities, targets: [target("painter")], price: byPiece }),
    routeManifest("gpt-image-strict", {
      capabilities,
      targets: [target("strict", { upstreamModel: "gpt-image-2" })],
      price: byPiece,
    }),
    routeManifest("narrow", {
      capabilities,
      targets: [target("painter")],
      price: byPiece,
      parameters: [
        { name: "n", maximum: "2" },
        { name: "size", allowed: ["1024x1024"] },
        { name: "style", support: "Unsupported" },
      ],
    }),
    routeManifest("private", {
      capabilities,
      price: byPiece,
      parameters: [{ name: "style", support: "Unsupported" }],
    }),
    routeManifest("no-price-for-wide", {
      capabilities,
      targets: [target("painter")],
      price: { perImage: [{ size: "1024x1024", price: "0.125" }] },
    }),
    routeManifest("two-ways", {
      capabilities,
      targets: [target("painter", { priority: 0 }), target("strict", { priority: 1 })],
      price: byPiece,
      failover: { maxAttempts: 2, on: ["ServerError", "ConnectFailure"] },
    }),
    routeManifest("nano-image", { capabilities, targets: [target("gemini")], price: byPiece }),
    routeManifest("nano-by-token", {
      capabilities,
      targets: [target("gemini")],
      price: { inputPerMillion: "1", imageOutputPerMillion: "10" },
    }),
    routeManifest("by-picture-token", { capabilities, targets: [target("painter")], price: byPictureToken }),
    routeManifest("nano-by-picture-token", { capabilities, targets: [target("gemini")], price: byPictureToken }),
    channelManifest("gemini-scarce", google.origin, {
      ...gemini,
      formats: [{ type: "GenerateContent" }],
      limits: [{ name: "requests", unit: "Requests", limit: "5", period: "Hour" }],
    }),
    routeManifest("nano-scarce", { capabilities, targets: [target("gemini-scarce")], price: byPiece }),
    channelManifest("gemini-shared", google.origin, {
      ...gemini,
      formats: ["GenerateContent", "Predict"].map((type) => ({ type })),
      upstreamObjects: "Shared",
    }),
    routeManifest("nano-shared", { capabilities, targets: [target("gemini-shared")], price: byPiece }),
    routeManifest("nano-strict", { capabilities, targets: [target("gemini-strict")], price: byPiece }),
    routeManifest("imagen-4", { capabilities, targets: [target("gemini")], price: byPiece }),
    routeManifest("chatter", { targets: [target("painter")] }),
    ...further,
  );
  const gateway = await InProcessGateway.start({ manifests, limits });
  return {
    upstream,
    google,
    gateway,
    call: (path, body, { key = "k", headers = {} } = {}) =>
      httpCall({
        origin: gateway.origin,
        path,
        headers: { authorization: `Bearer ${clientKey(key)}`, ...headers },
        body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    close: async () => {
      await gateway.close();
      await upstream.close();
      await google.close();
    },
  };
}

/**
 * Sends a call, in JSON or a form with the boundary `b`, and leaves when `when` says so.
 * @param when gets a promise of the response's first bytes
 */
export async function leaveCall(
  rig: ImageRig,
  path: string,
  body: object | Buffer,
  when: (begun: Promise<void>) => Promise<unknown>,
): Promise<void> {
  const type = Buffer.isBuffer(body) ? "multipart/form-data; boundary=b" : "application/json";
  const headers = { authorization: `Bearer ${clientKey("k")}`, "content-type": type };
  const sent = Buffer.isBuffer(body) ? body : JSON.stringify(body);
  await leaveHttpCall({ origin: rig.gateway.origin, path, headers, body: sent }, when);
}

/** Types of the events of a stream, and their data. */
export function eventsOf(
  answer: HttpAnswer,
): readonly { readonly type: string; readonly data: Record<string, unknown> }[] {
  return answer.body
    .toString()
    .split("\n\n")
    .filter((block) => block.includes("data: "))
    .map((block) => {
      const data: Record<string, unknown> = JSON.parse(block.slice(block.indexOf("data: ") + "data: ".length));
      return { type: String(data["type"]), data };
    });
}
