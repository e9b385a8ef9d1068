/** The pipeline in front of an upstream that writes down recordings: a route for each way to be charged. */
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
import { wavOf } from "#test/support/sounds";

const capabilities = ["Transcription", "Translation"];

function manifests(origin: string): string {
  const formats = [{ type: "Transcriptions" }, { type: "Translations" }, { type: "ChatCompletions" }];
  const second = [{ type: "Transcriptions", path: "/second/transcriptions" }];
  const routeTo = (name: string, spec: object): object =>
    routeManifest(name, {
      capabilities,
      targets: [{ name: "main", channelRef: { name: "ears" }, upstreamModel: `${name}-upstream` }],
      ...spec,
    });
  return manifestOf(
    keyManifest("k"),
    keyManifest("chat-only", { capabilities: ["Chat"] }),
    keyManifest("others", { models: { allow: ["other"] } }),
    keyManifest("elsewhere", { clientCIDRs: { allow: ["192.0.2.0/24"] } }),
    keyManifest("poor", { limits: [{ name: "quota", unit: "Cost", limit: "0.001", period: "Lifetime" }] }),
    keyManifest("once", { limits: [{ name: "day", unit: "Requests", limit: "1", period: "Day" }] }),
    channelSecretManifest(),
    channelManifest("ears", origin, { formats }),
    channelManifest("second", origin, { formats: second }),
    routeTo("minutes", { price: { perMinuteAudio: "0.6" } }),
    routeTo("tokens", { price: { inputPerMillion: "1", audioInputPerMillion: "6", outputPerMillion: "10" } }),
    routeTo("pair", {
      targets: [
        { name: "first", channelRef: { name: "ears" }, priority: 0 },
        { name: "second", channelRef: { name: "second" }, priority: 1 },
      ],
      parameters: [{ name: "temperature", maximum: "0.5" }],
    }),
    routeManifest("chatter", { targets: [{ name: "main", channelRef: { name: "ears" } }] }),
  );
}

export function startTranscriptGateway(origin: string): Promise<InProcessGateway> {
  return InProcessGateway.start({ manifests: manifests(origin) });
}

export type TestPart = readonly [name: string, value: string | Buffer, filename?: string];

/** Seven seconds of silence. */
export const recording = wavOf(7, { rate: 8_000 });

/** A form as clients send it: a usual file and model, unless the parts say otherwise. */
export function formOf(parts: readonly TestPart[]): FormData {
  const form = new FormData();
  for (const [name, value, filename = "speech.wav"] of parts) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)], { type: "audio/wav" }), filename);
  }
  return form;
}

export interface TranscriptRequest {
  readonly key?: string;
  readonly path?: string;
}

/** Sends a form. */
export async function transcribe(
  origin: string,
  parts: readonly TestPart[],
  { key = "k", path = "/v1/audio/transcriptions" }: TranscriptRequest = {},
): Promise<HttpAnswer> {
  const encoded = new Response(formOf(parts));
  const headers = {
    authorization: `Bearer ${clientKey(key)}`,
    "content-type": encoded.headers.get("content-type") ?? "",
  };
  return httpCall({ origin, path, headers, body: Buffer.from(await encoded.arrayBuffer()) });
}
